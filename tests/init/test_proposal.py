"""A look at a file that nobody has described."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command_line import Whet
from data_env.rows import as_csv, as_lines, tickets

from whet.envs.data.proposal import DataProposal, Wishes, propose
from whet.envs.data.source import read_source
from whet.envs.registry import load_environment
from whet.errors import WhetError
from whet.types import SPLITS


def proposed(folder: Path, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The arguments proposed for rows; an environment can be built with them."""
    path = as_lines(folder / "rows.jsonl", rows)
    args = propose(read_source(path)).args
    load_environment(f"data:{path}", args)
    return args


def test_few_labels_are_a_choice_and_customers_stay_together(tmp_path: Path) -> None:
    args = propose(read_source(as_csv(tmp_path / "t.csv", tickets()))).args
    assert args["check"] == "choice"
    assert args["choices"] == ["account", "billing", "delivery"]
    assert (args["id"], args["group"], args["answer"]) == ("id", "customer", "queue")
    assert args["prompt"] == "{text}\n\nReply with exactly one of: account, billing, delivery"


@pytest.mark.parametrize(
    ("answers", "check"),
    [
        ([str(i * 7 + 0.5) for i in range(12)], "number"),
        ([f"Name {i}" for i in range(12)], "em"),
        ([[f"Name {i}", f"N {i}"] for i in range(12)], "em"),
        ([f"it was the {i}th of them all, as far as is known" for i in range(12)], "f1"),
        ([{"city": f"c{i}", "people": i} for i in range(12)], "json"),
        ([f'{{"city": "c{i}"}}' for i in range(12)], "json"),
        (["yes", "no", "no"] * 4, "choice"),
    ],
)
def test_the_check_follows_what_answers_look_like(tmp_path: Path, answers: list[Any], check: str) -> None:
    rows = [{"question": f"Which, {i}?", "answer": answer} for i, answer in enumerate(answers)]
    assert proposed(tmp_path, rows)["check"] == check


def test_options_of_each_row_are_a_choice_by_letter(tmp_path: Path) -> None:
    rows = [{"question": f"Q{i}?", "options": [f"a{i}", f"b{i}"], "answer": "B"} for i in range(8)]
    args = proposed(tmp_path, rows)
    assert (args["check"], args["choices"]) == ("choice", "options")
    assert args["prompt"] == "{question}\n\n{options}\n\nReply with the letter of one option."


def test_columns_of_letters_are_shown_as_options(tmp_path: Path) -> None:
    rows = [{"question": f"Q{i}?", "A": f"a{i}", "B": f"b{i}", "answer": "AB"[i % 2]} for i in range(8)]
    args = proposed(tmp_path, rows)
    assert args["options"] == ["A", "B"]
    assert args["prompt"] == "{question}\n\nA. {A}\nB. {B}\n\nReply with the letter of one option."


def test_a_context_comes_before_the_question(tmp_path: Path) -> None:
    rows = [{"question": f"Q{i}?", "context": f"About {i}.", "answer": f"Name {i}"} for i in range(8)]
    assert proposed(tmp_path, rows)["prompt"].startswith("{context}\n\n{question}\n\n")


def test_columns_without_telling_names_are_told_by_their_length(tmp_path: Path) -> None:
    rows = [{"x": f"a long text about the matter number {i}", "y": "ab"[i % 2]} for i in range(8)]
    args = proposed(tmp_path, rows)
    assert (args["answer"], args["prompt"].split("\n")[0]) == ("y", "{x}")


def test_a_column_of_splits_is_taken_as_it_is(tmp_path: Path) -> None:
    rows = [{"question": f"Q{i}?", "answer": f"N {i}", "fold": ("train", "val", "test")[i % 3]} for i in range(9)]
    assert proposed(tmp_path, rows)["split"] == "fold"


