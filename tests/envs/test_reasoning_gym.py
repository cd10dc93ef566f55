"""Every dataset of reasoning-gym: the same tasks everywhere, full credit for its own answers, a score for any reply."""

from __future__ import annotations

import functools
import pickle
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from whet.envs.base import Environment
from whet.envs.foreign import global_random
from whet.envs.reasoning_gym import datasets
from whet.envs.registry import load_environment
from whet.errors import WhetError
from whet.keys import digest
from whet.rollout.drive import drive
from whet.run.contract.odd_replies import nasty_replies
from whet.run.contract.probe import look, look_elsewhere
from whet.types import SPLITS, Score, Split, Task

NAMES = datasets.names()
SOLVABLE = [name for name in NAMES if name not in datasets.WITHOUT_ANSWER]

SMALLER: dict[str, dict[str, Any]] = {
    "countdown": {"max_numbers": 4},
    "futoshiki": {"max_board_size": 4, "max_difficulty": 0},
    "intermediate_integration": {"problem_types": ["linear"], "problem_type_weights": [1.0]},
    "knight_swap": {"max_nodes": 6},
    "quantum_lock": {"difficulty": 2},
    "sokoban": {"max_w": 6, "max_h": 6, "max_boxes": 4, "min_boxes": 3},
    "sudoku": {"max_empty": 30},
    "zebra_puzzles": {"num_people": 3, "num_characteristics": 3},
}
"""Arguments that make the slow generators quick."""


def environment(variant: str, **args: Any) -> Environment:
    return load_environment(f"reasoning-gym/{variant}", args)


@functools.cache
def solvable() -> Environment:
    """All datasets with answers in one environment: the index decides which."""
    return environment("+".join(SOLVABLE), **{name: SMALLER[name] for name in SMALLER})


@functools.cache
def numbers() -> Environment:
    return environment("leg_counting+chain_sum")


def scored(env: Environment, task: Task, reply: Any) -> Score:
    return drive(env.play(task), lambda said, asked: reply).score


@pytest.mark.parametrize("name", SOLVABLE)
def test_the_dataset_s_own_answer_earns_full_credit(name: str) -> None:
    env = solvable()
    task = env.task("train", SOLVABLE.index(name))
    assert task.label.kind == name
    score = scored(env, task, env.baselines()["oracle"](task, task.messages))
    assert (score.hard, score.soft, score.reason) == (1, 1.0, "correct")


def test_every_dataset_gives_the_same_tasks_in_a_process_that_hashes_otherwise() -> None:
    plan: list[tuple[Split, int]] = [("train", index) for index in range(len(SOLVABLE))]
    elsewhere = look_elsewhere(solvable().name, SMALLER, plan)
    assert elsewhere == look(solvable(), plan)


@pytest.mark.parametrize("name", sorted(datasets.WITHOUT_ANSWER))
def test_a_dataset_without_answers_has_tasks_but_no_oracle(name: str) -> None:
    env = environment(name)
    assert scored(env, env.task("train", 0), "Answer: no").hard == 0
    assert "oracle" not in env.baselines()


def test_building_and_grading_leave_no_trace(capfd: pytest.CaptureFixture[str]) -> None:
    env = environment("bf+list_functions+pool_matrix+rectangle_count+decimal_arithmetic+arc_1d")
    before = repr(global_random())
    for index in range(12):
        scored(env, env.task("test", index), "Answer: 1")
    assert repr(global_random()) == before
    assert capfd.readouterr() == ("", "")


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(split=st.sampled_from(SPLITS), index=st.integers(0, 10**6), other=st.integers(0, 10**6))
def test_a_task_is_the_same_whatever_was_built_before(split: Split, index: int, other: int) -> None:
    first = digest(numbers().task(split, index))
    numbers().task(split, other)
    assert digest(numbers().task(split, index)) == first


@settings(deadline=None, max_examples=30)
@given(index=st.integers(0, 10**6))
def test_no_question_is_in_two_splits(index: int) -> None:
    env = environment("tower_of_hanoi")
    questions = [{env.task(split, index + step).messages for step in range(5)} for split in SPLITS]
    assert not any(questions[a] & questions[b] for a, b in ((0, 1), (0, 2), (1, 2)))


@pytest.mark.parametrize(
    "name", ["countdown", "spiral_matrix", "boxnet", "prime_factorization", "game_of_life", "coin_flip"]
)
def test_any_reply_gets_a_score(name: str) -> None:
    env = environment(name, **SMALLER.get(name, {}))
    task = env.task("train", 3)
    oracle = env.baselines().get("oracle", lambda task, said: "Answer: {}")
    right = oracle(task, task.messages)
    assert isinstance(right, str)
    scores = [scored(env, task, reply) for reply in nasty_replies(random.Random(1), right)]
    assert all(score.hard in (0, 1) and 0.0 <= score.soft <= 1.0 and score.reason for score in scores)


