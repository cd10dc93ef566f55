"""A look at a file nobody has described: what seems to be asked, what the answer is, and how to check it.

A proposal is arguments for a `data` environment, with a line for each thing that was assumed, so that it can be mended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from whet.envs.data import columns as names
from whet.envs.data.arguments import prompt_of
from whet.envs.data.checks import build_check
from whet.envs.data.checks.number import last_number
from whet.envs.data.columns import obvious
from whet.envs.data.source import SIDES, DataSource
from whet.envs.data.template import cell
from whet.errors import WhetError

MOST_CLASSES = 20
ROWS_A_CLASS = 3
"""An answer column with at most so many values, each seen this often on average, is a choice among them."""

OPTIONS = ("options", "choices")
CONTEXTS = ("context", "passage", "document", "article", "background")
LETTERS = "ABCDEFGH"


@dataclass(slots=True)
class DataProposal:
    """Arguments for the environment, why they are what they are, and how long answers get."""

    args: dict[str, Any] = field(default_factory=dict)
    assumed: list[str] = field(default_factory=list)
    answer_length: int = 0

    def assume(self, why: str, **args: Any) -> None:
        self.args.update(args)
        self.assumed.append(why)

    @property
    def taken(self) -> set[str]:
        return {value for value in self.args.values() if isinstance(value, str)}


def propose(source: DataSource) -> DataProposal:
    """What to make of `source`; a `WhetError` where it holds no question and answer to speak of."""
    if len(source.columns) < 2:
        raise WhetError(f"{source.name}: has one column, {source.columns[0]!r}; a question and an answer take two")
    proposal = DataProposal()
    _propose_roles(source, proposal)
    _propose_splits(source, proposal)
    answer = _answer_column(source, proposal)
    question = obvious(source.columns, names.QUESTIONS, {*proposal.taken, answer}) or _longest(source, proposal, answer)
    proposal.assume(f"the answer is in column {answer!r}", answer=answer)
    _propose_check(source, proposal, answer)
    _propose_prompt(source, proposal, question, answer)
    return proposal


def _values(source: DataSource, column: str) -> list[str]:
    return [cell(row.get(column)).strip() for row in source.rows]


def _propose_roles(source: DataSource, proposal: DataProposal) -> None:
    rows = len(source.rows)
    identity = obvious(source.columns, names.IDS)
    if identity is not None:
        values = _values(source, identity)
        if all(values) and len(set(values)) == rows:
            proposal.assume(f"column {identity!r} names the rows", id=identity)
    images = obvious(source.columns, names.IMAGES, proposal.taken)
    if images is not None:
        proposal.assume(f"column {images!r} holds paths of images", images=images)
    for role, known, most in (("kind", names.KINDS, MOST_CLASSES), ("difficulty", names.DIFFICULTIES, MOST_CLASSES)):
        column = obvious(source.columns, known, proposal.taken)
        if column is not None and 1 < len(set(_values(source, column))) <= most:
            proposal.assume(f"column {column!r} holds the {role} of a task", **{role: column})


def _propose_splits(source: DataSource, proposal: DataProposal) -> None:
    if source.sides is not None:
        proposal.assumed.append("the folder gives the splits")
        return
    column = obvious(source.columns, names.SPLIT_COLUMNS, proposal.taken)
    if column is not None and all(value.casefold() in SIDES for value in _values(source, column)):
        proposal.assume(f"column {column!r} gives the splits", split=column)
        return
    group = obvious(source.columns, names.GROUPS, proposal.taken)
    if group is not None and 6 <= len(set(_values(source, group))) < len(source.rows):
        proposal.assume(f"rows with the same {group!r} stay on one side of the splits", group=group)
    proposal.assume("half of the rows are for training, a quarter each for select and test", split=[0.5, 0.25, 0.25])


def _answer_column(source: DataSource, proposal: DataProposal) -> str:
    found = obvious(source.columns, names.ANSWERS, proposal.taken)
    if found is not None:
        return found
    question = obvious(source.columns, names.QUESTIONS, proposal.taken)
    left = [column for column in source.columns if column not in proposal.taken and column != question]
    if not left:
        raise WhetError(f"{source.name}: no column looks like an answer; the columns are {', '.join(source.columns)}")
    return min(reversed(left), key=lambda column: sum(map(len, _values(source, column))))


def _longest(source: DataSource, proposal: DataProposal, answer: str) -> str:
    left = [column for column in source.columns if column not in proposal.taken and column != answer]
    if not left:
        raise WhetError(f"{source.name}: no column looks like a question; the columns are {', '.join(source.columns)}")
    return max(left, key=lambda column: sum(map(len, _values(source, column))))


# --------------------------------------------------------------------------------------------- the check


def _propose_check(source: DataSource, proposal: DataProposal, answer: str) -> None:
    cells = [row.get(answer) for row in source.rows]
    values = [cell(value).strip() for value in cells]
    empty = next((place for place, value in enumerate(values) if not value), None)
    if empty is not None:
        raise WhetError(f"{source.place(empty)}, column {answer!r}: there is no answer")
    proposal.answer_length = max(map(len, values))
    classes = sorted(set(values), key=values.index)
    options = obvious(source.columns, OPTIONS, proposal.taken)
    if options is not None and all(isinstance(row.get(options), list) for row in source.rows):
        proposal.assume(f"the answer is one of the options in column {options!r}", check="choice", choices=options)
    elif all(isinstance(value, list) for value in cells):
        proposal.assume("a row lists several accepted answers, compared as EM does", check="em")
    elif all(_is_object(value) for value in cells):
        proposal.assume("the answer is a JSON object, compared field by field", check="json")
    elif 1 < len(classes) <= min(MOST_CLASSES, len(values) // ROWS_A_CLASS) and proposal.answer_length <= 40:
        proposal.assume(f"the answer is one of {len(classes)} labels", check="choice", choices=sorted(classes))
    elif all(last_number(value, whole=True) is not None for value in values):
        proposal.assume("the answer is a number", check="number")
    else:
        _propose_text_check(proposal, values)


def _propose_text_check(proposal: DataProposal, values: Sequence[str]) -> None:
    words = sum(len(value.split()) for value in values) / len(values)
    if words <= 4:
        proposal.assume("answers are a few words: EM, without case, punctuation and articles", check="em")
    elif words <= 25:
        proposal.assume("answers are a sentence: F1 over words, solved from 0.8", check="f1", threshold=0.8)
    else:
        why = "answers are long: F1 over words is weak for them; better a python check or a rubric"
        proposal.assume(why, check="f1", threshold=0.6)


def _is_object(value: Any) -> bool:
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = orjson.loads(value)
        except ValueError:
            return False
    return isinstance(value, dict) and bool(value)


def _propose_prompt(source: DataSource, proposal: DataProposal, question: str, answer: str) -> None:
    own: dict[str, Any] = {name: proposal.args[name] for name in ("choices", "threshold") if name in proposal.args}
    check = build_check(proposal.args["check"], answer, source.columns, own)
    context = obvious(source.columns, CONTEXTS, {*proposal.taken, question})
    lettered = [letter for letter in LETTERS if letter in source.columns]
    fields = [f"{{{context}}}"] if context else []
    fields.append(f"{{{question}}}")
    if len(lettered) > 1:
        fields.append("\n".join(f"{letter}. {{{letter}}}" for letter in lettered))
    proposal.assume(f"column {question!r} is what is asked", prompt=prompt_of(fields, check, "reply"))
