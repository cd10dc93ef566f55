"""What a Python source text says: a canonical form of what it executes, and the modules and files that it names.

The form is a walk over the syntax tree, so comments, spacing, quotes and line breaks do not enter, and everything that
runs does: constants, defaults, decorators, annotations. It is our own walk, not `ast.dump`: fields that are empty are
left out and texts are written in ASCII, so every Python version from 3.11 on gives the same form.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from whet.files import write_atomically

KEPT = 1000
"""Texts whose facts are kept on disk, the latest."""

WORTH_KEEPING = 8
"""A file is written for at least so many new texts; fewer are read again sooner."""

EVERYTHING = "*"
"""What `from package import *` takes."""

_NO_MEANING = frozenset(("ctx", "kind", "type_comment", "type_ignores"))
"""Fields of the tree that follow from the others, or mean nothing."""

_BODIES = frozenset(("body", "orelse", "finalbody"))
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_READERS_OF_DOCSTRINGS = frozenset(("__doc__", "getdoc"))
_IMPORTERS = frozenset(("import_module", "__import__", "find_spec"))
_WALKERS = frozenset(("import_module", "__import__", "iter_modules", "walk_packages"))
_NAMES_SOMETHING = re.compile(r"[\w-][\w -]*(?:[./][\w -]+)+(?::\w+)?|[A-Za-z_]\w*:[A-Za-z_]\w*")
"""A text that may be the name of a module, the address of a function, or the name of a file."""


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """What one source text says."""

    form: str
    """A digest of what it executes, docstrings apart."""
    docstrings: str
    """A digest of its docstrings."""
    reads_docstrings: bool
    walks: bool
    """Whether it imports modules whose names it works out as it runs."""
    hands_out: dict[str, str]
    """Names that a module-level `__getattr__` hands out, and where they live (it says so to the type checker)."""
    names: tuple[str, ...]
    """What it imports or takes out of what it imports, as dotted names; leading dots: relative to its package."""
    texts: tuple[str, ...]
    """Texts in it that may name a module or a file."""


def facts_of(source: bytes) -> SourceFacts:
    """The facts of a text; one that is no Python of this version stands for its bytes."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return SourceFacts(_digest(source), "", False, False, {}, (), ())
    seen: dict[type, list[Any]] = {kind: [] for kind in _WATCHED}
    docstrings: list[str] = []
    form = "\n".join(_walk(tree, seen, docstrings)).encode()
    said = _digest("\x1f".join(ascii(text) for text in docstrings).encode())
    calls = [(_last_name(call.func), call.args) for call in seen[ast.Call]]
    names = {*_imported(seen), *(name for word, given in calls if word in _IMPORTERS for name in _literals(given[:1]))}
    return SourceFacts(
        form=_digest(form),
        docstrings=said,
        reads_docstrings=any(_last_name(node) in _READERS_OF_DOCSTRINGS for node in _named(seen)),
        walks=any(word in _WALKERS and not _literals(given[:1]) for word, given in calls),
        hands_out=_handed_out(tree),
        names=tuple(sorted(name for name in names if name.partition(".")[0] not in sys.stdlib_module_names)),
        texts=tuple(
            sorted({text for text in (*_literals(seen[ast.Constant]), *_joined_paths(seen)) if _names_something(text)})
        ),
    )


# --------------------------------------------------------------------------------------------- the form

_WATCHED = (ast.Attribute, ast.BinOp, ast.Call, ast.Constant, ast.Import, ast.ImportFrom, ast.Name)


@functools.cache
def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a kind of node, last first: a stack gives them back in order."""
    return tuple(field for field in reversed(kind._fields) if field not in _NO_MEANING)


def _walk(tree: ast.Module, seen: dict[type, list[Any]], docstrings: list[str]) -> list[str]:
    """The tree as words. Nodes of the watched kinds are put into `seen`, docstrings into `docstrings`."""
    words: list[str] = []
    stack: list[Any] = [tree]
    while stack:
        node = stack.pop()
        kind = node.__class__
        if kind is str:
            words.append(node)
            continue
        words.append(kind.__name__)
        if kind in seen:
            seen[kind].append(node)
        if kind is ast.Constant or kind is ast.MatchSingleton:
            words.append(_constant(node.value))
            continue
        if kind in _DOCUMENTED:
            docstrings.extend(_docstring(node))
        stack.append(")")
        for field in _fields(kind):
            value = getattr(node, field, None)
            if value.__class__ is list:
                if field in _BODIES:
                    value = list(_effective(value))
                elif kind is ast.JoinedStr:
                    value = _joined(value)
                if value:
                    stack.append("]")
                    stack.extend(item if isinstance(item, ast.AST) else _constant(item) for item in reversed(value))
                    stack.append(field)
            elif isinstance(value, ast.AST):
                stack += (value, field)
            elif value is not None:
                stack += (_constant(value), field)
    return words


def _constant(value: Any) -> str:
    """A value as every version writes it; `repr` follows the version's Unicode and refuses long numbers."""
    return hex(value) if value.__class__ is int else ascii(value)


