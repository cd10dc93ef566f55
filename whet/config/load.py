"""Configs from TOML, overrides from the command line, and errors that say which key of which file to mend."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, TypeVar

import tomlkit
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from whet.errors import WhetError, nearest
from whet.key_shapes import refuse_keys

Config = TypeVar("Config", bound=BaseModel)

LONGEST = 120
"""Characters of a wrong value that a message shows."""


def load_config(
    kind: type[Config],
    file: Path | None = None,
    base: Mapping[str, Any] | None = None,
    overrides: Sequence[str] = (),
    beside: Mapping[str, Any] | None = None,
) -> Config:
    """A config of `kind`: the file's keys, over them `base` (the command line), over them the `a.b=c` overrides.

    `beside` is what lies next to the file; the file's own keys go over it.
    """
    data: dict[str, Any] = {}
    merge(data, beside or {})
    merge(data, with_shared_env(read_toml(file), file) if file else {})
    plain = deepcopy(data)
    merge(data, base or {})
    for override in overrides:
        merge(data, parse_override(override))
    if file is not None and isinstance(header := data.get(HEADER), dict):
        header.setdefault("name", config_name(file))
        header["altered"] = [*header.get("altered", ()), *changed_keys(plain, data)]
    return validate(kind, data, str(file) if file else "command line")


HEADER, CONTROL = "config", "control"
"""Parts of a config that no result depends on: where it comes from, and how it is run."""

REGISTRY = "registry.json"
"""In a folder of configs: every version of each of them."""


def config_name(file: Path) -> str:
    """A config's name: its file's, with the folders below the one whose registry knows it."""
    for folder in list(file.absolute().parents)[:4]:
        if (folder / REGISTRY).is_file():
            return file.absolute().relative_to(folder).with_suffix("").as_posix()
    return file.stem


def changed_keys(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The keys that a result depends on and that differ, each as `a.b=value`."""
    old, new = ({key: value for key, value in data.items() if key not in (HEADER, CONTROL)} for data in (before, after))
    was, now = dict(_leaves("", old)), dict(_leaves("", new))
    return [f"{key}={now.get(key)!r}" for key in sorted(was.keys() | now.keys()) if was.get(key) != now.get(key)]


def _leaves(path: str, value: Any) -> Iterable[tuple[str, Any]]:
    """Every value with its dotted key; a section that holds nothing says nothing."""
    if not isinstance(value, Mapping):
        return [(path, value)]
    return [leaf for key, part in value.items() for leaf in _leaves(f"{path}.{key}".lstrip("."), part)]


def with_shared_env(data: dict[str, Any], file: Path) -> dict[str, Any]:
    """`[env] from = "config.toml"` takes the environment of the config beside it; keys of its own go over that."""
    env = data.get("env")
    if not isinstance(env, dict) or "from" not in env:
        return data
    other = file.parent / str(env.pop("from"))
    shared = read_toml(other).get("env")
    if not isinstance(shared, dict) or "from" in shared:
        raise WhetError(f"{file}: env.from: {other.name} has no [env] of its own to take")
    merge(shared, env)
    return {**data, "env": shared}


def read_toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise WhetError(f"{file}: no such config file") from None
    except OSError as error:
        raise WhetError(f"{file}: cannot be read ({error.strerror})") from None
    except RecursionError:
        raise WhetError(f"{file}: not valid TOML: it is nested without end") from None
    except ValueError as error:  # TOML, its encoding, or a number that Python does not read
        raise WhetError(f"{file}: not valid TOML: {error}") from None


def parse_override(text: str) -> dict[str, Any]:
    """`a.b=c` as a nested mapping; the value is TOML (`3`, `true`, `[1, 2]`), or else a string."""
    path, equals, value = text.partition("=")
    if not equals or not all(part.strip() for part in path.split(".")):
        raise WhetError(f"--set {text!r}: write it as section.key=value, such as --set target.sampling.max_tokens=256")
    nested: Any = parse_value(value.strip())
    for part in reversed(path.split(".")):
        nested = {part.strip(): nested}
    return dict(nested)


def parse_value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text


def merge(into: dict[str, Any], new: Mapping[str, Any]) -> None:
    """Lay `new` over `into`, section by section; a value of None says nothing."""
    for key, value in new.items():
        if isinstance(value, Mapping):
            section = into.get(key)
            if not isinstance(section, dict):
                section = into[key] = {}
            merge(section, value)
        elif value is not None:
            into[key] = value


def validate(kind: type[Config], data: Mapping[str, Any], where: str) -> Config:
    """`data` as a config of `kind`. A key in it is refused first: no other message may quote it."""
    refuse_keys(data, where)
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        details = sorted(
            error.errors(), key=lambda detail: detail["type"] != "extra_forbidden"
        )  # a typo explains the rest
        more = f" (and {len(details) - 1} more)" if len(details) > 1 else ""
        raise WhetError(f"{where}: {_explain(kind, details[0])}{more}") from None


def write_config(config: BaseModel) -> bytes:
    """The resolved config as TOML; one that a program made is looked through for keys before it is written down."""
    data = config.model_dump(mode="json", exclude_none=True)
    refuse_keys(data, "config")
    return tomlkit.dumps(data).encode()


def _explain(kind: type[BaseModel], error: ErrorDetails) -> str:
    path = _path(kind, [str(part) for part in error["loc"]], error["type"] == "extra_forbidden")
    dotted = ".".join(path)
    if error["type"] == "extra_forbidden":
        known = _fields(kind, path[:-1])
        return f"unknown key {dotted!r}.{nearest(path[-1], known) or ' Known here: ' + ', '.join(sorted(known)) + '.'}"
    if error["type"] == "missing":
        return f"{dotted} is missing; set it in the config or with --set {dotted}=..."
    if error["type"] == "value_error":
        return f"{dotted}: {error['ctx']['error']}".removeprefix(": ")
    given = repr(error["input"])
    given = given if len(given) <= LONGEST else f"{given[:LONGEST]}..."
    return f"{dotted} = {given}: {error['msg'][0].lower()}{error['msg'][1:]}"


def _path(kind: type[BaseModel], location: list[str], unknown_last: bool) -> list[str]:
    """The keys of a location; what pydantic adds (which member of a union it tried) is left out."""
    known: list[str] = []
    here: type[BaseModel] | None = kind
    for part in location:
        if here is None or (part not in here.model_fields and not (unknown_last and part == location[-1])):
            break
        known.append(part)
        here = _section(here, part)
    return known


def _fields(kind: type[BaseModel], path: Iterable[str]) -> list[str]:
    """The keys known at `path`."""
    here: type[BaseModel] | None = kind
    for part in path:
        here = _section(here, part) if here else None
    return list(here.model_fields) if here else []


def _section(kind: type[BaseModel], key: str) -> type[BaseModel] | None:
    """The section that `key` of `kind` holds; None for a plain value."""
    field = kind.model_fields.get(key)
    annotation = field.annotation if field else None
    options = (annotation, *getattr(annotation, "__args__", ()))
    return next((option for option in options if isinstance(option, type) and issubclass(option, BaseModel)), None)
