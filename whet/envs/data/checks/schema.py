"""JSON schemas: the part of the standard that people write, and where a value does not fit.

A schema is read when an environment is built, and a keyword that is not known here is refused: one that was passed over
would let values through.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from whet.errors import WhetError, nearest

Place = str
"""Where in a value something stands: `$.items[2].price`."""

DEEPEST = 64

_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: isinstance(value, int | float) and not isinstance(value, bool) and value == int(value),
}
_REMARKS = frozenset(
    {"$schema", "$id", "title", "description", "default", "examples", "$defs", "definitions", "format"}
)
_NUMBERS: Mapping[str, tuple[Callable[[Any, Any], bool], str]] = {
    "minimum": (lambda value, bound: value >= bound, "is below"),
    "maximum": (lambda value, bound: value <= bound, "is above"),
    "exclusiveMinimum": (lambda value, bound: value > bound, "is not above"),
    "exclusiveMaximum": (lambda value, bound: value < bound, "is not below"),
}
_SIZES: Mapping[str, tuple[type[Any], Callable[[int, int], bool], str]] = {
    "minLength": (str, int.__ge__, "is shorter than"),
    "maxLength": (str, int.__le__, "is longer than"),
    "minItems": (list, int.__ge__, "has fewer items than"),
    "maxItems": (list, int.__le__, "has more items than"),
    "minProperties": (dict, int.__ge__, "has fewer fields than"),
    "maxProperties": (dict, int.__le__, "has more fields than"),
}
_MANY = ("anyOf", "oneOf", "allOf")
_OTHERS = ("type", "enum", "const", "properties", "required", "additionalProperties", "items", "uniqueItems", "not")
KEYWORDS = (*_OTHERS, *_MANY, *_NUMBERS, *_SIZES, "pattern", "$ref")


def read_schema(given: str | Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema in a file or an object, every keyword of which is known."""
    if isinstance(given, str):
        try:
            given = orjson.loads(Path(given).read_bytes())
        except OSError as error:
            raise WhetError(f"schema: {given} cannot be read ({error.strerror})") from None
        except ValueError as error:
            raise WhetError(f"schema: {given} is not JSON: {error}") from None
    if not isinstance(given, Mapping):
        raise WhetError("schema: a JSON schema is an object")
    _refuse_unknown(given, "$")
    return given


def _refuse_unknown(schema: Any, where: Place) -> None:
    if isinstance(schema, bool):
        return
    if not isinstance(schema, Mapping):
        raise WhetError(f"schema: {where} must be an object, true or false")
    for word, value in schema.items():
        if word not in KEYWORDS and word not in _REMARKS:
            raise WhetError(f"schema: {where} has {word!r}, which is not checked here.{nearest(word, KEYWORDS)}")
        if word == "pattern":
            _compiled(value, where)
        if word in ("properties", "$defs", "definitions"):
            for name, part in value.items():
                _refuse_unknown(part, f"{where}.{name}")
        elif word in ("items", "additionalProperties", "not"):
            _refuse_unknown(value, f"{where}.{word}")
        elif word in _MANY:
            for part in value:
                _refuse_unknown(part, f"{where}.{word}")


def _compiled(pattern: str, where: Place) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, TypeError) as error:
        raise WhetError(f"schema: {where} has a pattern that cannot be read: {error}") from None


def misfit(value: Any, schema: Mapping[str, Any]) -> str:
    """Where a value does not fit a schema and why; '' where it fits."""
    return _misfit(value, schema, schema, "$", 0)


def _misfit(value: Any, schema: Any, root: Mapping[str, Any], where: Place, depth: int) -> str:
    if schema is True or depth > DEEPEST:
        return "" if schema is True else f"{where} lies too deep"
    if schema is False:
        return f"{where} must not be there"
    if "$ref" in schema:
        return _misfit(value, _referred(root, schema["$ref"]), root, where, depth + 1)
    return (
        _wrong_kind(value, schema, where)
        or _wrong_size(value, schema, where)
        or _wrong_parts(value, schema, root, where, depth)
        or _wrong_combination(value, schema, root, where, depth)
    )


def _referred(root: Mapping[str, Any], reference: str) -> Any:
    found: Any = root
    for step in reference.removeprefix("#").strip("/").split("/") if reference != "#" else ():
        found = found.get(step) if isinstance(found, Mapping) else None
    if found is None or not reference.startswith("#"):
        raise WhetError(f"schema: there is nothing at {reference!r}")
    return found


def _wrong_kind(value: Any, schema: Mapping[str, Any], where: Place) -> str:
    if "type" in schema:
        kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
        if not any(_TYPES[kind](value) for kind in kinds if kind in _TYPES):
            return f"{where} is not {' or '.join(kinds)}"
    if "enum" in schema and not any(_same(value, choice) for choice in schema["enum"]):
        return f"{where} is not one of {orjson.dumps(schema['enum']).decode()[:200]}"
    if "const" in schema and not _same(value, schema["const"]):
        return f"{where} is not {orjson.dumps(schema['const']).decode()[:200]}"
    return ""


def _same(value: Any, other: Any) -> bool:
    """Equality in which true is not 1."""
    return isinstance(value, bool) == isinstance(other, bool) and value == other


def _wrong_size(value: Any, schema: Mapping[str, Any], where: Place) -> str:
    for word, (fits, told) in _NUMBERS.items():
        if word in schema and _TYPES["number"](value) and not fits(value, schema[word]):
            return f"{where} {told} {schema[word]}"
    for word, (kind, holds, told) in _SIZES.items():
        if word in schema and isinstance(value, kind) and not holds(len(value), schema[word]):
            return f"{where} {told} {schema[word]}"
    if "pattern" in schema and isinstance(value, str) and not re.search(schema["pattern"], value[:2000]):
        return f"{where} does not match {schema['pattern']!r}"
    return ""


def _wrong_parts(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any], where: Place, depth: int) -> str:
    if isinstance(value, list):
        if schema.get("uniqueItems") and len({orjson.dumps(part) for part in value}) < len(value):
            return f"{where} holds an item twice"
        found = (
            _misfit(part, schema.get("items", True), root, f"{where}[{at}]", depth + 1) for at, part in enumerate(value)
        )
        return next(filter(None, found), "")
    if not isinstance(value, dict):
        return ""
    missing = next((name for name in schema.get("required", ()) if name not in value), None)
    if missing is not None:
        return f"{where} has no {missing!r}"
    parts, more = schema.get("properties", {}), schema.get("additionalProperties", True)
    found = (_misfit(part, parts.get(name, more), root, f"{where}.{name}", depth + 1) for name, part in value.items())
    return next(filter(None, found), "")


def _wrong_combination(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any], where: Place, depth: int) -> str:
    def misfits(parts: Sequence[Any]) -> list[str]:
        return [_misfit(value, part, root, where, depth + 1) for part in parts]

    if "not" in schema and not _misfit(value, schema["not"], root, where, depth + 1):
        return f"{where} is what it must not be"
    if "allOf" in schema and (wrong := next(filter(None, misfits(schema["allOf"])), "")):
        return wrong
    if "anyOf" in schema and all(wrongs := misfits(schema["anyOf"])):
        return f"{where} fits none of {len(wrongs)} forms ({wrongs[0]})"
    if "oneOf" in schema and (fits := misfits(schema["oneOf"]).count("")) != 1:
        return f"{where} fits {fits} of the forms of which it must be one"
    return ""
