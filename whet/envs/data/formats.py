"""One reader for each format of a file of examples: bytes to columns and rows, or an error with row and column."""

from __future__ import annotations

import importlib
import io
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from whet.envs.data.objects import read_array, read_lines, with_parts
from whet.envs.data.row_table import RowTable
from whet.envs.data.tables import read_delimited
from whet.errors import WhetError
from whet.extras import install


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
    return with_parts(rows) if rows else RowTable(tuple(table.column_names), rows)


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
