"""The check for multiple choice: one of a list of labels, or one of the options that a row lists."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from whet.envs.arguments import Argument
from whet.envs.data.checks.base import AnswerCheck, graded
from whet.envs.data.columns import known
from whet.envs.data.forms import one_of
from whet.envs.data.template import cell
from whet.errors import WhetError, nearest
from whet.types import Score, Shape, failed

_AROUND = " \t\r\n.,;:!?\"'`*_()[]<>"


class ChoiceCheck(AnswerCheck):
    """`choices` is the list of labels, or the column that holds a row's own options, lettered A, B, C in the prompt.

    Where each option has a column, `options` names them in the order of their letters.
    """

    chooses = True
    takes = (
        Argument("choices", list[str] | str, [], "labels to choose from, or the column with a row's options"),
        Argument("options", list[str], [], "columns that hold one option each, for A, B, C in this order"),
        Argument("called", str, "", "column with what a row calls its options (A, B or 1, 2), if the answer is one"),
        Argument("counts_from", int, 0, "number of the first option, where the answer is the number of one"),
    )

    def __init__(self, answer: str | None, columns: Sequence[str], own: Mapping[str, Any]) -> None:
        super().__init__(answer, columns, own)
        given = self.own["choices"]
        self.column = known(given, columns, "choices") if isinstance(given, str) else None
        self.listed = [known(column, columns, "options") for column in self.own["options"]]
        if self.listed and (given or len(self.listed) < 2):
            raise WhetError("options: name the columns of two or more options, and leave choices out")
        self.called = known(self.own["called"], columns, "called") if self.own["called"] else None
        if self.own["counts_from"] not in (0, 1):
            raise WhetError(f"counts_from: {self.own['counts_from']} is neither 0 nor 1")
        self.lettered = self.column is not None or bool(self.listed)
        self.labels = [] if self.lettered else [str(label).strip() for label in given]
        folded = [same_label(label) for label in self.labels]
        if not self.lettered and (len(set(folded)) < 2 or not all(folded)):
            raise WhetError('choices: give at least two labels, as in -a choices=\'["yes", "no"]\', or a column')
        if len(set(folded)) < len(folded):
            raise WhetError(f"choices: {self.labels} names a label twice, upper and lower case being the same")

    @property
    def optional_fields(self) -> tuple[str, ...]:
        return () if self.column is None else (self.column,)

    def stratum(self, truth: Any) -> str:
        return str(truth["right"])

    def instruction(self) -> str:
        if self.lettered:
            return "Reply with the letter of one option."
        return f"Reply with exactly one of: {', '.join(self.labels)}"

    def shown(self, row: Mapping[str, Any]) -> Mapping[str, str]:
        if self.column is None:
            return {}
        options = [cell(option) for option in row[self.column]]
        lines = (f"{letter}. {option}" for letter, option in zip(string.ascii_uppercase, options, strict=False))
        return {self.column: "\n".join(lines)}

    def truth(self, row: Mapping[str, Any], place: str) -> Any:
        """The place of the right one among the options, and the options."""
        assert self.answer is not None
        options = self._options(row, place)
        value = row.get(self.answer)
        if isinstance(value, list) and len(value) == 1:
            (value,) = value  # as labelling tools write one label
        right = self._named(value, row, len(options))
        if right is None:
            right = _index(value, options, lettered=self.lettered, first=self.own["counts_from"])
        if right is None:
            hint = nearest(cell(value), options) or f" They are: {', '.join(options)[:200]}."
            raise WhetError(f"{place}, column {self.answer!r}: {cell(value)[:60]!r} is not among the choices.{hint}")
        return {"right": right, "options": options}

    def _named(self, value: Any, row: Mapping[str, Any], count: int) -> int | None:
        """The place of the option that the row calls so, where it calls its options by names of its own."""
        names = row.get(self.called) if self.called is not None else None
        called = [same_label(cell(name)) for name in names] if isinstance(names, list) else []
        text = same_label(cell(value))
        return called.index(text) if text in called[:count] else None

    def _options(self, row: Mapping[str, Any], place: str) -> list[str]:
        if self.listed:
            options = [cell(row.get(column)).strip() for column in self.listed]
            return options[: max((place for place, option in enumerate(options, 1) if option), default=0)]
        if self.column is None:
            return self.labels
        value = row.get(self.column)
        if not isinstance(value, list) or not 2 <= len(value) <= 26:
            raise WhetError(f"{place}, column {self.column!r}: choices must be a list of 2 to 26 options")
        return [cell(option).strip() for option in value]

    def oracle(self, truth: Any) -> str | None:
        right = truth["right"]
        return string.ascii_uppercase[right] if self.lettered else str(truth["options"][right])

    def expected(self, truth: Any) -> str:
        right = truth["right"]
        return f"{string.ascii_uppercase[right]}. {truth['options'][right]}" if self.column else truth["options"][right]

    def shape(self, row: Mapping[str, Any], place: str) -> Shape | None:
        options = self._options(row, place)
        return one_of(string.ascii_uppercase[: len(options)] if self.lettered else options)

    def verdict(self, truth: Any, said: str) -> str | None:
        named = chosen(said, truth["options"], lettered=self.lettered)
        return str(truth["options"][named.pop()]) if len(named) == 1 else None

    def right(self, truth: Any) -> str:
        return str(truth["options"][truth["right"]])

    def score(self, truth: Any, said: str) -> Score:
        find = begun if self.constrain else chosen
        named = find(said, truth["options"], lettered=self.lettered)
        if not named:
            return failed("no_choice", f"none of the choices in {said[:80]!r}")
        if len(named) > 1:
            return failed("ambiguous", f"{len(named)} of the choices in {said[:80]!r}")
        return graded(float(named == {truth["right"]}), said)


def begun(said: str, options: Sequence[str], lettered: bool = False) -> set[int]:
    """Which option a reply begins with, the longest where several do: what is read where a decoder was not held."""
    text = said[:2000].lstrip(_AROUND).casefold()
    marks = list(string.ascii_lowercase[: len(options)]) if lettered else [same_label(option) for option in options]
    found = [place for place, mark in enumerate(marks) if re.match(rf"{re.escape(mark)}(?!\w)", text)]
    return {max(found, key=lambda place: len(marks[place]))} if found else set()


def chosen(said: str, options: Sequence[str], lettered: bool = False) -> set[int]:
    """Which options a reply names: it is one, it begins with one, or one stands in it as words of their own."""
    folded = [same_label(option) for option in options]
    whole = same_label(said[:2000])
    if whole in folded:
        return {folded.index(whole)}
    letters = list(string.ascii_lowercase[: len(options)]) if lettered else []
    marks = folded if all(len(option) == 1 for option in folded) else letters
    if marks:
        marked = _marked(said, marks)
        if marked is not None:
            return {marked}
    text = said[:20_000].casefold()
    found = {place for place, option in enumerate(folded) if len(option) > 1 and _as_words(option, text)}
    return {place for place in found if not any(place != other and folded[place] in folded[other] for other in found)}


def _marked(said: str, marks: Sequence[str]) -> int | None:
    """A letter counts where it is marked as the answer: alone, as `B.` or `(B)` at the start, or after `answer`."""
    letter = f"([{''.join(re.escape(mark) for mark in marks)}])"
    text = said.strip()[:20_000]
    alone = re.fullmatch(rf"\W*{letter}\W*", text, re.IGNORECASE)
    first = re.match(rf"[\s*_(\[]*{letter}[\s*_]*[.):\]]", text, re.IGNORECASE)
    told = re.findall(rf"answer(?:\s+is)?\W{{1,6}}{letter}\b", text, re.IGNORECASE)
    found = alone[1] if alone else first[1] if first else told[-1] if told else None
    return None if found is None else marks.index(found.casefold())


def _as_words(option: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(option)}(?!\w)", text) is not None


def _index(value: Any, options: Sequence[str], lettered: bool, first: int = 0) -> int | None:
    """Which option the answer column means: by text, and for a row's own options also by letter or by number."""
    text = same_label(cell(value))
    folded = [same_label(option) for option in options]
    if text in folded:
        return folded.index(text)
    if lettered and len(text) == 1 and text in string.ascii_lowercase[: len(options)]:
        return string.ascii_lowercase.index(text)
    if lettered and text.isascii() and text.isdigit() and 0 <= int(text) - first < len(options):
        return int(text) - first
    return None


def same_label(text: str) -> str:
    """A label without what does not tell it from another: case, spacing, marks around it, how letters are composed."""
    text = unicodedata.normalize("NFC", text)
    return " ".join(text.casefold().strip(_AROUND).split()) or text.strip()
