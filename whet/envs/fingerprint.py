"""Fingerprints are computed, not written: the code in an environment's import closure, its arguments, its data.

    self.fingerprint = fingerprint("soup", self, arguments=settings)

Changing any of it makes another environment; changing anything else does not. What belongs to the closure is said in
`whet.envs.closure`, what counts of a source text in `whet.envs.source_text`. An environment that sets no fingerprint
has the one that `computed` finds: its class, and what it was built with.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import inspect
import math
import os
import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from whet.envs.base import ComputedFingerprint, Environment
from whet.envs.closure import CONTRACT, WHET, Closure, Part, closure, is_installed, part_of, version_of
from whet.errors import WhetError
from whet.keys import canonical, digest

BUILT_WITH = "_built_with"
"""Where an environment keeps the arguments of its constructor."""


def fingerprint(
    name: str, of: Environment | type | str, arguments: Any = None, data: Any = None, without: Collection[str] = ()
) -> str:
    """The fingerprint of the environment `of`, of one of that class, or of one whose code is in that module of ours.

    Where `of` is an environment of a class that a user derived from one of ours, what its own `__init__` was given
    counts too.
    `arguments` and `data` are JSON-like or records of ours; of large data, a digest. `without` names libraries, as they
    are imported, whose work is in `data` already or cannot show.
    """
    if isinstance(of, type | str):
        return f"{name}-{digest(code(of, without), arguments, data)}"
    given = _given_to_subclass(of)
    return fingerprint(name, type(of), (arguments, given) if given else arguments, data, without)


def code(of: type | str, without: Collection[str] = ()) -> str:
    """A digest of the code that makes and grades the tasks of `of`.

    A class stands for the packages that it and its bases are in. A module stands for itself and what it imports.
    """
    if isinstance(of, str):
        return closure_of(Part(of)).digest(without)
    found = {_part(kind): kind.__module__ for kind in of.__mro__ if kind is of or _is_edited(kind)}
    digests = [closure_of(part, module).digest(without) for part, module in found.items()]
    return digests[0] if len(digests) == 1 else digest(digests)


def code_in(file: Path) -> str:
    """A digest of the code in a user's file, and of what it imports, as it is at this moment."""
    return closure(part_of(file)).digest()


@functools.cache
def closure_of(part: Part, module: str = "") -> Closure:
    """The closure as it was when the process first asked: the code is loaded, and a later edit does not change it.

    `module` is the name under which a file was loaded; loaded again with another content, it has another name.
    """
    return closure(part)


def _part(of: type) -> Part:
    return part_of(_file(of), of.__module__)


def _file(of: Any) -> Path:
    file = getattr(sys.modules.get(of.__module__), "__file__", None)
    if file is None or not Path(file).is_file():  # typed in, read from a pipe, or inside an archive
        raise WhetError(f"{of.__name__} is in no file: set its fingerprint by hand, as in fingerprint = 'mine-1'")
    return Path(file)


def _is_edited(kind: type) -> bool:
    """Whether a base class is code of an environment: not the contract, not Python's, not an installed library's."""
    top = kind.__module__.partition(".")[0]
    if top in sys.stdlib_module_names or kind.__module__ == CONTRACT[0]:
        return False
    return top == WHET or not is_installed(Path(getattr(sys.modules.get(kind.__module__), "__file__", None) or ""))


# --------------------------------------------------------------------------------------------- without being told


def computed(env: Any) -> str:
    """The fingerprint of an environment that sets none: its name, the code of its class, and what it was built with."""
    of = type(env)
    if BUILT_WITH not in vars(env):
        raise WhetError(f"{of.__name__} makes its objects in a way of its own: let it set its fingerprint")
    return fingerprint(env.name, of, arguments=_built_with(env))


def _built_with(env: Any) -> dict[str, Any]:
    """What stands for the arguments of the constructor."""
    args, kwargs = vars(env)[BUILT_WITH]
    bound = inspect.signature(type(env).__init__).bind(env, *args, **kwargs)
    return _arguments(bound, type(env).__name__, but=1)


