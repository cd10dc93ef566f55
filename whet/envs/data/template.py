"""The prompt template: text with `{column}` fields, filled from a row."""

from __future__ import annotations

import string
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from whet.errors import WhetError, nearest


@dataclass(frozen=True, slots=True)
class Template:
    """Text before each field with the field's column; the last piece may have none."""

    text: str
    pieces: tuple[tuple[str, str | None], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it uses, each once."""
        return tuple(dict.fromkeys(column for _, column in self.pieces if column is not None))

    @classmethod
    def parse(cls, text: str, columns: Sequence[str], where: str = "prompt", alone: bool = True) -> Template:
        """A template over `columns`; the name of a column `alone` stands for that column."""
        text = f"{{{text}}}" if alone and text in columns else text
        try:
            parsed = list(string.Formatter().parse(text))
        except ValueError as error:
            raise WhetError(f"{where}: {error}; write {{{{ and }}}} for braces that are not a field") from None
        pieces = tuple((before, _whole(name, spec, conversion)) for before, name, spec, conversion in parsed)
        for _, column in pieces:
            if column is not None and column not in columns:
                hint = nearest(column, columns) or f" There are: {', '.join(columns)}."
                raise WhetError(
                    f"{where}: there is no column {column!r}.{hint} Write {{{{ for a brace that is not a field"
                )
        return cls(text, pieces)

    def refuse(self, hidden: Collection[str], where: str = "prompt") -> None:
        """Raise when it would show a column that holds the truth."""
        shown = next((column for column in self.columns if column in hidden), None)
        if shown is not None:
            raise WhetError(f"{where}: {{{shown}}} is what the answer is checked against, so it must not be shown")

    def fill(self, row: Mapping[str, Any], shown: Mapping[str, str] | None = None) -> str:
        """The text for a row; `shown` replaces cells that are displayed in a form of their own."""
        shown = shown or {}
        return "".join(
            before if column is None else before + (shown[column] if column in shown else cell(row.get(column)))
            for before, column in self.pieces
        )


def _whole(name: str | None, spec: str | None, conversion: str | None) -> str | None:
    """What stood between the braces: a column may have any letters in its name."""
    if name is None:
        return None
    return name + (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "")


def cell(value: Any) -> str:
    """A cell as text: nothing for null, JSON for what has parts."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list | dict | bool):
        return orjson.dumps(value).decode()
    return str(value)
