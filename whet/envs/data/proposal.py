"""A look at a file nobody has described: what seems to be asked, what the answer is, and how to check it.

Every column is judged by its name and by all of its cells. A proposal is arguments for a `data` environment, with a
line for each thing that was assumed and one for each that could as well be otherwise, to be mended with an option.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard

import orjson

from whet.envs.data import columns as names
from whet.envs.data.arguments import prompt_of
from whet.envs.data.checks import build_check, check_named
from whet.envs.data.checks.choice import same_label
from whet.envs.data.checks.code import stands_alone
from whet.envs.data.checks.quantity import is_quantity
from whet.envs.data.checks.spans import span_of
from whet.envs.data.columns import known, obvious
from whet.envs.data.conversation import whole_of
from whet.envs.data.guess import (
    ANSWER_WORDS,
    LONG,
    ColumnGuess,
    asked_together,
    guess,
    is_told,
    needs_no_caption,
    options_among,
    picks_option,
    within,
)
from whet.envs.data.profile import (
    ASKING,
    ColumnProfile,
    is_code,
    is_mark,
    is_missing,
    label_sets,
    profile,
    word_count,
    words_of,
)
from whet.envs.data.source import SIDES, DataSource
from whet.envs.data.template import Template, cell
from whet.errors import WhetError
from whet.types import SPLITS, Split

OPTIONS = ("options", "choices", "alternatives", "candidates", "choices.text", "options.text")
TESTS, ENTRIES = ("tests", "test_list", "test", "unit_tests", "assertions"), ("entry_point", "entry", "function_name")
MOST_CLASSES = 20
LETTERS = "ABCDEFGH"
SHAPING = (
    *("choices", "options", "called", "counts_from", "fields", "labels", "label_columns", "threshold", "tests"),
    *("entry", "source"),
)
"""Arguments of a check that its instruction depends on."""
LEAST_MARKS = 3
"""Columns of true and false that make labels; two may well be two questions."""
FEW = 5
"""Labels, of which more are seldom asked for by questions of many kinds."""
SELECT = 0.33
"""The share of train rows that is taken for select where given splits name none."""
MOST_MISSING = 0.2
"""The share of rows that may lack an answer before it is doubtful that their column is the one."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user has said about the file; the rest is looked for."""

    answer: str = ""
    prompt: str = ""
    id: str = ""
    group: str = ""
    check: str = ""
    skip_missing: bool = False


@dataclass(slots=True)
class DataProposal:
    """Arguments for the environment, why they are what they are, and how long answers get."""

    args: dict[str, Any] = field(default_factory=dict)
    assumed: list[str] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)
    """What could as well be otherwise, and the option that says so."""
    rivals: tuple[str, ...] = ()
    """Columns that the answer may be in, the likeliest first, where that is in doubt."""
    answer_length: int = 0

    def assume(self, why: str, **args: Any) -> None:
        self.args.update(args)
        self.assumed.append(why)

    @property
    def taken(self) -> set[str]:
        return {value for value in self.args.values() if isinstance(value, str)}


def propose(source: DataSource, wishes: Wishes = Wishes()) -> DataProposal:
    """What to make of `source`; a `WhetError` where it holds no question and answer to speak of."""
    if len(source.columns) < 2:
        raise WhetError(f"{source.name}: has one column, {source.columns[0]!r}; a question and an answer take two")
    _refuse_unknown(source, wishes)
    columns = {column: profile(source, column) for column in source.columns}
    proposal = DataProposal()
    _propose_roles(source, columns, proposal, wishes)
    _propose_splits(source, columns, proposal, wishes)
    asked = Template.parse(wishes.prompt, source.columns).columns if wishes.prompt else ()
    if wishes.answer in asked:
        raise WhetError(f"--prompt shows {wishes.answer!r}, which is the answer; leave it out")
    found = guess(source, columns, proposal.taken, wishes.answer, asked)
    found = replace(found, question=whole_of(found.question, found.answer, columns))
    marks = _marks(source, proposal, found, wishes)
    if marks:
        _assume_marks(proposal, marks)
    else:
        _propose_answer(source, proposal, found, wishes)
        _propose_check(source, columns, proposal, wishes, found.question)
    _propose_prompt(source, columns, proposal, found.question, wishes)
    return proposal


