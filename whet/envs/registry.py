"""Environments by address: `NAME`, `NAME/VARIANT`, `NAME:SOURCE`, or `path/to/file.py:Name` for a user's own.

Names come from the entry point group `whet.envs`; each points to a `Family`. Listing families imports none of the
packages that they adapt.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from whet.envs.arguments import Argument, accept, arguments_of, parse_args
from whet.envs.base import Environment
from whet.errors import WhetError, broken_line, nearest
from whet.plugins import PluginGroup
from whet.source import module_from

__all__ = [
    "Address",
    "Argument",
    "Family",
    "abouts",
    "arguments_at",
    "families",
    "family",
    "load_environment",
    "parse_args",
    "stands_alone",
    "variants_at",
]

Made = TypeVar("Made")

FAMILIES = PluginGroup("whet.envs", "environment")

_NAMED = re.compile(r"(?P<name>[^/:]+)(?:/(?P<variant>[^:]+))?(?::(?P<source>.+))?")
_WRITTEN = ("size", "label", "task", "play")
_MEMBERS = ("name", "fingerprint", "about", "size", "label", "task", "play", "baselines", "blob")


class Family(Protocol):
    """A group of environments under one name."""

    name: str
    about: str
    """One line, shown in the list."""

    def variants(self) -> Sequence[str]:
        """What may follow the slash; empty when the family is one environment."""
        ...

    def arguments(self, variant: str) -> Sequence[Argument]:
        """What `build` takes for this variant."""
        ...

    def build(self, variant: str, source: str, args: Mapping[str, Any]) -> Environment: ...


@dataclass(frozen=True, slots=True)
class Address:
    """Where an environment is: a family's name with variant and source, or a file with the name inside it."""

    name: str
    variant: str = ""
    source: str = ""
    path: str = ""

    @classmethod
    def parse(cls, text: str) -> Address:
        path, colon, name = text.rpartition(":")
        if path.endswith(".py") and name:
            return cls(name, path=path)
        if text.endswith(".py") or (colon and path.endswith(".py")):
            raise WhetError(f"{text!r} names a file: add the class or function in it, as in {text.rstrip(':')}:Name")
        parts = _NAMED.fullmatch(text)
        if parts is None:
            raise WhetError(f"{text!r} is not the address of an environment: NAME, NAME/VARIANT or file.py:Name")
        return cls(parts["name"], parts["variant"] or "", parts["source"] or "")


def families() -> dict[str, Family]:
    """Every family that is installed, by name."""
    return {name: cast(Family, FAMILIES.load(name)) for name in FAMILIES.names()}


def abouts() -> dict[str, str]:
    """The line of every family that is installed, by name; of one that cannot be loaded, why not."""
    lines = {}
    for name in FAMILIES.names():
        try:
            lines[name] = str(getattr(FAMILIES.load(name), "about", ""))
        except WhetError as problem:
            lines[name] = str(problem)
    return lines


def family(name: str) -> Family:
    """The family of that name, or an error that names the nearest."""
    known = FAMILIES.names()
    if name not in known:
        raise WhetError(f"there is no environment {name!r}.{nearest(name, known)} List them with: whet envs")
    return cast(Family, FAMILIES.load(name))


def load_environment(address: str, args: Mapping[str, Any] | None = None) -> Environment:
    """The environment at `address`, built with `args`. Every mistake in either is one `WhetError`."""
    parsed = Address.parse(address)
    if parsed.path:
        return _from_file(parsed, args or {})
    group = family(parsed.name)
    return _sound(address, _guarded(address, lambda: group.build(parsed.variant, parsed.source, args or {})))


def arguments_at(address: str) -> Sequence[Argument]:
    """What the environment at `address` takes."""
    parsed = Address.parse(address)
    if parsed.path:
        return arguments_of(_object_in_file(parsed))
    return family(parsed.name).arguments(parsed.variant)


def variants_at(address: str) -> Sequence[str]:
    """What may follow `address` after a slash: the variants of a family, when it names just that."""
    parsed = Address.parse(address)
    return () if parsed.path or parsed.variant or parsed.source else family(parsed.name).variants()


def stands_alone(address: str) -> bool:
    """Whether a family with variants says that its bare name is an environment too, to be shown beside them."""
    return bool(getattr(family(Address.parse(address).name), "alone", False))


def _from_file(address: Address, args: Mapping[str, Any]) -> Environment:
    where = f"{address.path}:{address.name}"
    maker = _object_in_file(address)
    given = accept(where, arguments_of(maker), args)
    env = _guarded(where, lambda: maker(**given))
    if not isinstance(maker, type):
        from whet.envs.fingerprint import is_computed, made_by

        if is_computed(env):
            env.fingerprint = made_by(maker, given, Path(address.path), env)
    return _sound(where, env)


def _sound(where: str, env: Any) -> Environment:
    """`env` as an environment; refused where it lacks what one must have, or has only the contract's empty form."""
    missing = [member for member in _MEMBERS if not hasattr(env, member)]
    if missing:
        raise WhetError(f"{where} is not an environment: it has no {', '.join(missing)}; subclass whet.Environment")
    empty = [name for name in _WRITTEN if getattr(type(env), name, None) is getattr(Environment, name)]
    if empty:
        raise WhetError(
            f"{where} does not say what its {', '.join(empty)} is: write {'it' if len(empty) == 1 else 'them'}"
        )
    return cast(Environment, env)


def _guarded(where: str, make: Callable[[], Made]) -> Made:
    """What `make` gives. The code of an environment may raise anything, or try to end the process."""
    try:
        return make()
    except WhetError:
        raise
    except (Exception, SystemExit) as error:
        raise WhetError(f"{where} cannot be built: {type(error).__name__}: {error} ({broken_line(error)})") from error


def _object_in_file(address: Address) -> Callable[..., Any]:
    module = _guarded(address.path, lambda: module_from(Path(address.path)))
    found = getattr(module, address.name, None)
    if found is None:
        public = [name for name in vars(module) if not name.startswith("_")]
        raise WhetError(f"{address.path} has no {address.name!r}.{nearest(address.name, public)}")
    if not callable(found):
        raise WhetError(f"{address.path}:{address.name} is neither a class nor a function that makes an environment")
    return cast(Callable[..., Any], found)
