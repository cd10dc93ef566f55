"""What a file of examples holds, whatever its format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class RowTable:
    """Columns and rows. Every row of a table has all columns; a row of objects may lack some."""

    columns: tuple[str, ...]
    rows: list[dict[str, Any]]
