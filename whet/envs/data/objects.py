"""Objects in JSON to columns and rows: what lies in a cell has columns of its own beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Set
from typing import Any

import orjson

from whet.envs.data.charset import decode, refuse_foreign_bytes
from whet.envs.data.conversation import conversations, parts_of, turns_of
from whet.envs.data.row_table import RowTable
from whet.errors import WhetError

DEEPEST = 4
"""How many objects deep a column may lie."""

SPOKEN_OF = ("name", "text", "label", "title", "value", "content", "key", "id")
"""Parts of the objects in a list that are a list beside it: the names of all labels, the texts of all options."""

PLACES = frozenset(("start", "end", "offset", "begin", "start_offset", "end_offset", "answer_start"))
"""Parts by which objects are spans of a text, which belong together."""

WITHIN = frozenset(("qas", "question", "paragraphs"))
"""Parts of objects in a list that are rows themselves, of which the rest of the object holds for all."""

MOST_SHARED = 2
"""Other parts that an object has beside its rows."""


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
    rows = _unwrapped(rows)
    if not isinstance(rows, list):
        raise WhetError(f"{name}: must hold an array of objects, not {_kind(rows)}")
    return _objects(name, _rows_within(rows), sound, encoding, content)


def _unwrapped(held: Any) -> Any:
    """The list in an object that holds one list of objects, and what is said of it: `{"version": 1, "data": [...]}`."""
    lists = [value for value in held.values() if _is_list_of_objects(value)] if isinstance(held, dict) else []
    return lists[0] if len(lists) == 1 else held


def _rows_within(rows: list[Any]) -> list[Any]:
    """Rows that lie in lists within others, as the questions of a passage do, each with what holds for all of them."""
    while rows and all(isinstance(row, dict) for row in rows):
        names = [name for name in rows[0] if _is_list_of_objects(rows[0][name])]
        if len(names) != 1 or any(
            len(row) > 1 + MOST_SHARED or not isinstance(row.get(names[0]), list) for row in rows
        ):
            return rows
        (name,) = names
        held = [(row, part) for row in rows for part in row[name]]
        if not all(isinstance(part, dict) and part.keys() & WITHIN for _, part in held):
            return rows
        rows = [{**{key: value for key, value in row.items() if key != name}, **part} for row, part in held]
    return rows


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(part, dict) for part in value)


def _objects(name: str, rows: list[Any], sound: bool, encoding: str, content: bytes) -> RowTable:
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise WhetError(f"{name}: row {number} is {_kind(row)}, not an object with columns")
    if not sound:
        refuse_foreign_bytes(name, rows, encoding, content)
    return with_parts(rows)


def with_parts(rows: list[dict[str, Any]]) -> RowTable:
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
    elif _is_list_of_objects(value) and turns_of(value) is None:
        yield from _lists_beside(path, value)
    for name, part in value.items() if isinstance(value, dict) else ():
        yield f"{path}.{name}", part
        if depth < DEEPEST:
            yield from _parts(f"{path}.{name}", part, several, depth + 1)


def _lists_beside(path: str, value: list[dict[str, Any]]) -> Iterator[tuple[str, list[Any]]]:
    """What the objects of a list are called, as lists; of spans, what they say stays together."""
    if any(part.keys() & PLACES - {"answer_start"} for part in value):
        return
    for name in SPOKEN_OF:
        if all(isinstance(part.get(name), str | int | float) for part in value):
            yield f"{path}.{name}", [part[name] for part in value]


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
