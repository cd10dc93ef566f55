"""Fingerprints are computed, not written: the code in an environment's import closure, its arguments, its data.

    self.fingerprint = fingerprint("soup", Soup, arguments=settings)

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
from types import ModuleType
from typing import Any

from whet.envs.closure import Closure, Part, closure, part_of
from whet.errors import WhetError
from whet.keys import bytes_digest, digest

BUILT_WITH = "_built_with"
"""Where an environment keeps the arguments of its constructor."""


def fingerprint(
    name: str, of: type | ModuleType | str, arguments: Any = None, data: Any = None, without: Collection[str] = ()
) -> str:
    """The fingerprint of the environment whose code is in `of`: a class, a module, or the name of one.

    `arguments` and `data` are JSON-like or records of ours; of large data, a digest. `without` names libraries by the
    name that is imported, whose work is in `data` already.
    """
    return f"{name}-{digest(code(of, without), arguments, data)}"


def code(of: type | ModuleType | str, without: Collection[str] = ()) -> str:
    """A digest of the closure of `of`. One of our modules, given by name, stands for itself and what it imports."""
    part = Part(of) if isinstance(of, str) else _part(of)
    return closure_of(part, _mark(of)).digest(without)


def code_in(file: Path, without: Collection[str] = ()) -> str:
    """A digest of the code in a user's file, and of what it imports, as it is at this moment."""
    return closure(part_of(file)).digest(without)


@functools.cache
def closure_of(part: Part, mark: str = "") -> Closure:
    """The closure as it was when the process first asked: its code is loaded, a later edit does not change it."""
    return closure(part)


def _part(of: type | ModuleType) -> Part:
    module = of if isinstance(of, ModuleType) else sys.modules.get(of.__module__)
    file = getattr(module, "__file__", None)
    if file is None:
        raise WhetError(f"{of.__name__} is in no file: set its fingerprint by hand, as in fingerprint = 'mine-1'")
    return part_of(Path(file), module.__name__ if module else "")


def _mark(of: type | ModuleType | str) -> str:
    """The name of the module; a file that is loaded again with another content has another."""
    return of if isinstance(of, str) else of.__name__ if isinstance(of, ModuleType) else of.__module__


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
    if isinstance(getattr(value, "fingerprint", None), str):
        return value.fingerprint
    if isinstance(value, type) or inspect.isfunction(value):
        return value.__qualname__, code(sys.modules[value.__module__])
    if dataclasses.is_dataclass(value):
        return {item.name: _told(getattr(value, item.name), where) for item in dataclasses.fields(value)}
    try:
        return digest(value)
    except TypeError:
        raise WhetError(
            f"{where} is of type {type(value).__name__}, which has no fingerprint: set one in __init__"
        ) from None


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
