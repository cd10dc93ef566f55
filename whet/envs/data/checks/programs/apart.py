"""In the sandbox: tests of somebody's code, which runs in a process of its own and never sees them.

The code is loaded in a child that has no standard streams; the tests are read only after it was forked off. Calls go to
it and plain data comes back, so nothing that the code does to itself (a class that equals everything, another `assert`,
`sys.exit`, a line that says all passed) does anything to the tests. What it does to
arguments is done to the tests' own.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import json
import math
import os
import pathlib
import struct
import sys
import typing

MOST = 8_000_000
"""Bytes of one message."""
MOST_ITEMS = 100_000
TOLD = 300
PLAIN = (str, int, bool, float, type(None))


# --------------------------------------------------------------------------------------------- plain data


def packed(value: object, keep: typing.Callable[[object], int] | None, depth: int = 0) -> object:
    """A value as JSON; what is no plain data is kept by its owner and named by a number."""
    if depth > 100:
        raise ValueError("data that is nested too deep")
    kind = type(value)
    if kind is float and not math.isfinite(typing.cast(float, value)):
        return {"float": repr(value)}
    if kind in PLAIN:
        return value
    if kind is complex:
        return {"complex": repr(value)}
    for name, sort in (("list", list), ("tuple", tuple), ("set", set), ("frozenset", frozenset)):
        if kind is sort:
            return {name: [packed(part, keep, depth + 1) for part in typing.cast(typing.Iterable[object], value)]}
    if kind is dict:
        pairs = typing.cast("dict[object, object]", value).items()
        return {"dict": [[packed(key, keep, depth + 1), packed(part, keep, depth + 1)] for key, part in pairs]}
    if kind is bytes:
        return {"bytes": typing.cast(bytes, value).hex()}
    foreign = kind.__module__ != "solution"  # a container of the code's own class has more to it than what it holds
    for sort in (int, float, str, tuple, *((list, dict, set) if foreign else ())):
        if isinstance(value, sort) and keep is not None:
            return packed(sort(typing.cast(typing.Any, value)), keep, depth + 1)
    if isinstance(value, Far):
        return {"far": value.far_number}
    if keep is None:
        raise TypeError(f"a {kind.__name__} cannot be handed to the code under test")
    return {"far": keep(value)}


def unpacked(data: typing.Any, found: typing.Callable[[int], object]) -> typing.Any:
    if not isinstance(data, dict):
        return data
    ((name, held),) = data.items()
    match name:
        case "float":
            return float(held)
        case "complex":
            return complex(held)
        case "bytes":
            return bytes.fromhex(held)
        case "dict":
            return {unpacked(key, found): unpacked(part, found) for key, part in held}
        case "far":
            return found(held)
    parts = [unpacked(part, found) for part in held]
    return {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}[name](parts)


def send(number: int, message: object) -> None:
    data = json.dumps(message).encode()
    data = struct.pack(">I", len(data)) + data
    while data:
        data = data[os.write(number, data) :]


def receive(number: int) -> typing.Any:
    (size,) = struct.unpack(">I", _read(number, 4))
    if size > MOST:
        raise EOFError("the code gave back more than may come")
    return json.loads(_read(number, size))


def _read(number: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = os.read(number, size - len(data))
        if not piece:
            raise EOFError("the code ended its process")
        data += piece
    return data


# --------------------------------------------------------------------------------------------- the code's process


def serve(code: str, asked: int, told: int) -> None:
    """Loads the code and answers calls of what it defines, until nobody calls any more."""
    kept: dict[int, object] = {}

    def keep(value: object) -> int:
        kept[len(kept) + 1] = value
        return len(kept)

    names: dict[str, object] = {"__name__": "solution", "__builtins__": builtins}
    try:
        exec(compile(code, "solution.py", "exec", dont_inherit=True), names)
        public = {name: value for name, value in names.items() if not name.startswith("__")}
        send(told, {"names": {name: packed(value, keep) for name, value in public.items()}})
    except BaseException as error:  # noqa: BLE001 - it is the code's own, and is told
        send(told, {"broken": f"{type(error).__name__}: {error}"[:TOLD]})
        return
    while True:
        request = receive(asked)
        try:
            args = [unpacked(part, kept.__getitem__) for part in request["args"]]
            named = {name: unpacked(part, kept.__getitem__) for name, part in request["named"].items()}
            target: typing.Any = kept[request["far"]]
            value = done(target, request["deed"], args, named)
            after = [packed(part, keep) if type(part) in (list, dict, set) else None for part in args]
            send(told, {"value": packed(value, keep), "after": after})
        except BaseException as error:  # noqa: BLE001 - likewise
            send(told, {"raised": type(error).__name__, "why": str(error)[:TOLD]})


def done(target: typing.Any, deed: str, args: list[typing.Any], named: dict[str, typing.Any]) -> object:
    if deed == "call":
        return target(*args, **named)
    if deed == "attribute":
        return getattr(target, args[0])
    if deed == "items":
        return [item for item, _ in zip(target, range(MOST_ITEMS), strict=False)]
    return {"length": len, "text": repr}[deed](target) if not args else target[args[0]]


# --------------------------------------------------------------------------------------------- the tests' process


class Child:
    """The way to the code."""

    def __init__(self, code: str) -> None:
        there, self.asks = os.pipe()
        self.hears, here = os.pipe()
        if os.fork() == 0:
            nothing = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(nothing, number)
            for number in range(3, 64):
                if number not in (there, here):
                    try:
                        os.close(number)
                    except OSError:
                        continue
            try:
                serve(code, there, here)
            finally:
                os._exit(0)
        os.close(there)
        os.close(here)
        self.first = receive(self.hears)

    def ask(self, far: int, deed: str, args: tuple[object, ...] = (), named: dict[str, object] | None = None) -> object:
        sent = [packed(part, None) for part in args]
        more = {name: packed(part, None) for name, part in (named or {}).items()}
        send(self.asks, {"far": far, "deed": deed, "args": sent, "named": more})
        told = receive(self.hears)
        if "raised" in told:
            kind = getattr(builtins, str(told["raised"]), None)
            fits = isinstance(kind, type) and issubclass(kind, Exception) and kind is not AssertionError
            name = "" if fits else f"{told['raised']}: "
            raise (typing.cast("type[Exception]", kind) if fits else RuntimeError)(f"{name}{told['why']}")
        for mine, theirs in zip(args, told["after"], strict=False):
            if theirs is not None:
                changed(mine, unpacked(theirs, self.far))
        return unpacked(told["value"], self.far)

    def far(self, number: int) -> Far:
        return Far(self, number)


def changed(mine: typing.Any, now: typing.Any) -> None:
    """What the code has done to an argument, done to the tests' own."""
    if mine == now or type(mine) is not type(now):
        return
    if isinstance(mine, list):
        mine[:] = now
    else:
        mine.clear()
        mine.update(now)


