"""Arguments of an environment: what it takes, how a value given as text is read, and what is refused and why."""

from __future__ import annotations

import datetime
import enum
import inspect
import tomllib
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from whet.errors import WhetError, nearest


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: `type` is a Python annotation, `default` what holds when it is not given."""

    name: str
    type: Any
    default: Any = None
    help: str = ""
    required: bool = False


def parse_args(items: Iterable[str]) -> dict[str, Any]:
    """`key=value` texts as a mapping. Values are TOML literals, else plain text; a dotted key nests, as in TOML."""
    args: dict[str, Any] = {}
    for item in items:
        key, equals, text = item.partition("=")
        path = [part.strip() for part in key.split(".")]
        if not equals or not all(path):
            raise WhetError(f"argument {item!r} is not of the form key=value")
        table = args
        for part in path[:-1]:
            table = table.setdefault(part, {})
            if not isinstance(table, dict):
                raise WhetError(f"argument {item!r}: {part!r} already has a value that is not a table")
        table[path[-1]] = _literal(text.strip())
    return args


def _literal(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"] if "\n" not in text else text
    except tomllib.TOMLDecodeError:
        return text


def accept(where: str, known: Sequence[Argument], args: Mapping[str, Any]) -> dict[str, Any]:
    """`args` with every value brought to its type; a `WhetError` names what is unknown, missing or of another type."""
    by_name = {argument.name: argument for argument in known}
    accepted: dict[str, Any] = {}
    for name, value in args.items():
        if name not in by_name:
            hint = nearest(name, by_name) or (f" It takes {', '.join(by_name)}." if by_name else " It takes none.")
            raise WhetError(f"{where} has no argument {name!r}.{hint} See: whet envs show {where}")
        try:
            accepted[name] = coerce(value, by_name[name].type)
        except ValueError as problem:
            raise WhetError(f"{where}: argument {name!r} takes {problem}, not {value!r}") from None
    missing = [argument.name for argument in known if argument.required and argument.name not in args]
    if missing:
        raise WhetError(f"{where} needs the argument {missing[0]!r}: give it as -a {missing[0]}=VALUE")
    return accepted


def arguments_of(function: Callable[..., Any]) -> tuple[Argument, ...]:
    """The keyword arguments that a class or function declares."""
    maker: Any = getattr(function, "__init__", None) if isinstance(function, type) else function
    if getattr(maker, "__module__", "") == "typing" or maker is object.__init__:
        return ()  # a Protocol's stand-in for a class without an __init__ of its own
    hints = get_type_hints(maker)
    declared = list(inspect.signature(function).parameters.values())
    return tuple(
        Argument(
            parameter.name,
            hints.get(parameter.name, Any),
            None if parameter.default is parameter.empty else parameter.default,
            required=parameter.default is parameter.empty,
        )
        for parameter in declared
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    )


def type_name(annotation: Any) -> str:
    """An annotation as a person writes it."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation is Any:
        return "any value"
    if annotation is type(None):
        return "none"
    if origin is Literal:
        return " | ".join(repr(choice) for choice in inner)
    if origin in (Union, types.UnionType):
        return " | ".join(type_name(member) for member in inner)
    if _is_sequence(annotation):
        return f"list of {type_name(inner[0])}" if inner else "list"
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return " | ".join(repr(member.value) for member in annotation)
    return getattr(annotation, "__name__", str(annotation))


def coerce(value: Any, annotation: Any) -> Any:
    """`value` as `annotation` wants it, or a ValueError that names the type. Nothing is guessed: '3' is no int."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation is Any:
        return value
    if origin in (Union, types.UnionType):
        return _first_fit(value, annotation, inner)
    if origin is Literal and value in inner:
        return value
    if _is_sequence(annotation) and isinstance(value, list | tuple):
        kind = tuple if (origin or annotation) is tuple else list
        return kind(coerce(item, inner[0]) if inner else item for item in value)
    if isinstance(annotation, type):
        return _plain(value, annotation)
    raise ValueError(type_name(annotation))


def _first_fit(value: Any, annotation: Any, members: Sequence[Any]) -> Any:
    for member in members:
        try:
            return coerce(value, member)
        except ValueError:
            continue
    raise ValueError(type_name(annotation))


def _plain(value: Any, wanted: type) -> Any:
    """A value of a plain class; bool is not int, int is a float, dates and enums may be given as text."""
    if wanted is type(None) and value in (None, "none"):
        return None
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, wanted) and isinstance(value, bool) == (wanted is bool):
        return value
    if issubclass(wanted, enum.Enum) and isinstance(value, str):
        return wanted(value)
    if wanted in (datetime.date, datetime.time) and isinstance(value, str):
        return wanted.fromisoformat(value)
    raise ValueError(type_name(wanted))


def _is_sequence(annotation: Any) -> bool:
    return (get_origin(annotation) or annotation) in (list, tuple, Sequence)