def _refuse_unknown(source: DataSource, wishes: Wishes) -> None:
    for option, column in (("--answer", wishes.answer), ("--id", wishes.id), ("--group", wishes.group)):
        if column:
            known(column, source.columns, option)
    if wishes.check:
        check_named(wishes.check)


# --------------------------------------------------------------------------------------------- roles and splits


def _propose_roles(
    source: DataSource, columns: Mapping[str, ColumnProfile], proposal: DataProposal, wishes: Wishes
) -> None:
    identity = wishes.id or obvious(source.columns, names.IDS)
    if wishes.id:
        proposal.assume(f"column {identity!r} names the rows, as you said", id=identity)
    elif identity is not None and columns[identity].unique and not columns[identity].missing:
        proposal.assume(f"column {identity!r} names the rows", id=identity)
    images = obvious(source.columns, names.IMAGES, proposal.taken)
    if images is not None and images != wishes.answer and columns[images].filled:
        proposal.assume(f"column {images!r} holds paths of images", images=images)
    for role, known_names in (("kind", names.KINDS), ("difficulty", names.DIFFICULTIES)):
        column = obvious(source.columns, known_names, {*proposal.taken, wishes.answer})
        if column is not None and 1 < columns[column].distinct <= MOST_CLASSES and not columns[column].missing:
            proposal.assume(f"column {column!r} holds the {role} of a task", **{role: column})


def _propose_splits(
    source: DataSource, columns: Mapping[str, ColumnProfile], proposal: DataProposal, wishes: Wishes
) -> None:
    if source.sides is not None:
        proposal.assumed.append("the folder gives the splits")
        _fill_sides(proposal, set(source.sides), "the folder")
        return
    column = obvious(source.columns, names.SPLIT_COLUMNS, proposal.taken)
    if column is not None and all(cell(row.get(column)).strip().casefold() in SIDES for row in source.rows):
        proposal.assume(f"column {column!r} gives the splits", split=column)
        given = {SIDES[cell(row.get(column)).strip().casefold()] for row in source.rows}
        _fill_sides(proposal, given, f"column {column!r}")
        return
    group = wishes.group or _group(source, columns, proposal, wishes)
    if group is not None:
        said = ", as you said" if wishes.group else ""
        proposal.assume(f"rows with the same {group!r} stay on one side of the splits{said}", group=group)
    proposal.assume("half of the rows are for training, a quarter each for select and test", split=[0.5, 0.25, 0.25])


def _fill_sides(proposal: DataProposal, given: Collection[Split], who: str) -> None:
    """Select rows out of train where given splits name none, as published data seldom does; other gaps are told."""
    if "select" not in given and "train" in given:
        proposal.assume(f"{who} names no rows for select (val): a third of the train rows are taken", select=SELECT)
    for side in SPLITS:
        if side not in given and side != "select":
            proposal.unsure.append(f"{who} names no {side} rows, which `whet train` needs: add some to the data")


def _group(
    source: DataSource, columns: Mapping[str, ColumnProfile], proposal: DataProposal, wishes: Wishes
) -> str | None:
    """A column by whose values rows belong together: named so, or an id that comes again; each value on a few rows."""
    free = [column for column in source.columns if column not in {*proposal.taken, wishes.answer}]
    named = obvious(free, names.GROUPS)
    ids = [column for column in free if set(words_of(column)) & names.ID_WORDS]
    ids += [column for column in free if names.GROUP_WORDS & set(words_of(column)[-1:])]
    for column in ([named] if named is not None else []) + ids:
        found = columns[column]
        if not found.missing and 6 <= found.distinct < len(source.rows):
            return column
    return None


