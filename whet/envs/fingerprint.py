"""Fingerprints are computed, not written: the code in an environment's import closure, its arguments, its data.

    self.fingerprint = fingerprint("soup", type(self), arguments=settings)

Changing any of it makes another environment; changing anything else does not. What belongs to the closure is said in
`whet.envs.closure`, what counts of a source text in `whet.envs.source_text`. An environment that sets no fingerprint
has the one that `computed` finds: its class, and what it was built with.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import os
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from whet.envs.closure import Closure, Part, closure, is_installed, part_of, version_of
from whet.errors import WhetError
from whet.keys import bytes_digest, digest

BUILT_WITH = "_built_with"
"""Where an environment keeps the arguments of its constructor."""


def fingerprint(
    name: str, of: type | str, arguments: Any = None, data: Any = None, without: Collection[str] = ()
) -> str:
    """The fingerprint of an environment of the class `of`, or whose code is in the module of ours that `of` names.

    `arguments` and `data` are JSON-like or records of ours; of large data, a digest. `without` names libraries, as they
    are imported, whose work is in `data` already or cannot show.
    """
    return f"{name}-{digest(code(of, without), arguments, data)}"


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
    file = getattr(sys.modules.get(of.__module__), "__file__", None)
    if file is None:
        raise WhetError(f"{of.__name__} is in no file: set its fingerprint by hand, as in fingerprint = 'mine-1'")
    return part_of(Path(file), of.__module__)


def _is_edited(kind: type) -> bool:
    """Whether a base class is code of an environment: not the contract, not Python's, not an installed library's."""
    top = kind.__module__.partition(".")[0]
    if top in sys.stdlib_module_names or kind.__module__ == "whet.envs.base":
        return False
    return top == "whet" or not is_installed(Path(getattr(sys.modules.get(kind.__module__), "__file__", None) or ""))


# --------------------------------------------------------------------------------------------- without being told


def computed(env: Any) -> str:
    """The fingerprint of an environment that sets none: its name, the code of its class, and what it was built with."""
    of = type(env)
    if BUILT_WITH not in vars(env):
        raise WhetError(f"{of.__name__} makes its objects in a way of its own: let it set its fingerprint")
    args, kwargs = vars(env)[BUILT_WITH]
    bound = inspect.signature(of.__init__).bind(env, *args, **kwargs)
    bound.apply_defaults()
    _, *given = bound.arguments.items()
    told = {name: _told(value, f"{of.__name__}({name}=...)") for name, value in given}
    return fingerprint(env.name, of, arguments=told)


def _told(value: Any, where: str) -> Any:
    """What stands for an argument. One that names a file or folder stands for what is in it, and not for its place."""
    if isinstance(value, str | Path):
        return _content(Path(value)) if _is_place(value) else str(value)
    if value is None or isinstance(value, bool | int | float | enum.Enum):
        return value
    if isinstance(value, Mapping):
        return {str(key): _told(item, where) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_told(item, where) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(digest(_told(item, where)) for item in value)
    if isinstance(value, type) or inspect.isfunction(value):
        return _callable(value, where)
    if isinstance(getattr(value, "fingerprint", None), str):
        return value.fingerprint
    if dataclasses.is_dataclass(value):
        return {item.name: _told(getattr(value, item.name), where) for item in dataclasses.fields(value)}
    try:
        return digest(value)
    except TypeError:
        kind = type(value).__name__
        raise WhetError(f"{where} is of type {kind}, which has no fingerprint: set one in __init__") from None


def _callable(value: Any, where: str) -> tuple[str, str, str]:
    """A class or a function by its name and the code of its file, or the version of its library."""
    name, module = value.__qualname__, value.__module__
    if "<" in name:
        raise WhetError(f"{where} is {name}, which no other process finds: define it in a module, by name")
    top = module.partition(".")[0]
    file = Path(getattr(sys.modules[module], "__file__", None) or "")
    if top in sys.stdlib_module_names or is_installed(file):
        return module, name, version_of(top)
    return "", name, code_in(file)


def _is_place(value: str | Path) -> bool:
    """A path, or a text that looks like one, of something that exists."""
    if isinstance(value, str) and "." not in value and os.sep not in value:
        return False
    try:
        return Path(value).exists()
    except (OSError, ValueError):
        return False


def _content(place: Path) -> list[tuple[str, str]]:
    if place.is_file():
        return [(place.suffix, bytes_digest(place.read_bytes()))]
    files = sorted(path for path in place.rglob("*") if path.is_file())
    return [(path.relative_to(place).as_posix(), bytes_digest(path.read_bytes())) for path in files]
