"""How an answer is checked: by what it is made of, by the options it names, by what stands beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import orjson

from whet.envs.data.checks.choice import same_label
from whet.envs.data.checks.code import stands_alone
from whet.envs.data.checks.quantity import is_quantity
from whet.envs.data.checks.spans import span_of
from whet.envs.data.columns import obvious
from whet.envs.data.look.base import DataProposal, Wishes
from whet.envs.data.look.options import OptionSet, chosen_from
from whet.envs.data.look.view import FileView
from whet.envs.data.profile import is_code, is_missing, label_sets, word_count
from whet.envs.data.source import DataSource
from whet.envs.data.template import cell
from whet.errors import WhetError

TESTS, ENTRIES = ("tests", "test_list", "test", "unit_tests", "assertions"), ("entry_point", "entry", "function_name")
MOST_FIELDS = 20
MOST_SPAN_LABELS = 20
FEW = 5
"""Labels, of which more are seldom free answers, however often they stand in the text."""
READ_FROM = 0.6
"""Share of rows whose answer stands in what is asked, from which it is read from there and no label."""


def propose_check(
    view: FileView,
    proposal: DataProposal,
    wishes: Wishes,
    question: str,
    options: OptionSet | None,
    shown: Sequence[str],
) -> None:
    source = view.source
    answer: str = proposal.args["answer"]
    cells = [row.get(answer) for row in source.rows if not is_missing(row.get(answer))]
    values = [cell(value).strip() for value in cells]
    if not values:
        raise WhetError(f"{source.name}, column {answer!r}: there is no answer in any row; name another with --answer")
    proposal.answer_length = max(map(len, values))
    options = options if options is not None else chosen_from(view, answer, proposal.taken)
    if wishes.check:
        _take_check(source, proposal, wishes.check, cells, options)
        return
    column, found = view.columns[answer], label_sets(cells, answer)
    if options is not None:
        _assume_options(source, proposal, options)
    elif _is_tagged(view, answer, question):
        proposal.assume(f"the answer is a list with a tag for each of {question!r}, in order", check="list")
    elif found is not None and (not found.separator or not column.is_categorical):
        _assume_set(proposal, found.labels, found.separator)
    elif (tests := _tests_column(source, answer)) is not None:
        _assume_tests(source, proposal, tests, cells)
    elif column.lists == 1.0:
        _propose_lists(view, proposal, cells, question, shown)
    elif all(held := [_object_in(value) for value in cells]):
        _assume_fields(proposal, held)
    elif column.is_categorical and not _is_read(view, answer, shown):
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


def _is_read(view: FileView, answer: str, shown: Sequence[str]) -> bool:
    """Whether answers that come again are read from the text all the same, as names are: many, and each in its text."""
    column = view.columns[answer]
    return (
        column.distinct > FEW
        and column.numbers < 0.5
        and any(view.found_in(answer, name) >= READ_FROM for name in shown if view.is_text(name))
    )


def _propose_lists(
    view: FileView, proposal: DataProposal, cells: Sequence[Any], question: str, shown: Sequence[str]
) -> None:
    """A list in every cell: spans, one label in a list, tags of a list of words, or accepted answers."""
    column = view.columns[proposal.args["answer"]]
    if (labels := _span_labels(view.source, cells, question)) is not None:
        known_labels: dict[str, Any] = {"labels": labels} if 0 < len(labels) <= MOST_SPAN_LABELS else {}
        told = f"the answer is spans of {question!r}, compared by their words and labels"
        proposal.assume(told, check="spans", source=question, **known_labels)
    elif all(map(_is_single, cells)) and column.is_categorical and not _is_read(view, column.name, shown):
        _assume_labels(proposal, [cell(value[0] if _is_single(value) else value).strip() for value in cells])
    else:
        proposal.assume("a row lists several accepted answers, compared as EM does", check="em")
        objects = any(isinstance(part, dict) for value in cells for part in value or [])
        proposal.unsure.append(
            "a row's answer is a list of objects, any of which counts as right: say --check python, with a function "
            "that compares them all"
            if objects
            else "each of a row's listed answers counts as right: for all of them at once say --check set"
        )


def _is_tagged(view: FileView, answer: str, question: str) -> bool:
    """Whether each list is as long as the list that is asked about, and longer than one."""
    pairs = [(row.get(answer), row.get(question)) for row in view.sample]
    return all(
        isinstance(tags, list) and isinstance(words, list) and len(tags) == len(words) > 1 for tags, words in pairs
    )


def _assume_options(source: DataSource, proposal: DataProposal, options: OptionSet, said: str = "") -> None:
    answer = proposal.args["answer"]
    told = said or f"the answer is one of the options in {', '.join(map(repr, options.columns))}"
    if options.is_list:
        (column,) = options.columns
        proposal.assume(told, check="choice", choices=column, **_calling(source, answer, column, options.called))
    else:
        texts = [[row.get(column) for column in options.columns] for row in source.rows]
        counts = [sum(not is_missing(text) for text in row) for row in texts]
        more = _counted(source, answer, counts, texts)
        proposal.assume(told, check="choice", options=list(options.columns), **more)


def _calling(source: DataSource, answer: str, options: str, called: str) -> dict[str, Any]:
    """How answers call the options of their row: by the names in a list beside them, or by a number from 0 or 1."""
    names = [(row.get(called), row.get(answer)) for row in source.rows if called and not is_missing(row.get(answer))]
    if names and all(isinstance(known_by, list) and _alone(right) in known_by for known_by, right in names):
        return {"called": called}
    counts = [len(row[options]) for row in source.rows]
    return _counted(source, answer, counts, [row[options] for row in source.rows])


def _alone(value: Any) -> Any:
    return value[0] if _is_single(value) else value


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
    source: DataSource, proposal: DataProposal, check: str, cells: Sequence[Any], options: OptionSet | None
) -> None:
    """The check that the user named, with what it needs of the file."""
    if check == "choice" and options is not None:
        _assume_options(source, proposal, options, "the answer is checked by choice, as you said")
    elif check == "choice":
        _assume_labels(proposal, [cell(_alone(value)).strip() for value in cells])
    elif check == "code" and (tests := obvious(source.columns, TESTS)):
        _assume_tests(source, proposal, tests, cells)
    elif check == "set" and (found := label_sets(cells, proposal.args["answer"])):
        _assume_set(proposal, found.labels, found.separator)
    else:
        proposal.assume(f"the answer is checked by {check}, as you said", check=check)


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
    named = all(set(value) == keys for value in objects) and len(keys) <= MOST_FIELDS
    more: dict[str, Any] = {"fields": list(objects[0])} if named else {}
    proposal.assume("the answer is a JSON object, compared field by field", check="json", **more)