# --------------------------------------------------------------------------------------------- the answer


def _marks(source: DataSource, proposal: DataProposal, found: ColumnGuess, wishes: Wishes) -> list[str]:
    """Columns that each say of one label whether it applies, where the answer seems to be one of several such."""
    if wishes.answer or wishes.check not in ("", "set"):
        return []
    free = [column for column in source.columns if column not in {*proposal.taken, found.question}]
    marks = [column for column in free if is_mark([row.get(column) for row in source.rows])]
    named = set(words_of(found.answer)) & ANSWER_WORDS
    return marks if found.answer in marks and len(marks) >= LEAST_MARKS and not named else []


def _assume_marks(proposal: DataProposal, marks: Sequence[str]) -> None:
    proposal.answer_length = sum(len(mark) + 2 for mark in marks)
    told = f"each of {', '.join(marks)} is a label that may apply: solved when all that do are named and no other"
    proposal.assume(told, check="set", label_columns=list(marks))
    proposal.unsure.append(f"{len(marks)} columns are read as labels: for one of them alone say --answer COLUMN")


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
        if len(missing) <= MOST_MISSING * len(source.rows) and not proposal.rivals:
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
    """Whether cells are lists, of which an empty one is an answer too."""
    return any(isinstance(row.get(answer), list) for row in source.rows)


def _propose_check(
    source: DataSource, columns: Mapping[str, ColumnProfile], proposal: DataProposal, wishes: Wishes, question: str
) -> None:
    answer: str = proposal.args["answer"]
    cells = [row.get(answer) for row in source.rows if not is_missing(row.get(answer))]
    values = [cell(value).strip() for value in cells]
    if not values:
        raise WhetError(f"{source.name}, column {answer!r}: there is no answer in any row; name another with --answer")
    proposal.answer_length = max(map(len, values))
    if wishes.check:
        _take_check(source, columns, proposal, wishes.check, cells)
        return
    options = _options_column(source, columns, proposal)
    listed = options_among(source.columns, {answer})
    column, found = columns[answer], label_sets(cells, answer)
    if options is not None:
        told = f"the answer is one of the options in column {options!r}"
        proposal.assume(told, check="choice", choices=options, **_calling(source, proposal, options))
    elif listed and picks_option(source, listed, answer):
        told = f"the answer is one of the options in {', '.join(listed)}"
        proposal.assume(told, check="choice", options=list(listed), **_counting(source, answer, listed))
    elif found is not None and (not found.separator or not column.is_categorical):
        _assume_set(proposal, found.labels, found.separator)
    elif (tests := _tests_column(source, answer)) is not None:
        _assume_tests(source, proposal, tests, cells)
    elif column.lists == 1.0 and (labels := _span_labels(source, cells, question)) is not None:
        known_labels: dict[str, Any] = {"labels": labels} if 0 < len(labels) <= MOST_CLASSES else {}
        told = f"the answer is spans of {question!r}, compared by their words and labels"
        proposal.assume(told, check="spans", source=question, **known_labels)
    elif column.lists == 1.0 and column.is_categorical and all(_is_single(value) for value in cells):
        _assume_labels(proposal, [cell(value[0] if _is_single(value) else value).strip() for value in cells])
    elif column.lists == 1.0:
        proposal.assume("a row lists several accepted answers, compared as EM does", check="em")
        objects = any(isinstance(part, dict) for value in cells for part in value or [])
        proposal.unsure.append(
            "a row's answer is a list of objects, any of which counts as right: say --check python, with a function "
            "that compares them all"
            if objects
            else "each of a row's listed answers counts as right: for all of them at once say --check set"
        )
    elif all(held := [_object_in(value) for value in cells]):
        _assume_fields(proposal, held)
    elif column.is_categorical:
        _assume_labels(proposal, values)
    elif column.numbers == 1.0:
        proposal.assume("the answer is a number", check="number")
    elif all(map(is_quantity, values)):
        proposal.assume("the answer is a number with a unit, right in any unit of its kind", check="quantity")
    elif sum(is_code(cell(value)) for value in cells) * 2 > len(cells):
        proposal.assume("answers look like code, in which every sign counts: exactly the same text", check="exact")
        proposal.unsure.append("code can be right in other words: say --check command (runs it) or --check python")
    else:
        _propose_text_check(proposal, values)


