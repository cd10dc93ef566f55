"""A look at a file nobody has described: what seems to be asked, what the answer is, and how to check it.

Every column is judged by its name, by all of its cells and by how they stand to those of other columns; all pairs of a
question and an answer are weighed, beside labels that have a column each and fields that stand in a text. A proposal is
arguments for a `data` environment, with a line for each thing that was assumed and one for each that could as well be
otherwise, to be mended with an option.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from whet.envs.data.checks import check_named
from whet.envs.data.columns import ID_WORDS, known, words_of
from whet.envs.data.conversation import whole_of
from whet.envs.data.look.base import DataProposal, Wishes
from whet.envs.data.look.beside import asked_together
from whet.envs.data.look.check import propose_check
from whet.envs.data.look.pairs import ColumnGuess, guess, is_answer_by_name
from whet.envs.data.look.prompt import propose_prompt
from whet.envs.data.look.roles import propose_identity, propose_kinds, propose_splits, split_column
from whet.envs.data.look.several import fields_among, marks_among
from whet.envs.data.look.view import FileView
from whet.envs.data.profile import is_missing, label_sets
from whet.envs.data.source import DataSource
from whet.envs.data.template import Template
from whet.errors import WhetError

__all__ = ["DataProposal", "Wishes", "propose"]

MOST_MISSING = 0.2
"""The share of rows that may lack an answer before it is doubtful that their column is the one."""

UNLABELLED = 0.5
"""The share of rows that may lack it where the column is called an answer: the rest is labelled."""


def propose(source: DataSource, wishes: Wishes = Wishes()) -> DataProposal:
    """What to make of `source`; a `WhetError` where it holds no question and answer to speak of."""
    if len(source.columns) < 2:
        raise WhetError(f"{source.name}: has one column, {source.columns[0]!r}; a question and an answer take two")
    _refuse_unknown(source, wishes)
    view, proposal = FileView.of(source), DataProposal()
    propose_identity(view, proposal, wishes)
    asked = Template.parse(wishes.prompt, source.columns).columns if wishes.prompt else ()
    if wishes.answer in asked:
        raise WhetError(f"--prompt shows {wishes.answer!r}, which is the answer; leave it out")
    splits = split_column(view, proposal.taken)
    found = guess(view, {*proposal.taken, *([splits] if splits else ())}, wishes.answer, asked)
    found = replace(found, question=whole_of(found.question, found.answer, view.columns))
    marks = marks_among(view, proposal.taken, found, wishes)
    fields = [] if marks else fields_among(view, proposal.taken, found, wishes)
    hidden = marks or fields or [found.answer]
    shown = _shown(view, proposal, found, hidden, asked)
    propose_splits(view, proposal, wishes, {*hidden, *shown})
    propose_kinds(view, proposal, {*hidden, *shown})
    if marks:
        _assume_marks(proposal, marks)
    elif fields:
        _assume_parts(view, proposal, fields, found)
    else:
        _propose_answer(source, proposal, found, wishes)
        propose_check(view, proposal, wishes, found.question, found.options, shown)
    options = {*proposal.args.get("options", ()), *([proposal.args.get("choices")] if found.options else ())}
    propose_prompt(view, proposal, [name for name in shown if name not in options], wishes)
    return proposal


def _shown(
    view: FileView, proposal: DataProposal, found: ColumnGuess, hidden: Sequence[str], asked: Sequence[str]
) -> list[str]:
    """The columns that are asked: those that the user named, all of a table, or a text with what belongs to it."""
    if asked:
        return list(asked)
    options = [name for name in view.columns if found.options is not None and found.options.holds(name)]
    taken = {*proposal.taken, *hidden, *options}
    if found.is_table:
        columns = {name: view.columns[name] for name in view.source.columns if name not in taken}
        named = [name for name in columns if set(words_of(name)) & ID_WORDS]
        return [
            name
            for name, held in columns.items()
            if name not in named
            and not (held.constant or held.counts or (held.is_token and held.numbers < 0.5) or held.addresses)
        ]
    return asked_together(view, found.question, taken, hidden[0])


def _refuse_unknown(source: DataSource, wishes: Wishes) -> None:
    for option, column in (("--answer", wishes.answer), ("--id", wishes.id), ("--group", wishes.group)):
        if column:
            known(column, source.columns, option)
    if wishes.check:
        check_named(wishes.check)


def _assume_marks(proposal: DataProposal, marks: Sequence[str]) -> None:
    proposal.answer_length = sum(len(mark) + 2 for mark in marks)
    told = f"each of {', '.join(marks)} is a label that may apply: solved when all that do are named and no other"
    proposal.assume(told, check="set", label_columns=list(marks))
    proposal.unsure.append(f"{len(marks)} columns are read as labels: for one of them alone say --answer COLUMN")


def _assume_parts(view: FileView, proposal: DataProposal, fields: Sequence[str], found: ColumnGuess) -> None:
    proposal.answer_length = sum(len(name) + view.columns[name].longest + 8 for name in fields)
    told = f"{', '.join(fields)} stand in {found.question!r} and are to be found there: a JSON object, field by field"
    proposal.assume(told, check="json", fields=list(fields))
    proposal.unsure.append(f"{len(fields)} columns are read as fields: for one of them alone say --answer COLUMN")


def _propose_answer(source: DataSource, proposal: DataProposal, found: ColumnGuess, wishes: Wishes) -> None:
    answer = wishes.answer or found.answer
    said = ", as you said" if wishes.answer else ""
    proposal.assume(f"the answer is in column {answer!r}{said}", answer=answer)
    if found.rivals and not wishes.answer:
        proposal.rivals = (answer, *found.rivals)
        others = " or ".join(repr(column) for column in found.rivals[:3])
        proposal.unsure.append(f"the answer may as well be {others}: say --answer COLUMN")
    missing = [index for index, row in enumerate(source.rows) if is_missing(row.get(answer))]
    if missing and wishes.skip_missing:
        told = f"{len(missing)} rows without an answer are left out, as you said"
        proposal.assume(told, skip_missing=True)
    elif missing and not (wishes.check == "set" or _sets_of(source, answer)):
        few = len(missing) <= MOST_MISSING * len(source.rows)
        if few or (is_answer_by_name(answer) and len(missing) < UNLABELLED * len(source.rows)):
            proposal.args["skip_missing"] = True
            proposal.unsure.append(
                f"{len(missing)} of {len(source.rows)} rows have no answer and are left out, as with --skip-missing; "
                f"the first is {source.place(missing[0])}"
            )
            return
        first = source.place(missing[0])
        raise WhetError(
            f"{first}, column {answer!r}: there is no answer ({len(missing)} of {len(source.rows)} rows have none); "
            "leave them out with --skip-missing, or name another column with --answer"
        )


def _sets_of(source: DataSource, answer: str) -> bool:
    """Whether cells are lists of labels, of which an empty one is an answer too."""
    cells = [row.get(answer) for row in source.rows]
    found = label_sets(cells, answer)
    return found is not None and not found.separator
