"""One reader for each format of a file of examples: bytes to columns and rows, or an error with row and column."""

from __future__ import annotations

import csv
import importlib
import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import orjson

from whet.envs.data.charset import decode, refuse_foreign_bytes
from whet.envs.data.conversation import conversations, parts_of
from whet.errors import WhetError
from whet.extras import install

DEEPEST = 4
"""How many objects deep a column may lie."""


@dataclass(frozen=True, slots=True)
class RowTable:
    """What a file holds. Every row of a table has all columns; a row of objects may lack some."""

    columns: tuple[str, ...]
    rows: list[dict[str, Any]]


# --------------------------------------------------------------------------------------------- tables


def read_delimited(name: str, content: bytes, encoding: str) -> RowTable:
    """CSV, with the delimiter that the header uses."""
    text, sound = decode(name, content, encoding)
    with _long_fields():
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
        try:
            columns = _header(name, next(lines, []))
            rows = list(_records(name, lines, columns))
        except csv.Error as error:
            raise WhetError(f"{name}: line {lines.line_num}: {error}; is a quote left open?") from None
    if not sound:
        refuse_foreign_bytes(name, rows, encoding, content)
    return RowTable(columns, rows)


def _records(name: str, lines: Any, columns: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    number, width = 0, len(columns)
    for fields in lines:
        if not fields:
            continue  # a blank line
        number += 1
        if len(fields) != width:
            raise WhetError(_ragged(name, number, lines.line_num, fields, columns))
        yield dict(zip(columns, fields, strict=True))


def _ragged(name: str, number: int, line: int, fields: list[str], columns: tuple[str, ...]) -> str:
    where = f"{name}: row {number} (line {line}) has {len(fields)} fields, the header has {len(columns)}"
    if len(fields) < len(columns):
        return f"{where}: nothing stands in column {columns[len(fields)]!r}"
    extra = fields[len(columns)][:40]
    return f"{where}: {extra!r} stands after the last column {columns[-1]!r}; quote a field that holds the delimiter"


def _header(name: str, fields: list[str]) -> tuple[str, ...]:
    """Column names; one without a name is called by its place."""
    columns = tuple(field.strip() or f"column_{place}" for place, field in enumerate(fields, 1))
    if not columns:
        raise WhetError(f"{name}: is empty; its first line must name the columns")
    twice = next((column for place, column in enumerate(columns) if column in columns[:place]), None)
    if twice is not None:
        raise WhetError(f"{name}: the header names column {twice!r} twice")
    return columns


def _delimiter(text: str) -> str:
    header = text[: text.find("\n")] if "\n" in text else text
    return max(",;\t|", key=header.count)  # the first of equals: a comma where the header has one column


@contextmanager
def _long_fields() -> Iterator[None]:
    """Documents in a cell are longer than the csv module allows by default; its limit belongs to the process."""
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)


# --------------------------------------------------------------------------------------------- objects


def read_lines(name: str, content: bytes, encoding: str) -> RowTable:
    """JSONL: an object a line."""
    text, sound = decode(name, content, encoding)
    loads = orjson.loads if sound else json.loads
    rows: list[Any] = []
    for line_number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            rows.append(loads(line))
        except (ValueError, RecursionError) as error:
            where = f"{name}: row {len(rows) + 1} (line {line_number})"
            raise WhetError(f"{where} is not a JSON object: {error}") from None
    return _objects(name, rows, sound, encoding, content)


def read_array(name: str, content: bytes, encoding: str) -> RowTable:
    """JSON: an array of objects."""
    text, sound = decode(name, content, encoding)
    try:
        rows = (orjson.loads if sound else json.loads)(text)
    except (ValueError, RecursionError) as error:
        raise WhetError(f"{name}: is not valid JSON: {error}") from None
    if not isinstance(rows, list):
        raise WhetError(f"{name}: must hold an array of objects, not {_kind(rows)}")
    return _objects(name, rows, sound, encoding, content)


def _objects(name: str, rows: list[Any], sound: bool, encoding: str, content: bytes) -> RowTable:
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise WhetError(f"{name}: row {number} is {_kind(row)}, not an object with columns")
    if not sound:
        refuse_foreign_bytes(name, rows, encoding, content)
    return _with_parts(rows)


def _with_parts(rows: list[dict[str, Any]]) -> RowTable:
    """Objects in cells have columns of their own beside them: `annotation.label`.

    A list that never holds more than one object is gone into as well: `annotations.0.label`. A column that is called so
    itself is what the file says it is, in every row.
    """
    columns: dict[str, None] = {}
    given = {column for row in rows for column in row if "." in column}
    several = {path for row in rows for column, value in row.items() for path in _several(column, value)}
    spoken = conversations(rows)
    for row in rows:
        for column, value in [entry for entry in row.items() if isinstance(entry[1], dict | list)]:
            talk = parts_of(column, value, spoken[column]) if column in spoken else _parts(column, value, several)
            row.update((path, part) for path, part in talk if path not in given)
        if row.keys() - columns.keys():
            columns.update(dict.fromkeys(row))
    return RowTable(tuple(columns), rows)


def _parts(path: str, value: Any, several: Set[str], depth: int = 1) -> Iterator[tuple[str, Any]]:
    """What lies in a cell, with its path; lists in `several` are left whole."""
    if _is_lone(value) and path not in several:
        path, value = f"{path}.0", value[0]
    for name, part in value.items() if isinstance(value, dict) else ():
        yield f"{path}.{name}", part
        if depth < DEEPEST:
            yield from _parts(f"{path}.{name}", part, several, depth + 1)


def _several(path: str, value: Any, depth: int = 1) -> Iterator[str]:
    """The lists in a cell that hold anything but one object."""
    if isinstance(value, list) and value and not _is_lone(value):
        yield path
        return
    if _is_lone(value):
        path, value = f"{path}.0", value[0]
    if isinstance(value, dict) and depth <= DEEPEST:
        for name, part in value.items():
            yield from _several(f"{path}.{name}", part, depth + 1)


def _is_lone(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict)


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "an array", str: "a text", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")


# --------------------------------------------------------------------------------------------- parquet


def read_parquet(name: str, content: bytes, encoding: str) -> RowTable:
    try:
        parquet = importlib.import_module("pyarrow.parquet")
        arrow = importlib.import_module("pyarrow")
    except ImportError:
        raise WhetError(f"{name}: reading Parquet needs pyarrow: {install('data')}") from None
    try:
        table = parquet.read_table(io.BytesIO(content))
    except (arrow.ArrowException, OSError) as error:
        raise WhetError(f"{name}: is not a Parquet file: {str(error).splitlines()[0]}") from None
    rows = [{key: _plain(value) for key, value in row.items()} for row in table.to_pylist()]
    return _with_parts(rows) if rows else RowTable(tuple(table.column_names), rows)


def _plain(value: Any) -> Any:
    """A value as JSON has it; raw bytes have no such form and are left out."""
    if isinstance(value, bytes):
        return None
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return value if isinstance(value, str | bool | int | float | None) else str(value)


READERS: Mapping[str, Callable[[str, bytes, str], RowTable]] = {
    ".csv": read_delimited,
    ".tsv": read_delimited,
    ".jsonl": read_lines,
    ".ndjson": read_lines,
    ".json": read_array,
    ".parquet": read_parquet,
}
