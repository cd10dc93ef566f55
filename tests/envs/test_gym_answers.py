"""What is read as the answer in a reply, and what a scorer never gets to see."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.envs.reasoning_gym.answers import INSTRUCTIONS, Form, candidates, objection, wrap

FORMS: tuple[Form, ...] = ("line", "tag", "raw")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("answer", ["42", "a b", "1 2\n3 4", "['1', '2']", "x = 1"])
def test_an_answer_in_the_form_asked_for_is_read_as_it_was_written(form: Form, answer: str) -> None:
    assert candidates(wrap(answer, form), form, answer)[0] == answer


@pytest.mark.parametrize(
    ("reply", "form", "truth"),
    [
        ("Answer: 42", "line", "42"),
        ("First 40, then 42.\nAnswer: 42", "line", "42"),
        ("**Answer:** 42", "line", "42"),
        ("Final answer: 42.", "line", "42"),
        ("Answer: 41\nNo. Answer: 42", "line", "42"),
        ("Answer: 42\n\nBecause 40 + 2 = 42, of course, 7.", "line", "42"),
        ("Answer:\n\n`42`", "line", "42"),
        ("Answer: \\boxed{42}", "line", "42"),
        ("40 + 2 = 42", "line", "42"),
        ("The answer is 42.", "line", "42"),
        ("There are 1,042 legs.", "line", "1042"),
        ("Yes.", "line", "Yes"),
        ("```\n1 2\n3 4\n```", "line", "1 2\n3 4"),
        ("so <answer>41</answer> or rather <answer> 42 </answer>", "tag", "42"),
        ("<answer>42", "tag", "42"),
        ("  42\n", "raw", "42"),
        ('"42".', "raw", "42"),
    ],
)
def test_an_honest_answer_is_found(reply: str, form: Form, truth: str) -> None:
    assert truth in candidates(reply, form, truth)


@pytest.mark.parametrize(
    ("reply", "form"),
    [
        ("", "line"),
        (" \n", "raw"),
        ("Answer:", "line"),
        ("42", "tag"),
        ("<answer> </answer>", "tag"),
    ],
)
def test_nothing_is_found_where_there_is_no_answer(reply: str, form: Form) -> None:
    assert candidates(reply, form, "42") == []


@pytest.mark.parametrize("form", ["line", "tag"])
def test_repeating_the_instruction_is_no_answer(form: Form) -> None:
    assert candidates(f"What is 40 + 2?\n\n{INSTRUCTIONS[form]}", form, "42") == []


def test_a_number_is_not_fished_out_of_a_reply_that_marked_its_answer() -> None:
    assert "42" not in candidates("It could be 42.\nAnswer: no idea", "line", "42")


@given(reply=st.text(), form=st.sampled_from(FORMS), truth=st.none() | st.text())
def test_any_reply_is_read(reply: str, form: Form, truth: str | None) -> None:
    assert all(reading.strip() for reading in candidates(reply, form, truth))


@pytest.mark.parametrize(
    ("dataset", "answer"),
    [
        ("countdown", "__import__('os').getpid()"),
        ("coin_flip", "1e999999999"),
        ("rush_hour", "A+999999999"),
        ("rubiks_cube", "U999999999"),
        ("number_sorting", "[NaN, NaN, NaN]"),
        ("complex_arithmetic", "nan"),
        ("leg_counting", "7" * 5000),
    ],
)
def test_what_would_run_hang_or_fool_a_scorer_is_kept_from_it(dataset: str, answer: str) -> None:
    assert objection(dataset, answer, "42") != ""
