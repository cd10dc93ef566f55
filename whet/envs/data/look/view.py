"""A file as the look at it needs it: its columns in figures, and how the cells of one stand to those of another."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from whet.envs.data.evidence import told_by
from whet.envs.data.profile import ColumnProfile, is_missing, profile
from whet.envs.data.source import DataSource
from whet.envs.data.template import cell

LOOKED_AT = 400
"""Rows by which columns are compared to each other."""

TEXT = 4.0
"""Mean words of a column from which it holds texts."""


@dataclass(slots=True)
class FileView:
    """A source with its profiles. Relations are of a sample of the rows, spread over the file."""

    source: DataSource
    columns: Mapping[str, ColumnProfile]
    sample: Sequence[Mapping[str, Any]]
    _texts: dict[str, list[str]] = field(default_factory=dict)
    _lifts: dict[tuple[str, str], float] = field(default_factory=dict)

    @classmethod
    def of(cls, source: DataSource) -> FileView:
        step = max(1, len(source.rows) // LOOKED_AT)
        return cls(source, {name: profile(source, name) for name in source.columns}, source.rows[::step])

    def texts(self, column: str) -> list[str]:
        """The cells of the sample as they are compared."""
        if column not in self._texts:
            held = [row.get(column) for row in self.sample]
            alone = [value[0] if isinstance(value, list) and len(value) == 1 else value for value in held]
            self._texts[column] = [" ".join(cell(value).casefold().split()) for value in alone]
        return self._texts[column]

    def is_text(self, column: str) -> bool:
        """Whether it holds a text of its own in each row."""
        held = self.columns[column]
        plain = not (held.lists or held.objects or held.sets) and held.numbers < 0.5
        return plain and held.words >= TEXT and held.distinct >= 0.5 * held.filled

    def found_in(self, column: str, around: str) -> float:
        """The share of rows in which a cell stands within that of another column, of those that have both."""
        pairs = [
            (part, whole)
            for part, whole in zip(self.texts(column), self.texts(around), strict=True)
            if part and whole and not is_missing(part)
        ]
        return sum(part in whole and part != whole for part, whole in pairs) / len(pairs) if pairs else 0.0

    def begins(self, column: str, other: str) -> bool:
        """Whether the texts of a column begin with those of another, in nearly every row."""
        pairs = [pair for pair in zip(self.texts(column), self.texts(other), strict=True) if all(pair)]
        return bool(pairs) and sum(whole.startswith(part) for whole, part in pairs) >= 0.9 * len(pairs)

    def is_around(self, column: str, other: str) -> bool:
        """Whether a column holds the texts of another in nearly every row: a text and its HTML, or its beginning."""
        pairs = [pair for pair in zip(self.texts(column), self.texts(other), strict=True) if all(pair)]
        return bool(pairs) and sum(part in whole for whole, part in pairs) >= 0.9 * len(pairs)

    def holds_markup(self, column: str) -> bool:
        texts = [text for text in self.texts(column) if text]
        return bool(texts) and sum("</" in text for text in texts) * 2 > len(texts)

    def lift(self, question: str, column: str) -> float:
        """How well the words of a question tell a label: 0 for chance, 1 for always."""
        if (question, column) not in self._lifts:
            pairs = [
                (asked, said)
                for asked, said in zip(self.texts(question), self.texts(column), strict=True)
                if asked and not is_missing(said)
            ]
            self._lifts[question, column] = told_by([asked for asked, _ in pairs], [said for _, said in pairs])
        return self._lifts[question, column]

    def row_lift(self, column: str, others: Collection[str]) -> float:
        """How well the other cells of a row tell a label, where rows are tables and hold no text."""
        held = [(row, said) for row, said in zip(self.sample, self.texts(column), strict=True) if not is_missing(said)]
        told = [
            " ".join(
                f"x{place}y{''.join(sign for sign in cell(row.get(other)) if sign.isalnum())}"
                for place, other in enumerate(others)
            )
            for row, _ in held
        ]
        return told_by(told, [said for _, said in held])

    def renamed(self, column: str, name: str) -> ColumnProfile:
        return replace(self.columns[column], name=name)
