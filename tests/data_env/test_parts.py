"""Columns made of what lies within cells: conversations, ends of solutions, lists in texts, and what texts tell."""

import json
import random
from pathlib import Path

import pytest

from whet.envs.data.conversation import shown
from whet.envs.data.evidence import told_by
from whet.envs.data.source import DataSource, read_source
from whet.envs.registry import load_environment
from whet.errors import WhetError


def source(folder: Path, *rows: dict[str, object]) -> DataSource:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return read_source(path)


def talk(*turns: tuple[str, str]) -> list[dict[str, str]]:
    return [{"role": role, "content": text} for role, text in turns]


def test_a_conversation_that_the_model_ends_is_a_question_and_an_answer(tmp_path: Path) -> None:
    found = source(tmp_path, {"messages": talk(("system", "Be short."), ("user", "Hi"), ("assistant", "Hello"))})
    assert found.columns == ("messages", "messages.conversation", "messages.question", "messages.answer")
    assert found.rows[0]["messages.question"] == "Be short.\n\nHi"
    assert found.rows[0]["messages.answer"] == "Hello"


def test_a_conversation_that_some_user_ends_has_no_answer_in_it(tmp_path: Path) -> None:
    answered, open_ended = talk(("user", "Hi"), ("assistant", "Hello")), talk(("user", "Hi"))
    assert source(tmp_path, {"chat": answered}, {"chat": open_ended}).columns == ("chat", "chat.conversation")


def test_speakers_are_named_where_there_is_more_than_one_turn() -> None:
    assert (
        shown([("user", "Hi"), ("assistant", "Hello"), ("user", "Bye")]) == "user: Hi\n\nassistant: Hello\n\nuser: Bye"
    )


def test_a_list_of_other_objects_is_no_conversation(tmp_path: Path) -> None:
    assert source(tmp_path, {"tools": [{"name": "a"}, {"name": "b"}]}).columns == ("tools", "tools.name")


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("3*4=12\n#### 1,200", "1,200"),
        ("so $x = \\boxed{\\frac{3}{4}}$, as was to be shown", "\\frac{3}{4}"),
        ("first \\boxed{1}, then \\boxed{2}", "2"),
    ],
)
def test_the_end_of_a_solution_is_a_column(text: str, end: str, tmp_path: Path) -> None:
    assert source(tmp_path, {"answer": text}).rows[0]["answer.final"] == end


@pytest.mark.parametrize("text", ["#### ", "\\boxed{1", "no end at all", "## 3"])
def test_a_solution_without_an_end_has_no_such_column(text: str, tmp_path: Path) -> None:
    assert source(tmp_path, {"answer": "a #### 1"}, {"answer": text}).columns == ("answer",)


@pytest.mark.parametrize(("text", "listed"), [("<a><b-c>", ["a", "b-c"]), ("['a', \"b\"]", ["a", "b"])])
def test_a_list_that_a_text_spells_out_is_a_column(text: str, listed: list[str], tmp_path: Path) -> None:
    assert source(tmp_path, {"tags": text}).rows[0]["tags.listed"] == listed


@pytest.mark.parametrize("text", ["<p>a</p>", "[1, 2]", "['a'", "__import__('os')", "[" * 3000])
def test_what_only_looks_like_a_list_is_left_alone(text: str, tmp_path: Path) -> None:
    assert source(tmp_path, {"tags": text}, {"tags": "<a><b>"}).columns == ("tags",)


def test_words_tell_a_label_that_is_in_the_text_and_not_one_that_is_drawn() -> None:
    rng = random.Random(3)
    topics = {"sea": "boat sail wave", "hill": "rock climb path"}
    labels = [rng.choice(list(topics)) for _ in range(60)]
    texts = [
        f"{rng.choice(topics[label].split())} {rng.choice(topics[label].split())} {rng.random()}" for label in labels
    ]
    assert told_by(texts, labels) > 0.8
    assert told_by(texts, [rng.choice("ab") for _ in texts]) == 0.0
    assert told_by([], []) == told_by(["x"], ["a"]) == 0.0


def choice(folder: Path, answers: list[str], **args: object) -> list[str | None]:
    rows = [
        {"question": f"{n}?", "choices": ["x", "y"], "names": ["p", "q"], "answer": a} for n, a in enumerate(answers)
    ]
    found = source(folder, *rows)
    own = {"check": "choice", "choices": "choices", "answer": "answer", "split": [1.0, 0.0, 0.0], **args}
    env = load_environment(f"data:{found.path}", own)
    tasks = (env.task("train", number) for number in range(len(answers)))
    return sorted(str(task.truth["right"]) for task in tasks)


def test_numbers_of_options_count_from_where_it_is_said(tmp_path: Path) -> None:
    assert choice(tmp_path, ["1", "2"], counts_from=1) == ["0", "1"]
    with pytest.raises(WhetError, match="not among the choices"):
        choice(tmp_path, ["1", "2"])


def test_options_are_called_as_their_row_calls_them(tmp_path: Path) -> None:
    assert choice(tmp_path, ["q", "p", "q"], called="names") == ["0", "1", "1"]


@pytest.mark.parametrize("column", ["chat", "chat.conversation", "chat.answer"])
def test_a_prompt_cannot_show_what_the_answer_is_a_part_of(column: str, tmp_path: Path) -> None:
    found = source(tmp_path, *({"chat": talk(("user", f"Hi {n}"), ("assistant", "Hello"))} for n in range(8)))
    with pytest.raises(WhetError, match="must not be shown"):
        load_environment(f"data:{found.path}", {"answer": "chat.answer", "prompt": f"{{{column}}}"})
