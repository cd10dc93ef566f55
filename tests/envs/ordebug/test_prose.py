"""Specifications: prose that says what the model should say, in no order and seldom in one place; a table that does so
line by line."""

from __future__ import annotations

import random
import re

import pytest
from envs.ordebug.puzzles import made

from whet.envs.ordebug.edits import SetRhs, SetSense
from whet.envs.ordebug.families import FAMILIES, ProblemDraft, draw
from whet.envs.ordebug.model import LinearProgram
from whet.envs.ordebug.prose import faults_of
from whet.envs.ordebug.prose.comprehension import grammar_of, misread, taken_apart, understood
from whet.envs.ordebug.prose.document import prose
from whet.envs.ordebug.prose.figures import expression, number_of, plain
from whet.envs.ordebug.prose.grammar import SORTS, Voice
from whet.envs.ordebug.prose.semantics import Semantics
from whet.envs.ordebug.prose.voices import OFFICE, VOICES, YARD, voice_of
from whet.envs.splits import split_of

SPOKEN = pytest.mark.parametrize("voice", VOICES, ids=lambda voice: voice.name)


def draft(family: str, seed: int, rows: int = 12) -> ProblemDraft:
    return draw(random.Random(seed), FAMILIES[family], rows, max(3, rows * 2 // 3))


def surface(template: str) -> str:
    """A template as a reader meets it: what sort of thing stands in it, not which."""
    return re.sub(r"\{(\w+)\}", lambda part: f"<{SORTS[part[1]]}>", template)


@SPOKEN
@pytest.mark.parametrize("number", [2.0, 17.0, 40.0, 99.0, 36.0, 7.25])
def test_a_number_in_words_is_the_number(voice: Voice, number: float) -> None:
    assert {number_of(plain(random.Random(seed), voice, number)) for seed in range(20)} == {number}


@SPOKEN
@pytest.mark.parametrize("number", [3.0, 12.0, 37.5, 84.0, 240.0])
def test_an_expression_has_the_value_it_stands_for(voice: Voice, number: float) -> None:
    grammar, meaning = grammar_of([], (voice,)), Semantics([])
    for seed in range(60):
        said = expression(random.Random(seed), voice, number)
        values = {round(meaning.figure(tree)[""], 6) for tree in grammar.parses("figure", said)}
        assert values == {number}, said


def test_the_two_voices_say_the_same_things_and_have_no_phrase_of_a_requirement_in_common() -> None:
    shared = {key for key in OFFICE.phrases if OFFICE.phrases[key] == YARD.phrases[key]}
    assert OFFICE.phrases.keys() == {key for key in YARD.phrases if not key.startswith("count ")}
    assert shared == {"figure multiple"}
    phrases = [
        {surface(said) for key in voice.phrases if key.startswith("say ") for said in voice.phrases[key]}
        for voice in VOICES
    ]
    assert not phrases[0] & phrases[1]


@SPOKEN
def test_no_two_phrases_of_different_meaning_look_alike(voice: Voice) -> None:
    """Order matters to a reader only where the parts differ in sort; where both are of one sort, see the next test."""
    seen: dict[str, str] = {}
    for key, templates in voice.phrases.items():
        if key.partition(" ")[0] not in ("say", "figure", "line", "group", "quantity", "times", "part", "rate", "mark"):
            continue
        for said in templates:
            assert seen.setdefault(f"{key.partition(' ')[0]} {surface(said)}", key) == key


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_a_reader_of_both_voices_finds_one_meaning_in_every_remark(family: str) -> None:
    for seed in range(2):
        one = draft(family, seed)
        for voice in VOICES:
            told = prose(random.Random(seed), one, voice)
            found = understood(told.text, FAMILIES[family], (voice,))
            assert (found.twofold, found.unread) == ([], [])
            document = taken_apart(told.text, FAMILIES[family], (voice,))
            grammar, meaning = grammar_of(document.register, VOICES), Semantics(document.register)
            for remark in document.remarks:
                assert len({meaning.claim(tree) for tree in grammar.remark(remark)}) == 1, remark


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_a_document_read_back_asks_for_the_model_and_for_no_other(family: str) -> None:
    for seed in range(2, 4):
        one = draft(family, seed, rows=5 if seed % 2 else 14)
        for voice in VOICES:
            told = prose(random.Random(seed), one, voice)
            assert faults_of(told, one, voice) == []
            found = understood(told.text, FAMILIES[family], (voice,))
            for row in one.model.rows:
                turned = SetSense(row.name, "=" if row.sense != "=" else "<=").apply(one.model)
                for other in (turned, SetRhs(row.name, row.rhs + 0.5).apply(one.model)):
                    assert _distinct(other, one.model) == bool(misread(found, other))


def _distinct(one: LinearProgram, other: LinearProgram) -> bool:
    """Whether two models differ as sets of rows: an edit may turn a row into its twin."""
    return sorted(map(str, one.rows)) != sorted(map(str, other.rows))


def test_training_problems_are_told_in_one_voice_and_all_others_in_the_other() -> None:
    assert (voice_of("train"), voice_of("select"), voice_of("test")) == (OFFICE, YARD, YARD)
    titles = {voice.name: voice.phrases["title"][0].split("{")[0] for voice in VOICES}
    for index in range(6):
        one = made("small_near_A", index)
        assert titles[voice_of(split_of(one.content)).name] in one.prose.text


def test_the_prose_lists_every_column_and_not_in_the_order_of_the_model() -> None:
    orders = []
    for index in range(4):
        one = made("small_near_A", index)
        listed = re.findall(r"^(?:(?=x)|.+ \[)(x\d+)(?:; |\] )", one.prose.text, re.MULTILINE)
        names = [column.name for column in one.sabotaged.columns]
        assert sorted(listed) == sorted(names)
        orders.append(listed == names)
    assert not all(orders)


def test_the_prose_names_no_constraint_and_a_column_only_in_the_register() -> None:
    for index in range(4):
        remarks = made("small_near_A", index).prose.text.partition("\nRemarks\n")[2]
        assert not re.search(r"\b[xr]\d+\b", remarks)


def test_every_requirement_rests_on_passages_of_the_text() -> None:
    for form in ("prose", "table"):
        one = made("small_near_A")
        told = one.specification(form)  # type: ignore[arg-type]
        for row in one.original.rows:
            assert told.sources[f"row:{row.name}"]
        for passages in told.sources.values():
            assert all(passage in told.text for passage in passages)


def test_most_requirements_need_more_than_one_remark() -> None:
    counts = [
        len(made("small_near_A", index).prose.sources[f"row:{row.name}"])
        for index in range(6)
        for row in made("small_near_A", index).original.rows
    ]
    assert sum(count > 1 for count in counts) > 0.5 * len(counts)


def test_a_row_that_nobody_asked_for_rests_on_nothing() -> None:
    one = next(
        one for one in (made("tiny_near_D", index) for index in range(60)) if one.faults[0].form == "foreign_row"
    )
    (element,) = one.elements
    assert element not in one.prose.sources
    assert element not in one.table.sources


def test_the_table_says_each_row_of_the_original() -> None:
    one = made("small_near_A")
    lines = [line for line in one.table.text.splitlines() if line.startswith("  - ")]
    assert len(lines) == len(one.original.rows)


def test_figures_of_the_model_seldom_stand_in_the_prose_as_they_are() -> None:
    shown, total = 0, 0
    for index in range(6):
        one = made("small_near_A", index)
        told = {
            float(found) for found in re.findall(r"(?<![\w.])\d+(?:\.\d+)?", one.prose.text.partition("Remarks")[2])
        }
        figures = [row.rhs for row in one.original.rows if row.rhs > 12]
        shown += sum(figure in told for figure in figures)
        total += len(figures)
    assert shown < 0.4 * total