def _tests_column(source: DataSource, answer: str) -> str | None:
    """A column of assertions, where there is one beside code."""
    column = obvious(source.columns, TESTS, {answer})
    held = [row.get(column) for row in source.rows] if column is not None else []
    return column if held and all("assert" in cell(value) for value in held) else None


def _assume_tests(source: DataSource, proposal: DataProposal, tests: str, cells: Sequence[Any]) -> None:
    entry = obvious(source.columns, ENTRIES, proposal.taken)
    more = {"entry": entry} if entry is not None else {}
    proposal.assume(f"the answer is code, which the tests in column {tests!r} call", check="code", tests=tests, **more)
    if not all(stands_alone(cell(value)) for value in cells):
        proposal.unsure.append(
            "the right code goes on from what is asked, and replies are to hold it whole: for the same text say "
            "--check exact"
        )


def _span_labels(source: DataSource, cells: Sequence[Any], question: str) -> list[str] | None:
    """The labels of cells that are lists of spans of the question; None where some cell is no such list."""
    texts = [cell(row.get(question)) for row in source.rows if not is_missing(row.get(question))]
    longest = max(texts, key=len, default="")
    parts = [part for value in cells for part in value]
    if not all(isinstance(part, dict | list) for part in parts):
        return None
    spans = [span_of(part, longest) for part in parts]
    labels = {span[1] for span in spans if span is not None and span[1]}
    return sorted(labels) if None not in spans and labels else None


def _take_check(
    source: DataSource, columns: Mapping[str, ColumnProfile], proposal: DataProposal, check: str, cells: Sequence[Any]
) -> None:
    """The check that the user named, with what it needs of the file."""
    if check == "choice":
        listed = options_among(source.columns, proposal.taken)
        options = _options_column(source, columns, proposal)
        told = "the answer is checked by choice, as you said"
        if options is not None:
            proposal.assume(told, check="choice", choices=options, **_calling(source, proposal, options))
        elif listed:
            more = _counting(source, proposal.args["answer"], listed)
            proposal.assume(told, check="choice", options=list(listed), **more)
        else:
            _assume_labels(proposal, [cell(value[0] if _is_single(value) else value).strip() for value in cells])
    elif check == "code" and (tests := obvious(source.columns, TESTS)):
        _assume_tests(source, proposal, tests, cells)
    elif check == "set" and (found := label_sets(cells, proposal.args["answer"])):
        _assume_set(proposal, found.labels, found.separator)
    else:
        proposal.assume(f"the answer is checked by {check}, as you said", check=check)


def _options_column(source: DataSource, columns: Mapping[str, ColumnProfile], proposal: DataProposal) -> str | None:
    """The column in which each row lists its own options."""
    lists = [name for name, column in columns.items() if column.lists == 1.0 and not column.missing]
    return obvious(lists, OPTIONS, proposal.taken)


def _calling(source: DataSource, proposal: DataProposal, options: str) -> dict[str, Any]:
    """How answers call the options of their row: by the names in a list beside them, or by a number from 0 or 1."""
    answer, stem = proposal.args["answer"], options.rpartition(".")[0]
    for called in (f"{stem}.{name}" for name in ("label", "labels", "key", "keys") if stem):
        names = [(row.get(called), row.get(answer)) for row in source.rows if not is_missing(row.get(answer))]
        if all(isinstance(known_by, list) and right in known_by for known_by, right in names):
            return {"called": called}
    counts = [len(row[options]) for row in source.rows]
    return _counted(source, answer, counts, [row[options] for row in source.rows])


