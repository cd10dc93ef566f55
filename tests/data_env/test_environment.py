"""The `data` environment: prompts from templates, tasks that are pure, truth that stays behind."""

from __future__ import annotations

import hashlib
import pickle
from pathlib import Path
from typing import Any

import pytest
from data_env.rows import as_csv, as_lines, environment, one_row, scored, ticket_environment, tickets

from whet.envs.registry import load_environment
from whet.errors import WhetError
from whet.run.contract.check import check
from whet.types import Image, Label

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


@pytest.mark.parametrize(
    "args",
    [
        {"check": "choice", "choices": ["billing", "delivery", "account"], "group": "customer"},
        {"check": "exact", "read": "tag"},
        {"check": "contains", "read": "line"},
        {"check": "em"},
        {"check": "f1"},
        {"check": "anls"},
        {"check": "json", "answer": "", "fields": ["queue", "customer"]},
    ],
)
def test_it_keeps_the_contract_of_an_environment(tmp_path: Path, args: dict[str, Any]) -> None:
    path = as_csv(tmp_path / "tickets.csv", tickets())
    args = {"answer": "queue", **args}
    report = check(environment(path, **args), samples=12)
    assert [finding for finding in report.findings if finding.status == "fail"] == []


def test_another_process_builds_the_same_tasks(tmp_path: Path) -> None:
    path = as_csv(tmp_path / "tickets.csv", tickets())
    args = {"answer": "queue", "check": "exact", "group": "customer"}
    report = check(environment(path, **args), samples=6, address=f"data:{path}", args=args)
    assert report.findings[0].status == "ok"


def test_a_template_is_filled_from_the_row(tmp_path: Path) -> None:
    env = ticket_environment(tmp_path, prompt="{{{id}}} from {customer}:\n{text}")
    assert env.task("train", 0).messages[0].text.startswith("{T")
    assert " from C" in env.task("train", 0).messages[0].text


def test_the_name_of_a_column_is_a_template(tmp_path: Path) -> None:
    assert ticket_environment(tmp_path, prompt="text").task("train", 0).messages[0].text.startswith("Ticket number")


def test_cells_that_are_not_text_are_shown_as_json(tmp_path: Path) -> None:
    rows = [{"question": "q", "facts": ["a", 1, None], "n": 2.5, "none": None, "answer": "x"}]
    env = environment(
        as_lines(tmp_path / "f.jsonl", rows), prompt="{question} {facts} {n}{none}", split=[1.0, 0.0, 0.0]
    )
    assert env.task("train", 0).messages[0].text == 'q ["a",1,null] 2.5'


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"prompt": "{text} {queue}"}, "prompt: {queue} is what the answer is checked against"),
        ({"prompt": "{txt}"}, "there is no column 'txt'. Did you mean 'text'?"),
        ({"prompt": "{text} {"}, "write {{ and }} for braces"),
        ({"prompt": "Sort this."}, "it uses no column"),
        ({"answer": "que"}, "answer: there is no column 'que'. Did you mean 'queue'?"),
        ({"group": "costumer"}, "group: there is no column 'costumer'. Did you mean 'customer'?"),
        ({"kind": "queue"}, "kind: 'queue' is what is checked"),
        ({"split": [0.5, 0.5]}, "they add up to 1"),
        ({"chek": "exact"}, "Did you mean 'check'?"),
        ({"overlap": "keep"}, "neither 'refuse' nor 'drop'"),
    ],
)
def test_mistakes_in_the_arguments_are_one_line(tmp_path: Path, args: dict[str, Any], said: str) -> None:
    with pytest.raises(WhetError) as refused:
        ticket_environment(tmp_path, **args)
    assert said in str(refused.value)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["tickets.csv"]


def test_columns_that_cannot_be_told_are_asked_for(tmp_path: Path) -> None:
    path = as_csv(tmp_path / "a.csv", [{"x": "1", "y": "2"}])
    with pytest.raises(WhetError, match="answer: say which column holds the right answer"):
        environment(path)
    with pytest.raises(WhetError, match="prompt: say what is asked"):
        environment(path, answer="y")


def test_a_row_that_lacks_its_question_or_answer_is_named(tmp_path: Path) -> None:
    rows = [{"question": "q", "answer": "a"}, {"question": "r"}]
    with pytest.raises(WhetError, match="row 2, column 'answer': there is no answer"):
        environment(as_lines(tmp_path / "a.jsonl", rows))
    with pytest.raises(WhetError, match="row 1, column 'question': there is nothing to ask"):
        environment(as_lines(tmp_path / "b.jsonl", [{"question": " ", "answer": "a"}]))


def test_kind_and_difficulty_come_from_their_columns(tmp_path: Path) -> None:
    env = one_row(tmp_path, "x")
    assert env.label("train", 0) == Label("one")
    labelled = ticket_environment(tmp_path, kind="customer", difficulty="id").task("train", 0).label
    assert (labelled.kind[0], labelled.difficulty[0]) == ("C", "T")


def test_the_fingerprint_follows_data_arguments_and_code_but_not_the_place(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    here, there = (ticket_environment(tmp_path / name).fingerprint for name in "ab")
    assert here == there
    assert ticket_environment(tmp_path / "b", read="tag").fingerprint != here
    assert ticket_environment(tmp_path / "b", tickets(25)).fingerprint != here


def test_it_travels_to_another_process(tmp_path: Path) -> None:
    env = ticket_environment(tmp_path)
    assert pickle.loads(pickle.dumps(env)).fingerprint == env.fingerprint


def test_images_are_shown_by_content_before_the_prompt(tmp_path: Path) -> None:
    (tmp_path / "cat.png").write_bytes(PNG)
    rows = [{"question": "What is it?", "image": "cat.png", "answer": "a cat"}]
    env = environment(as_lines(tmp_path / "i.jsonl", rows), images="image", split=[1.0, 0.0, 0.0])
    image, text = env.task("train", 0).messages[0].content
    assert isinstance(image, Image)
    assert image.sha256 == hashlib.sha256(PNG).hexdigest()
    assert str(text).startswith("What is it?")
    assert environment(tmp_path / "i.jsonl", images="image", split=[1.0, 0.0, 0.0]).blob(image.sha256) == PNG


def test_another_picture_under_the_same_name_is_another_environment(tmp_path: Path) -> None:
    rows = as_lines(tmp_path / "i.jsonl", [{"question": "What is it?", "image": "cat.png", "answer": "a cat"}])
    (tmp_path / "cat.png").write_bytes(PNG)
    before = environment(rows, images="image", split=[1.0, 0.0, 0.0]).fingerprint
    (tmp_path / "cat.png").write_bytes(PNG + b"more")
    assert environment(rows, images="image", split=[1.0, 0.0, 0.0]).fingerprint != before


def test_an_image_that_is_not_there_is_named_by_row_and_column(tmp_path: Path) -> None:
    rows = [{"question": "What is it?", "image": "dog.png", "answer": "a dog"}]
    with pytest.raises(WhetError, match=r"i.jsonl, row 1, column 'image': there is no image .*dog.png"):
        environment(as_lines(tmp_path / "i.jsonl", rows), images="image")


def test_the_family_asks_for_a_file() -> None:
    with pytest.raises(WhetError, match="whet init NAME --from FILE"):
        load_environment("data")


def test_the_detail_of_a_score_does_not_tell_the_truth(tmp_path: Path) -> None:
    assert "secret" not in scored(one_row(tmp_path, "secret"), "guess").detail