def test_an_id_column_with_repeats_is_not_taken_for_one(tmp_path: Path) -> None:
    rows = [{"uid": i // 2, "question": f"Q{i}?", "answer": f"N {i}"} for i in range(8)]
    assert "id" not in proposed(tmp_path, rows)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"text": "a"}], "has one column"),
        (
            [{"question": "a", "answer": "x"}, {"question": "b", "answer": ""}],
            "row 2, column 'answer': there is no answer",
        ),
    ],
)
def test_a_file_without_question_or_answer_is_refused(tmp_path: Path, rows: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(WhetError, match=said):
        proposed(tmp_path, rows)


def wished(folder: Path, rows: list[dict[str, Any]], **wishes: Any) -> DataProposal:
    path = as_lines(folder / "rows.jsonl", rows)
    found = propose(read_source(path), Wishes(**wishes))
    load_environment(f"data:{path}", found.args)
    return found


def test_numbers_with_units_are_quantities(tmp_path: Path) -> None:
    rows = [{"question": f"How heavy is box {i}?", "answer": f"{i + 1}.5 kg"} for i in range(40)]
    assert wished(tmp_path, rows).args["check"] == "quantity"


def test_lists_of_spans_are_spans_of_what_is_asked(tmp_path: Path) -> None:
    rows = [
        {"text": f"Ada{i} met Bo in town {i}", "entities": [{"start": 0, "end": 4, "label": ("person", "x")[i % 2]}]}
        for i in range(40)
    ]
    found = wished(tmp_path, rows, answer="entities").args
    assert (found["check"], found["source"], found["labels"]) == ("spans", "text", ["person", "x"])


def test_code_beside_tests_is_checked_by_them(tmp_path: Path) -> None:
    rows = [
        {"prompt": f"Write f{i}.", "solution": f"def f{i}():\n    return {i}\n", "tests": [f"assert f{i}() == {i}"]}
        for i in range(40)
    ]
    found = wished(tmp_path, rows).args
    assert (found["check"], found["tests"], found["answer"]) == ("code", "tests", "solution")


def test_a_column_with_a_point_in_its_name_is_not_mixed_with_a_part_of_an_object(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"q": f"Ask {i}", "a": {"b": "part"}, "label": "x"} for i in range(3)]
    rows[1]["a.b"] = "column"
    source = read_source(as_lines(tmp_path / "rows.jsonl", rows))
    assert [row.get("a.b") for row in source.rows] == [None, "column", None]


def test_labels_that_some_rows_list_and_others_do_not_are_one_set(tmp_path: Path) -> None:
    topics = ["billing", "refund", "speed"]
    rows = [
        {
            "text": f"About matter {i} and more",
            "labels": topics[i % 3] if i % 2 else [topics[i % 3], topics[(i + 1) % 3]],
        }
        for i in range(40)
    ]
    found = wished(tmp_path, rows).args
    assert (found["check"], found["labels"]) == ("set", topics)


def test_one_of_several_columns_of_marks_can_be_named(tmp_path: Path) -> None:
    rows = [{"text": f"Comment {i} of many", "toxic": i % 2, "threat": i % 3 == 0, "spam": "no"} for i in range(40)]
    found = wished(tmp_path, rows)
    assert found.args["label_columns"] == ["toxic", "threat", "spam"]
    assert "--answer" in found.unsure[-1]
    assert wished(tmp_path, rows, answer="toxic").args["check"] == "choice"


def test_a_prompt_that_shows_the_only_other_column_leaves_the_answer_to_be_found(whet: Whet, tmp_path: Path) -> None:
    rows = "".join(f"q{number},{number * 7}\n" for number in range(24))
    (tmp_path / "two.csv").write_text("question,answer\n" + rows)
    said = whet("init", "p", "--from", "two.csv", "--prompt", "Answer in a word: {question}")
    assert said.code == 0, said.err
    assert "the answer is in column 'answer'" in said.out


def test_a_file_with_train_and_test_alone_gets_select_rows_out_of_train(tmp_path: Path) -> None:
    rows = [
        {"text": f"Case {i} of {i * 37 % 101}", "label": "ab"[i % 2], "split": ("train", "train", "test")[i % 3]}
        for i in range(90)
    ]
    found = wished(tmp_path, rows)
    (path,) = tmp_path.glob("*.jsonl")
    sizes = {side: load_environment(f"data:{path}", found.args).size(side) for side in SPLITS}
    assert sizes["test"] == 30
    assert sizes["train"] + sizes["select"] == 60
    assert 10 <= sizes["select"] <= 30
    without = {name: value for name, value in found.args.items() if name != "select"}
    assert load_environment(f"data:{path}", without).size("select") == 0


@pytest.mark.parametrize(("name", "asked"), [("issueResolved", "\n\nIssue resolved?\n\n"), ("label", "}\n\nReply")])
def test_of_what_yes_or_no_is_asked_is_said_where_the_column_says_it(tmp_path: Path, name: str, asked: str) -> None:
    rows = [
        {"transcript": f"Call {i}: the line was dead again, we tried it twice.", name: i % 2 == 0} for i in range(30)
    ]
    assert asked in proposed(tmp_path, rows)["prompt"]