def _counting(source: DataSource, answer: str, listed: Sequence[str]) -> dict[str, Any]:
    texts = [[row.get(column) for column in listed] for row in source.rows]
    return _counted(source, answer, [sum(not is_missing(text) for text in row) for row in texts], texts)


def _counted(source: DataSource, answer: str, counts: Sequence[int], texts: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """Numbers of options count from 1 where none is 0 and some is as high as there are options."""
    found: list[tuple[int, int]] = []
    for row, count, options in zip(source.rows, counts, texts, strict=True):
        said = cell(row.get(answer)).strip()
        if said in {cell(option).strip() for option in options}:
            continue  # called by its text, which is looked for first
        if not (said.isascii() and said.isdigit()):
            return {}
        found.append((int(said), count))
    from_one = (
        bool(found) and min(number for number, _ in found) == 1 and any(number == count for number, count in found)
    )
    return {"counts_from": 1} if from_one else {}


def _assume_labels(proposal: DataProposal, values: Sequence[str]) -> None:
    classes = _spelled_once(values)
    proposal.assume(f"the answer is one of {len(classes)} labels", check="choice", choices=classes)
    _tell_spellings(proposal, classes, values)


def _assume_set(proposal: DataProposal, labels: Sequence[str], separator: str) -> None:
    more: dict[str, Any] = {"separator": separator} if separator else {}
    classes = _spelled_once(labels)
    told = f"the answer is all that apply of {len(classes)} labels: solved when they are all there and no other"
    proposal.assume(told, check="set", labels=classes, **more)
    _tell_spellings(proposal, classes, labels)


def _spelled_once(values: Sequence[str]) -> list[str]:
    """The labels in their order, each as it is spelled most often: a check does not tell Yes from yes."""
    often = Counter(values)
    best: dict[str, str] = {}
    for value in sorted(often, key=lambda value: (-often[value], value)):
        best.setdefault(same_label(value), value)
    return sorted(best.values())


def _tell_spellings(proposal: DataProposal, classes: Sequence[str], values: Sequence[str]) -> None:
    if others := sorted(set(values) - set(classes)):
        proposal.assumed.append(f"{', '.join(others)[:200]}: other spellings of labels, which count as the same")


def _propose_text_check(proposal: DataProposal, values: Sequence[str]) -> None:
    words = sum(map(word_count, values)) / len(values)
    if words <= 4:
        proposal.assume("answers are a few words: EM, without case, punctuation and articles", check="em")
    elif words <= 25:
        proposal.assume("answers are a sentence: F1 over words, solved from 0.8", check="f1", threshold=0.8)
    else:
        why = "answers are long: F1 over words is weak for them; better a python check or a rubric"
        proposal.assume(why, check="f1", threshold=0.6)
        proposal.unsure.append("long answers are poorly checked by their words: say --check rubric or --check python")


def _is_single(value: Any) -> TypeGuard[list[Any]]:
    """Whether a cell is a list of one value, which labelling tools write for one label."""
    return isinstance(value, list) and len(value) == 1 and not isinstance(value[0], dict | list)


def _object_in(value: Any) -> Mapping[str, Any]:
    """The object that a cell is, or that is written in it; an empty one where there is none."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = orjson.loads(value)
        except ValueError:
            return {}
    return value if isinstance(value, dict) else {}


def _assume_fields(proposal: DataProposal, objects: Sequence[Mapping[str, Any]]) -> None:
    """An object compared by its fields, which are named where every row has the same: nobody can know them."""
    keys = set(objects[0])
    named = all(set(value) == keys for value in objects) and len(keys) <= MOST_CLASSES
    more: dict[str, Any] = {"fields": list(objects[0])} if named else {}
    proposal.assume("the answer is a JSON object, compared field by field", check="json", **more)


# --------------------------------------------------------------------------------------------- the prompt


def _propose_prompt(
    source: DataSource, columns: Mapping[str, ColumnProfile], proposal: DataProposal, question: str, wishes: Wishes
) -> None:
    if wishes.prompt:
        proposal.assume("what is asked is your --prompt", prompt=wishes.prompt)
        return
    own: dict[str, Any] = {
        name: proposal.args[name]
        for name in (
            "choices",
            "options",
            "called",
            "counts_from",
            "fields",
            "labels",
            "label_columns",
            "threshold",
            "tests",
            "entry",
            "source",
        )
        if name in proposal.args
    }
    answer: str | None = proposal.args.get("answer")
    check = build_check(proposal.args["check"], answer, source.columns, own)
    listed = proposal.args.get("options") or []
    _tell_free_answers(source, proposal, question, wishes)
    shown = asked_together(columns, question, {*proposal.taken, *listed, *proposal.args.get("label_columns", ())})
    _tell_left_out(columns, proposal, shown)
    braced = next((column for column in shown if "{" in column or "}" in column), None)
    if braced is not None:
        raise WhetError(f"{source.name}, column {braced!r}: a name with braces cannot stand in a prompt; rename it")
    fields = [f"{{{column}}}" for column in shown]
    if len(shown) > 1 and not any(map(needs_no_caption, shown)):
        fields = [f"{column}: {{{column}}}" for column in shown]
    if listed:
        fields.append("\n".join(f"{letter}. {{{column}}}" for letter, column in zip(LETTERS, listed, strict=False)))
    _leave_out_unasked(source, proposal, shown)
    told = " and ".join(repr(column) for column in shown)
    are = "columns {} are" if len(shown) > 1 else "column {} is"
    proposal.assume(f"{are.format(told)} what is asked", prompt=prompt_of(fields, check, "reply"))


def _leave_out_unasked(source: DataSource, proposal: DataProposal, shown: Sequence[str]) -> None:
    """Rows without anything to ask are left out aloud, where they are few."""
    empty = [index for index, row in enumerate(source.rows) if all(is_missing(row.get(column)) for column in shown)]
    if empty and not proposal.args.get("skip_missing") and len(empty) <= MOST_MISSING * len(source.rows):
        proposal.args["skip_missing"] = True
        proposal.unsure.append(
            f"{len(empty)} of {len(source.rows)} rows have nothing to ask and are left out, as with --skip-missing; "
            f"the first is {source.place(empty[0])}: for more columns say --prompt"
        )


def _tell_left_out(columns: Mapping[str, ColumnProfile], proposal: DataProposal, shown: Sequence[str]) -> None:
    """Doubt where rows hold a text of their own, or turns of a conversation, that is not asked."""
    hidden = {*proposal.taken, *proposal.args.get("options", ()), *proposal.args.get("label_columns", ())}
    known_of = {*shown, *hidden, *(asked.rpartition(".")[0] for asked in shown)}
    for name, column in columns.items():
        if any(name == other or within(name, other) for other in known_of - {""}):
            continue
        if column.words >= LONG and (column.lists == 1.0 or is_told(column, proposal.args["check"] == "choice")):
            kind = "lists of long texts" if column.lists else "a text in each row"
            fields = " ".join(f"{{{other}}}" for other in (name, *shown))
            proposal.unsure.append(
                f"column {name!r} holds {kind} and is not shown: if it is asked, say --prompt {fields!r}"
            )


def _tell_free_answers(source: DataSource, proposal: DataProposal, question: str, wishes: Wishes) -> None:
    """Doubt many labels where each row asks a question of its own: they may be answers that come again by chance."""
    labels = proposal.args.get("choices")
    asking = sum(cell(row.get(question)).rstrip().endswith(ASKING) for row in source.rows)
    if isinstance(labels, list) and len(labels) > FEW and asking * 2 > len(source.rows) and not wishes.check:
        proposal.unsure.append(f"the {len(labels)} labels may be free answers to questions: say --check em")
