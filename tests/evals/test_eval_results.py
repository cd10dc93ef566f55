from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from evals.outcomes import evaluations, fault, outcome, pattern
from hypothesis import given
from hypothesis import strategies as st

from whet import wire
from whet.evals.compare import compare
from whet.evals.floor import Floor, floor_of
from whet.evals.results import comparison_json, results_json
from whet.evals.summary import summarize
from whet.types import Outcome


def projection(rollouts: list[Outcome], floor: Floor | None = None) -> dict[str, Any]:
    return results_json(
        summarize(rollouts), rollouts, model="test:m", env="sums", split="test", playbook="blank", floor=floor
    )


def test_the_head_says_who_was_measured_on_what() -> None:
    found = projection(pattern("1100"))
    head = ("model", "env", "split", "playbook", "num_examples", "pass_rate", "avg_reward", "perfect_rate")
    assert [found[name] for name in head] == ["test:m", "sums", "test", "blank", 4, 0.5, 0.5, 0.5]


def test_every_kind_has_its_numbers_with_intervals() -> None:
    found = projection([outcome(0, kind="a"), outcome(1, 0, kind="b")])["by_archetype"]["b"]
    assert (found["n"], found["pass_rate"], found["perfect_rate"], found["avg_reward"]) == (1, 0.0, 0.0, 0.0)
    low, high = found["intervals"]["pass_rate"]
    assert low == 0.0 < high < 1.0


def test_a_fault_has_null_where_a_score_would_stand() -> None:
    row = projection([fault(3)])["results"][0]
    assert (row["id"], row["fault"], row["hard"], row["soft"], row["reward"], row["perfect"]) == (
        "test/3",
        "timeout",
        None,
        None,
        None,
        None,
    )


def test_rollouts_stand_in_the_order_of_their_tasks_and_draws() -> None:
    rollouts = [outcome(index, draw=draw) for index, draw in ((10, 0), (2, 1), (2, 0))]
    found = [(row["id"], row["draw"]) for row in projection(rollouts)["results"]]
    assert found == [("test/2", 0), ("test/2", 1), ("test/10", 0)]


@given(evaluations(), st.randoms(use_true_random=False))
def test_bytes_depend_neither_on_the_clock_nor_on_the_order_of_arrival(rollouts: list[Outcome], luck: Random) -> None:
    again = [replace(one, seconds=one.seconds + 1) for one in rollouts]
    luck.shuffle(again)
    assert wire.dumps(projection(again)) == wire.dumps(projection(rollouts))


def test_the_floor_names_the_best_trivial_policy_and_all_of_them() -> None:
    floor = floor_of({"constant": pattern("0001"), "echo": pattern("0011"), "oracle": pattern("1111")})
    found = projection(pattern("1111"), floor)["floor"]
    assert found["best"] == "echo"
    assert {name: one["pass_rate"]["value"] for name, one in found["policies"].items()} == {
        "echo": 0.5,
        "constant": 0.25,
    }


def test_equal_pass_rates_are_told_apart_by_reward() -> None:
    floor = floor_of({"a": [outcome(0, 0, reward=0.1)], "b": [outcome(0, 0, reward=0.2)]})
    assert floor is not None
    assert floor.best.name == "b"


def test_without_a_score_there_is_no_floor() -> None:
    assert floor_of({"echo": [fault(0)]}) is None
    assert floor_of({}) is None


def test_a_comparison_is_written_with_its_verdict_in_words() -> None:
    found = comparison_json(compare(pattern("0" * 12 + "1" * 28), pattern("1" * 40)), a="blank", b="skill")
    assert (found["verdict"], found["overall"]["difference"]["value"]) == ("better", 0.3)
    assert found["words"].startswith("skill is better than blank: +0.30 [")
    assert [flip["index"] for flip in found["gained"]] == list(range(12))
    assert wire.dumps(found)


def test_a_comparison_on_another_metric_is_written_with_hard_beside_it() -> None:
    a, b = ([outcome(index, 0, soft=soft) for index in range(8)] for soft in (0.25, 0.75))
    found = comparison_json(compare(a, b, metric="soft"))
    assert (found["metric"], found["overall"]["difference"]["value"]) == ("soft", 0.5)
    assert found["hard"]["difference"]["value"] == 0.0


def test_the_best_trivial_policy_is_the_best_on_the_metric_of_the_claim() -> None:
    played = {"lucky": [outcome(0, 1), outcome(1, 0)], "partial": [outcome(index, 0, soft=0.9) for index in range(2)]}
    assert floor_of(played).best.name == "lucky"  # type: ignore[union-attr]
    assert floor_of(played, metric="soft").best.name == "partial"  # type: ignore[union-attr]