def _given_to_subclass(env: Any) -> dict[str, Any]:
    """The arguments of a constructor that a user wrote for a subclass of an environment of ours."""
    makers = [kind.__module__ for kind in type(env).__mro__ if "__init__" in vars(kind)]
    ours = [module.partition(".")[0] == WHET and module != CONTRACT[0] for module in makers]
    return _built_with(env) if any(ours) and not ours[0] else {}


def is_computed(env: Any) -> bool:
    """Whether an environment sets no fingerprint; false as well once it was asked for."""
    return isinstance(inspect.getattr_static(env, "fingerprint", None), ComputedFingerprint)


def made_by(maker: Callable[..., Any], given: Mapping[str, Any], file: Path, env: Any) -> str:
    """The fingerprint of an environment that a function in a file made: of that file and the arguments as well."""
    name = getattr(maker, "__name__", type(maker).__name__)
    told = _arguments(inspect.signature(maker).bind(**given), name)
    return f"{env.name}-{digest(env.fingerprint, name, code_in(file), told)}"


def _arguments(bound: inspect.BoundArguments, called: str, but: int = 0) -> dict[str, Any]:
    """What stands for the arguments of a call, those left out included; `but` so many at the beginning."""
    given = set(bound.arguments)
    bound.apply_defaults()
    told = {}
    for name, value in list(bound.arguments.items())[but:]:
        try:
            told[name] = _told(value, f"{called}({name}=...)")
        except WhetError:  # a default that cannot be told is told by the code in which it stands
            if name in given:
                raise
    return told


def _told(value: Any, where: str) -> Any:
    """What stands for an argument. One that names a file or folder stands for what is in it, and not for its place."""
    if isinstance(value, enum.Enum):
        return _callable(type(value), where), value.name
    if isinstance(value, str | Path):
        return _content(Path(value)) if _is_place(value) else _plain(str(value))
    if value is None or isinstance(value, bool | int | float):
        return _plain(value)
    if isinstance(value, Mapping):
        return sorted((digest(_told(key, where)), _told(item, where)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return [_told(item, where) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(digest(_told(item, where)) for item in value)
    if isinstance(value, type) or inspect.isfunction(value):
        return _callable(value, where)
    if isinstance(getattr(value, "fingerprint", None), str):
        return value.fingerprint
    if dataclasses.is_dataclass(value):
        fields = {item.name: _told(getattr(value, item.name), where) for item in dataclasses.fields(value)}
        return _callable(type(value), where), fields
    try:
        return digest(value)
    except TypeError:
        kind = type(value).__name__
        raise WhetError(f"{where} is of type {kind}, which has no fingerprint: set one in __init__") from None


def _plain(value: Any) -> Any:
    """A text or a number, exactly: JSON knows no infinity, no number beyond 64 bits, and no half of a character."""
    exact = float(value) if isinstance(value, float) else value
    try:
        if not isinstance(exact, float) or math.isfinite(exact):
            canonical(exact)
            return exact
    except TypeError:
        pass
    return type(value).__name__, ascii(exact)


def _callable(value: Any, where: str) -> tuple[str, str, str]:
    """A class or a function by its name and the code of its file, or the version of its library."""
    name, module = value.__qualname__, value.__module__
    if "<" in name:
        raise WhetError(f"{where} is {name}, which no other process finds: define it in a module, by name")
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names:
        return module, name, ""
    file = _file(value)
    if top != WHET and is_installed(file):
        return module, name, version_of(top)
    return "", name, closure(part_of(file, module)).digest()


def _is_place(value: str | Path) -> bool:
    """A path, or a text that looks like one, of something that exists; a full stop or a slash alone is a text."""
    if isinstance(value, str) and (not {".", os.sep} & set(value) or Path(value).name in ("", "..")):
        return False
    try:
        return Path(value).exists()
    except (OSError, ValueError):
        return False


def _content(place: Path) -> list[tuple[str, str]]:
    if place.is_file():
        return [(place.suffix, file_digest(place))]
    files = sorted(path for path in place.rglob("*") if path.is_file())
    return [(path.relative_to(place).as_posix(), file_digest(path)) for path in files]


def file_digest(path: Path) -> str:
    """As `bytes_digest`, of a file that may be larger than memory."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