@settings(deadline=None)
@given(reply=st.text())
def test_any_text_gets_a_score(reply: str) -> None:
    score = scored(numbers(), numbers().task("train", 1), reply)
    assert score.reason in ("correct", "partial", "wrong", "no_answer", "scorer_rejected")


@pytest.mark.parametrize("reply", ["", "Answer:", "  \n"])
def test_a_reply_without_an_answer_says_so(reply: str) -> None:
    assert scored(numbers(), numbers().task("train", 0), reply).reason == "no_answer"


def test_a_scorer_that_raises_is_a_score_with_what_it_raised() -> None:
    env = environment("boxnet")
    score = scored(env, env.task("train", 0), "Answer: [1]")
    assert (score.hard, score.reason) == (0, "scorer_rejected")
    assert "Error" in score.detail


def test_a_reply_is_never_run_as_python(tmp_path: Any) -> None:
    marker = tmp_path / "run"
    env = environment("countdown+spiral_matrix", countdown=SMALLER["countdown"])
    for index in range(2):
        scored(env, env.task("train", index), f"Answer: open({str(marker)!r}, 'w')")
    assert not marker.exists()


def test_grading_does_not_change_the_task() -> None:
    env = environment("knight_swap", **SMALLER["knight_swap"])
    task = env.task("train", 0)
    before = digest(task)
    scored(env, task, env.baselines()["oracle"](task, task.messages))
    assert digest(task) == before


def test_the_index_decides_the_dataset_and_then_the_level() -> None:
    env = environment("leg_counting+chain_sum", levels=2)
    labels = [env.label("train", index) for index in range(4)]
    kinds = [f"{label.kind} {label.difficulty}" for label in labels]
    assert kinds == ["leg_counting level-0", "chain_sum level-0", "leg_counting level-1", "chain_sum level-1"]
    assert [env.task("train", index).label for index in range(4)] == labels


def test_an_argument_goes_to_the_datasets_that_have_it_or_to_the_one_it_is_under() -> None:
    env = environment("chain_sum+products", max_terms=2, products={"max_digits": 1})
    metadata = [env.task("train", index).truth["metadata"]["difficulty"] for index in range(2)]
    assert metadata == [{"num_terms": (2, 2), "num_digits": (1, 4)}, {"num_terms": (2, 2), "num_digits": (1, 1)}]


def test_the_fingerprint_follows_the_arguments() -> None:
    prints = {
        environment("chain_sum", **args).fingerprint
        for args in ({}, {"max_terms": 3}, {"answer": "tag"}, {"levels": 1})
    }
    assert len(prints) == 4


def test_an_environment_survives_pickling() -> None:
    env = environment("gcd", max_value=50)
    copy = pickle.loads(pickle.dumps(env))
    assert (copy.fingerprint, copy.task("test", 5)) == (env.fingerprint, env.task("test", 5))


@pytest.mark.parametrize(
    ("variant", "args", "said"),
    [
        ("", {}, "needs a dataset, as in reasoning-gym/leg_counting"),
        ("leg_count", {}, "no dataset 'leg_count'. Did you mean 'leg_counting'?"),
        ("gcd+gcd", {}, "names a dataset twice"),
        ("codeio", {}, "is not offered: it executes 3,002 code snippets"),
        ("composite", {}, "join datasets with '+' instead"),
        ("gcd", {"max_valu": 3}, "has no argument 'max_valu'. Did you mean 'max_value'?"),
        ("gcd", {"seed": 3}, "has no argument 'seed'"),
        ("gcd", {"max_value": "big"}, "argument 'max_value' takes int, not 'big'"),
        ("gcd", {"max_value": 0}, "reasoning-gym/gcd: max_value must be"),
        ("gcd+lcm", {"lcm": {"max_valu": 3}}, "reasoning-gym/lcm has no argument 'max_valu'"),
        ("gcd", {"answer": "json"}, "argument 'answer' takes 'line' | 'tag' | 'raw', not 'json'"),
        ("gsm_symbolic", {"levels": 2}, "has no curriculum: leave out the argument 'levels'"),
        ("gcd", {"levels": 99}, "levels: 'levels' takes 1 to"),
        ("gcd", {"levels": 2, "max_value": 50}, "'max_value' is set by the level"),
        ("caesar_cipher", {"levels": 3}, "caesar_cipher at level 2: rotation must be in range"),
    ],
)
def test_a_wrong_dataset_or_argument_is_one_line_that_helps(variant: str, args: dict[str, Any], said: str) -> None:
    with pytest.raises(WhetError) as refused:
        load_environment(f"reasoning-gym/{variant}" if variant else "reasoning-gym", args)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_dataset_with_too_few_questions_is_refused_by_name() -> None:
    env = environment("count_bits", min_n=5, max_n=5)
    with pytest.raises(WhetError, match="count_bits/default has too few different tasks to fill the split"):
        [env.task(split, 0) for split in SPLITS]