def _effective(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that do something: a text alone does nothing, and what is for the type checker never runs."""
    for statement in body:
        if isinstance(statement, ast.If) and _last_name(statement.test) == "TYPE_CHECKING":
            yield from _effective(statement.orelse)
        elif not _is_text(statement):
            yield statement


def _joined(values: Sequence[ast.expr]) -> list[ast.expr]:
    """The parts of an f-string; versions differ in where they cut the text between two expressions."""
    parts: list[ast.expr] = []
    for value in values:
        last = parts[-1] if parts else None
        if not isinstance(value, ast.Constant):
            parts.append(value)
        elif isinstance(last, ast.Constant):
            parts[-1] = ast.Constant(str(last.value) + str(value.value))
        elif value.value:
            parts.append(value)
    return parts


def _is_text(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _docstring(node: Any) -> list[str]:
    return [node.body[0].value.value] if node.body and _is_text(node.body[0]) else []


# --------------------------------------------------------------------------------------------- what it names


def _imported(seen: dict[type, list[Any]]) -> Iterator[str]:
    """Imported modules and names, and what is taken out of them: `import a.b as c` and `c.d` give a.b and a.b.d."""
    bound: dict[str, str] = {}
    for node in seen[ast.Import]:
        for alias in node.names:
            yield alias.name
            bound[alias.asname or alias.name.partition(".")[0]] = (
                alias.name if alias.asname else alias.name.partition(".")[0]
            )
    for node in seen[ast.ImportFrom]:
        origin = "." * node.level + (node.module or "")
        for alias in node.names:
            name = f"{origin}{'.' if node.module else ''}{alias.name}"
            yield name
            bound[alias.asname or alias.name] = name
    for node in seen[ast.Attribute]:
        chain = []
        while isinstance(node, ast.Attribute):
            chain.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name) and node.id in bound:
            yield ".".join((bound[node.id], *reversed(chain)))


def _handed_out(tree: ast.Module) -> dict[str, str]:
    """What a module with a `__getattr__` of its own imports for the type checker: the names it hands out."""
    if not any(isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in tree.body):
        return {}
    shown = [node for node in tree.body if isinstance(node, ast.If) and _last_name(node.test) == "TYPE_CHECKING"]
    imports = [node for block in shown for node in block.body if isinstance(node, ast.ImportFrom) and not node.level]
    return {alias.asname or alias.name: f"{node.module}.{alias.name}" for node in imports for alias in node.names}


def _last_name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _named(seen: dict[type, list[Any]]) -> Iterable[ast.AST]:
    return (*seen[ast.Attribute], *seen[ast.Name])


def _names_something(text: str) -> bool:
    return len(text) < 256 and _NAMES_SOMETHING.fullmatch(text) is not None


def _joined_paths(seen: dict[type, list[Any]]) -> Iterator[str]:
    """Paths that are put together of texts: `folder / "data" / "rows.json"`, `join(folder, "data", "rows.json")`."""
    for node in seen[ast.BinOp]:
        parts: list[str] = []
        while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _literals([node.right]):
            parts = [*_literals([node.right]), *parts]
            node = node.left
        if len(parts) > 1:
            yield "/".join(parts)
    for call in seen[ast.Call]:
        parts = _literals(call.args)
        if len(parts) > 1:
            yield "/".join(parts)


def _literals(nodes: Iterable[ast.AST]) -> list[str]:
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


# --------------------------------------------------------------------------------------------- memory


class SourceMemory:
    """Facts by the content of the text, kept in one small file: reading it is ten times faster than parsing again.

    It only saves time. An entry is found by the whole content of a text and was made by this very module; the file may
    be deleted at any moment, and one that cannot be read or written is left alone.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._maker = _digest(Path(__file__).read_bytes())
        self._facts: dict[str, SourceFacts] = {}
        self._new = 0
        self.libraries: dict[str, list[str]] = {}
        """Names of modules with what was installed, and the distributions that they were found in."""
        try:
            held = orjson.loads(path.read_bytes())
            if held["maker"] == self._maker:
                self._facts = {key: _from_json(facts) for key, facts in held["facts"].items()}
                self.libraries = dict(held["libraries"])
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            self._facts, self.libraries = {}, {}

    def facts(self, source: bytes) -> SourceFacts:
        key = _digest(source)
        if key not in self._facts:
            self._facts[key] = facts_of(source)
            self._new += 1
        return self._facts[key]

    def keep(self) -> None:
        """Write down what is new, if it is worth it."""
        if self._new < WORTH_KEEPING:
            return
        self._new = 0
        latest = dict(list(self._facts.items())[-KEPT:])
        held = {
            "maker": self._maker,
            "libraries": dict(list(self.libraries.items())[-KEPT:]),
            "facts": {key: asdict(facts) for key, facts in latest.items()},
        }
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self._path, orjson.dumps(held))
        except OSError:
            return


def _from_json(facts: dict[str, Any]) -> SourceFacts:
    return SourceFacts(**{**facts, "names": tuple(facts["names"]), "texts": tuple(facts["texts"])})


@functools.cache
def memory() -> SourceMemory:
    """This process's memory: `$XDG_CACHE_HOME/whet/sources.json`, by default under `~/.cache`."""
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # a user without a home
        folder = Path(tempfile.gettempdir())
    return SourceMemory(folder / "whet" / "sources.json")


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