class Far:
    """Something of the code's that is no plain data. It equals nothing but itself, whatever the code says."""

    def __init__(self, child: Child, number: int) -> None:
        self.far_child = child
        self.far_number = number

    def __call__(self, *args: object, **named: object) -> object:
        return self.far_child.ask(self.far_number, "call", args, named)

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.far_child.ask(self.far_number, "attribute", (name,))

    def __iter__(self) -> typing.Iterator[object]:
        return iter(typing.cast("list[object]", self.far_child.ask(self.far_number, "items")))

    def __len__(self) -> int:
        return typing.cast(int, self.far_child.ask(self.far_number, "length"))

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, key: object) -> object:
        return self.far_child.ask(self.far_number, "item", (key,))

    def __repr__(self) -> str:
        return str(self.far_child.ask(self.far_number, "text"))


def units(tests: list[str]) -> list[tuple[str, list[ast.stmt], bool]]:
    """What is run in its order: its text, its statements, and whether it is a test (or makes ready for one)."""
    found: list[tuple[str, list[ast.stmt], bool]] = []
    calls: list[tuple[str, list[ast.stmt], bool]] = []
    for text in tests:
        whole = ast.parse(text).body
        asserts = sum(isinstance(part, ast.Assert) for part in whole)
        for part in whole:
            told = ast.unparse(part)
            alone = not asserts and part is whole[-1] and isinstance(part, ast.Expr)
            test = isinstance(part, ast.Assert) or alone
            found.append((told, [told_apart(part)], test))
            if isinstance(part, ast.FunctionDef) and part.name.startswith("test"):
                calls.append((told, ast.parse(f"{part.name}()").body, True))
    return [*found, *calls]


def told_apart(part: ast.stmt) -> ast.stmt:
    """An assertion that two things compare so that its failure says what they were."""
    if not isinstance(part, ast.Assert) or not isinstance(part.test, ast.Compare) or len(part.test.ops) != 1:
        return part
    (right,) = part.test.comparators
    sign = ast.unparse(ast.Compare(ast.Name("x"), part.test.ops, [ast.Name("y")])).removeprefix("x ").removesuffix(" y")
    text = (
        f"def __both(got, wanted):\n    assert got {sign} wanted, f'got {{got!r:.200}}, not {sign} {{wanted!r:.200}}'\n"
        f"__both({ast.unparse(part.test.left)}, {ast.unparse(right)})"
    )
    return ast.If(ast.Constant(True), ast.parse(text).body, [])


def lent(child: Child) -> dict[str, typing.Any]:
    """What the code defines, by name. A word of the language, or a module, is the tests' own and not the code's."""
    names: dict[str, typing.Any] = {"__name__": "tests"}
    for name, value in child.first["names"].items():
        if name in sys.stdlib_module_names:
            names[name] = importlib.import_module(name)
        elif not hasattr(builtins, name):
            names[name] = unpacked(value, child.far)
    return names


def main() -> None:
    code = pathlib.Path("solution.py").read_text(encoding="utf-8")
    try:
        child = Child(code)
    except (EOFError, ValueError, OSError) as error:
        finish({"broken": str(error)})
    given = json.load(sys.stdin)
    if "broken" in child.first:
        finish({"broken": child.first["broken"]})
    names = lent(child)
    planned = units(given["tests"])
    if given["entry"]:
        planned.append((f"check({given['entry']})", ast.parse(f"check({given['entry']})").body, True))
    results: list[tuple[str, str]] = []
    for told, body, test in planned:
        try:
            tree = ast.fix_missing_locations(ast.Module(body, []))
            exec(compile(tree, "tests", "exec"), names)
            problem = ""
        except Exception as error:  # noqa: BLE001 - a test that fails, whatever by
            problem = f"{type(error).__name__}: {error}".removesuffix(": ")[:TOLD]
        if test or problem:
            results.append((told[:TOLD], problem))
    finish({"results": results})


def finish(told: object) -> typing.NoReturn:
    os.write(1, json.dumps(told).encode())
    os._exit(0)


if __name__ == "__main__":
    main()
