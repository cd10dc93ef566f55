"""Several values at once: sets of labels, lists in order, options in columns, and rows that say nothing."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest
from data_env.rows import as_lines, environment, one_row, scored

from whet.envs.base import Environment
from whet.errors import WhetError
from whet.types import Label, Reply, Rollout, Ticket, Turn, user

LABELS = ["billing", "refund", "speed"]


@pytest.mark.parametrize(
    ("reply", "hard", "soft"),
    [
        ("billing, refund", 1, 1.0),
        ("Refund; Billing.", 1, 1.0),
        ('["billing", "refund"]', 1, 1.0),
        ("- billing\n- refund", 1, 1.0),
        ("Labels: billing, refund", 1, 1.0),
        ("billing and refund", 1, 1.0),
        ("The labels are billing and refund.", 1, 1.0),
        ("The labels that apply are: billing, refund.", 1, 1.0),
        ("billing, and refund", 1, 1.0),
        ("billing & refund", 1, 1.0),
        ("billing / refund", 1, 1.0),
        ("billing, billing, refund", 1, 1.0),
        ('{"labels": ["billing", "refund"]}', 1, 1.0),
        ('{"billing": true, "refund": true, "speed": false}', 1, 1.0),
        ("billing, refund, other", 0, 0.5),
        ("not billing, not refund", 0, 0.0),
        ("billing", 0, 0.5),
        ("billing, refund, speed", 0, 0.0),
        ("speed", 0, 0.0),
        ("none", 0, 0.0),
    ],
)
def test_a_set_is_right_as_a_whole(tmp_path: Path, reply: str, hard: int, soft: float) -> None:
    score = scored(one_row(tmp_path, ["refund", "billing"], check="set", labels=LABELS), reply)
    assert (score.hard, score.soft) == (hard, pytest.approx(soft))


@pytest.mark.parametrize(("measure", "soft"), [("exact", 0.0), ("f1", 2 / 3), ("jaccard", 0.5)])
def test_the_measure_says_what_a_part_is_worth(tmp_path: Path, measure: str, soft: float) -> None:
    env = one_row(tmp_path, "billing|refund", check="set", separator="|", measure=measure)
    assert scored(env, "billing").soft == pytest.approx(soft)


@pytest.mark.parametrize("truth", [["R and D", "x"], ["terms, and conditions", "R and D"], ["a|b"], ["Straße", "café"]])
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("check", ["set", "list"])
def test_the_right_answer_is_right_whatever_is_in_a_label(
    tmp_path: Path, truth: list[str], known: bool, check: str
) -> None:
    env = one_row(tmp_path, truth, check=check, **({"labels": [*truth, "y"]} if known and check == "set" else {}))
    task = env.task("train", 0)
    said = str(env.baselines()["oracle"](task, task.messages))
    assert scored(env, said).hard == 1
    assert scored(env, ", ".join(truth)).hard == 1
    assert scored(env, unicodedata.normalize("NFD", said)).hard == 1


def _played(env: Environment, reply: str) -> Rollout:
    turn = Turn("target", (user("What is it?"),), Reply(reply))
    return Rollout(Ticket("train", "train", 0), Label("x"), "", "", "", (turn,), scored(env, reply))


@pytest.mark.parametrize(
    ("check", "reply", "told"),
    [
        ("set", "billing, speed", "missing: refund; too many: speed"),
        ("set", "refund, billing", ""),
        ("list", "refund, speed", "missing: billing; too many: speed"),
        ("list", "billing, refund", "the order is wrong, or a value comes twice"),
        ("list", "refund, billing", ""),
    ],
)
def test_feedback_says_what_is_missing_and_what_is_too_many(tmp_path: Path, check: str, reply: str, told: str) -> None:
    env = one_row(tmp_path, ["refund", "billing"], check=check)
    assert env.feedback(env.task("train", 0), _played(env, reply)).evidence == told


def test_a_row_without_labels_has_the_empty_set(tmp_path: Path) -> None:
    env = one_row(tmp_path, [], check="set", labels=LABELS)
    assert (scored(env, "none").hard, scored(env, "[]").hard, scored(env, "billing").hard) == (1, 1, 0)


def test_a_label_called_none_is_a_label(tmp_path: Path) -> None:
    env = one_row(tmp_path, ["none"], check="set", labels=["none", "some"])
    assert (scored(env, "none").hard, scored(env, "[]").hard) == (1, 0)


def test_a_label_that_there_is_not_is_refused_by_row(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match=r"row 1, column 'answer': 'bilking' is not among the labels. Did you mean"):
        one_row(tmp_path, ["bilking"], check="set", labels=LABELS)


@pytest.mark.parametrize(
    ("reply", "hard", "soft"), [("a, b, c", 1, 1.0), ("a\nb\nc", 1, 1.0), ("a, c, b", 0, 1 / 3), ("b", 0, 0.0)]
)
def test_the_order_of_a_list_counts(tmp_path: Path, reply: str, hard: int, soft: float) -> None:
    score = scored(one_row(tmp_path, ["a", "b", "c"], check="list"), reply)
    assert (score.hard, score.soft) == (hard, pytest.approx(soft))


@pytest.mark.parametrize("answer", ["B", "second", 1])
def test_options_in_columns_are_chosen_by_letter_text_or_number(tmp_path: Path, answer: Any) -> None:
    row = {"question": "Which?", "o1": "first", "o2": "second", "o3": "", "answer": answer}
    path = as_lines(tmp_path / "one.jsonl", [row])
    args = {"prompt": "{question}", "answer": "answer", "split": [1.0, 0.0, 0.0]}
    env = environment(path, check="choice", options=["o1", "o2", "o3"], **args)
    assert [scored(env, reply).hard for reply in ("B", "second", "A", "C")] == [1, 1, 0, 0]


def test_parts_of_objects_are_columns(tmp_path: Path) -> None:
    rows = [{"doc": {"body": f"Body {i}"}, "note": {"label": {"name": "ab"[i % 2]}}} for i in range(8)]
    env = environment(as_lines(tmp_path / "n.jsonl", rows), prompt="{doc.body}", answer="note.label.name")
    assert env.task("train", 0).messages[0].text.startswith("Body ")
    assert scored(env, env.task("train", 0).truth[0]).hard == 1


def test_rows_without_an_answer_are_left_out_and_the_others_keep_their_place(tmp_path: Path) -> None:
    rows = [{"question": f"Q{i}?", "answer": "" if i % 2 else str(i)} for i in range(12)]
    path = as_lines(tmp_path / "holes.jsonl", rows)
    with pytest.raises(WhetError, match=r"row 2, column 'answer': there is no answer"):
        environment(path)
    env = environment(path, skip_missing=True)
    assert sum(env.size(split) or 0 for split in ("train", "select", "test")) == 6
    assert "6 more have no answer" in env.about
    rows[4]["answer"] = "x"
    with pytest.raises(WhetError, match="row 5"):
        environment(as_lines(tmp_path / "other.jsonl", rows), skip_missing=True, check="number", answer="answer")
