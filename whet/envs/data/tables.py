"""Tables in text: CSV and its kin, as programs and spreadsheets write them, to columns and rows.

A spreadsheet may put a title or a merged heading above the header, an old corpus may have no header at all; both are
seen from the first lines. A file between semicolons writes decimals with a comma; they are read with a point.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from whet.envs.data.charset import decode, refuse_foreign_bytes
from whet.envs.data.columns import ANSWERS, GROUPS, IDS, QUESTIONS, SPLIT_COLUMNS, words_of
from whet.envs.data.row_table import RowTable
from whet.errors import WhetError

LEADING = 8
"""Lines among which the header is looked for."""
LOOKED_AT = 200
"""Rows by which it is told whether the first line is a header."""
MOSTLY = 0.6
"""Share of its cells that a header names at least; a line above it with fewer is a title."""
WELL_KNOWN = frozenset((*QUESTIONS, *ANSWERS, *IDS, *GROUPS, *SPLIT_COLUMNS, "date", "name", "timestamp"))
"""Names that only a header has."""

_DECIMAL = re.compile(r"-?\d{1,3}(?:\.\d{3})+(?:,\d+)?|-?\d+(?:,\d+)?")
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*")


def read_delimited(name: str, content: bytes, encoding: str) -> RowTable:
    """CSV, with the delimiter that the header uses."""
    text, sound = decode(name, content, encoding)
    delimiter = _delimiter(text)
    with _long_fields():
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        try:
            columns, first = _beginning(name, text, delimiter)
            for _ in range(first):
                next(lines)
            rows = list(_records(name, lines, columns))
        except csv.Error as error:
            raise WhetError(f"{name}: line {lines.line_num}: {error}; is a quote left open?") from None
    if not sound:
        refuse_foreign_bytes(name, rows, encoding, content)
    if delimiter == ";":
        _point_decimals(columns, rows)
    return RowTable(columns, rows)


def _beginning(name: str, text: str, delimiter: str) -> tuple[tuple[str, ...], int]:
    """The columns, and how many records stand before the first row."""
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    records: list[list[str]] = []
    try:
        for record in lines:
            records.append(record)
            if len(records) == LOOKED_AT:
                break
    except csv.Error:
        pass  # told with its line where the rows are read
    at = _header_at(records)
    fields = records[at] if records else []
    if _is_row(fields, [record for record in records[at + 1 :] if len(record) == len(fields)]):
        return tuple(f"column_{place}" for place in range(1, len(fields) + 1)), at
    return _header(name, fields), at + 1


def _header_at(records: Sequence[Sequence[str]]) -> int:
    """Which record is the header: the first, or the first full one below titles and merged headings."""
    leading = [[field.strip() for field in record] for record in records[:LEADING]]
    widths = Counter(len(record) for record in records if record)
    width = widths.most_common(1)[0][0] if widths else 0
    for at, record in enumerate(leading):
        if sum(map(bool, record)) > MOSTLY * width or len(record) > width:
            return at if _is_named(record) or at == 0 else 0
        if len(record) != width and len(record) > 1:
            return 0  # a ragged row, which is told as one
    return 0


def _is_named(fields: Sequence[str]) -> bool:
    """Whether cells could be names: all different, none a number."""
    named = [field for field in fields if field]
    return len(set(named)) == len(named) and not any(_NUMBER.fullmatch(field) for field in named)


def _is_row(fields: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether what should be the header is a row: a number above numbers, or a label that comes again below it."""
    if len(below) < 3 or any("_".join(words_of(field)) in WELL_KNOWN for field in fields):
        return False
    for place, field in enumerate(fields):
        text = field.strip()
        beneath = [record[place].strip() for record in below]
        if _NUMBER.fullmatch(text) and all(_NUMBER.fullmatch(value) for value in beneath if value):
            return True
        if text and beneath.count(text) >= 2 and not _NUMBER.fullmatch(text):
            return True
    return False


def _point_decimals(columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> None:
    """Write the decimals of a column with a point, where all of its cells are numbers and some have a comma."""
    for column in columns:
        filled = [row[column].strip() for row in rows if row[column].strip()]
        if filled and any("," in text for text in filled) and all(_DECIMAL.fullmatch(text) for text in filled):
            for row in rows:
                row[column] = row[column].strip().replace(".", "").replace(",", ".")


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
    """Column names; one without a name is called by its place, one that comes again has its count behind it."""
    columns = tuple(field.strip() or f"column_{place}" for place, field in enumerate(fields, 1))
    if not columns:
        raise WhetError(f"{name}: is empty; its first line must name the columns")
    seen: Counter[str] = Counter()
    named = []
    for column in columns:
        seen[column] += 1
        again = f"{column}_{seen[column]}"
        named.append(column if seen[column] == 1 else again if again not in columns else f"{again}_")
    return tuple(named)


def _delimiter(text: str) -> str:
    """What stands between the cells of the header; of the lines below it, where a title without any is above it."""
    for line in text[:100_000].splitlines()[:LEADING]:
        best = max(",;\t|", key=line.count)  # the first of equals: a comma where the header has one column
        if best in line:
            return best
    return ","


@contextmanager
def _long_fields() -> Iterator[None]:
    """Documents in a cell are longer than the csv module allows by default; its limit belongs to the process."""
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)
