"""The prompt that is proposed: what is asked, with what belongs to it, and how to answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from whet.envs.data.arguments import prompt_of
from whet.envs.data.checks import build_check
from whet.envs.data.columns import words_of
from whet.envs.data.look.base import DataProposal, Wishes
from whet.envs.data.look.beside import LONG
from whet.envs.data.look.clues import TELLS
from whet.envs.data.look.view import FileView
from whet.envs.data.look.vocabulary import ANSWER_WORDS, DOUBTFUL, RECORDS, needs_no_caption, within
from whet.envs.data.profile import ASKING, ColumnProfile, is_missing
from whet.envs.data.template import cell
from whet.errors import WhetError

LETTERS = "ABCDEFGHIJ"
SHAPING = (
    *("choices", "options", "called", "counts_from", "fields", "labels", "label_columns", "threshold", "tests"),
    *("entry", "source"),
)
"""Arguments of a check that its instruction depends on."""
YES_OR_NO = frozenset(("yes", "no", "true", "false", "y", "n", "t", "f", "0", "1"))
FEW = 5
"""Labels, of which more are seldom asked for by questions of many kinds."""
MOST_MISSING = 0.2
"""The share of rows that may have nothing to ask before it is doubtful that the column is the one."""


def propose_prompt(view: FileView, proposal: DataProposal, shown: Sequence[str], wishes: Wishes) -> None:
    """A template of the columns that are `shown`, the options of a row, and the form of the answer."""
    if wishes.prompt:
        proposal.assume("what is asked is your --prompt", prompt=wishes.prompt)
        return
    args, source = proposal.args, view.source
    own = {name: args[name] for name in SHAPING if name in args}
    check = build_check(args["check"], args.get("answer"), source.columns, own)
    listed = args.get("options") or []
    _tell_free_answers(view, proposal, shown[-1], wishes)
    _tell_left_out(view, proposal, shown)
    braced = next((column for column in shown if "{" in column or "}" in column), None)
    if braced is not None:
        raise WhetError(f"{source.name}, column {braced!r}: a name with braces cannot stand in a prompt; rename it")
    fields = [f"{{{column}}}" for column in shown]
    if len(shown) > 1 and not any(map(needs_no_caption, shown)):
        fields = [f"{column}: {{{column}}}" for column in shown]
    if listed:
        fields.append("\n".join(f"{letter}. {{{column}}}" for letter, column in zip(LETTERS, listed, strict=False)))
    fields += _what_is_so(args)
    _leave_out_unasked(view, proposal, shown)
    told = " and ".join(repr(column) for column in shown)
    are = "columns {} are" if len(shown) > 1 else "column {} is"
    proposal.assume(f"{are.format(told)} what is asked", prompt=prompt_of(fields, check, "reply"))


def _what_is_so(args: Mapping[str, Any]) -> list[str]:
    """The name of the answer as a question, where it is yes or no: the labels alone do not say of what."""
    labels = {str(label).lower() for label in args.get("choices", ())}
    words = words_of(args.get("answer", "").rpartition(".")[2])
    if not labels or not labels <= YES_OR_NO or not set(words) - ANSWER_WORDS - {"is", "gold"}:
        return []
    return [f"{' '.join(words).capitalize()}?"]


def _leave_out_unasked(view: FileView, proposal: DataProposal, shown: Sequence[str]) -> None:
    """Rows without anything to ask are left out aloud, where they are few."""
    rows, place = view.source.rows, view.source.place
    empty = [index for index, row in enumerate(rows) if all(is_missing(row.get(column)) for column in shown)]
    if empty and not proposal.args.get("skip_missing") and len(empty) <= MOST_MISSING * len(rows):
        proposal.args["skip_missing"] = True
        proposal.unsure.append(
            f"{len(empty)} of {len(rows)} rows have nothing to ask and are left out, as with --skip-missing; "
            f"the first is {place(empty[0])}: for more columns say --prompt"
        )


def _tell_left_out(view: FileView, proposal: DataProposal, shown: Sequence[str]) -> None:
    """Doubt where rows hold a text of their own, or turns of a conversation, that is not asked."""
    args = proposal.args
    hidden = {*proposal.taken, *args.get("options", ()), *args.get("label_columns", ()), *args.get("fields", ())}
    known_of = {*shown, *hidden, *(asked.rpartition(".")[0] for asked in shown)}
    for name, column in view.columns.items():
        if any(name == other or within(name, other) for other in known_of - {""}):
            continue
        if view.is_text(name) and any(view.is_around(other, name) or view.is_around(name, other) for other in shown):
            continue
        if column.words >= LONG and (column.lists == 1.0 or is_told(column, args["check"] == "choice")):
            kind = "lists of long texts" if column.lists else "a text in each row"
            fields = " ".join(f"{{{other}}}" for other in (name, *shown))
            proposal.unsure.append(
                f"column {name!r} holds {kind} and is not shown: if it is asked, say --prompt {fields!r}"
            )


def is_told(column: ColumnProfile, judged: bool) -> bool:
    """Whether it holds a text of its own in each row, by its name no record of the row.

    It may be called an answer where something is `judged`: the answer of a pupil, of which a label says if it is right.
    """
    named = set(words_of(column.name)) & (RECORDS | DOUBTFUL | (frozenset() if judged else ANSWER_WORDS))
    plain = not (column.lists or column.objects or column.sets) and column.missing < 0.5
    return plain and not named and column.words >= TELLS and column.distinct >= 0.9 * column.filled


def _tell_free_answers(view: FileView, proposal: DataProposal, question: str, wishes: Wishes) -> None:
    """Doubt many labels where each row asks a question of its own: they may be answers that come again by chance."""
    labels, rows = proposal.args.get("choices"), view.source.rows
    asks = sum(cell(row.get(question)).rstrip().endswith(ASKING) for row in rows)
    if isinstance(labels, list) and len(labels) > FEW and asks * 2 > len(rows) and not wishes.check:
        proposal.unsure.append(f"the {len(labels)} labels may be free answers to questions: say --check em")
