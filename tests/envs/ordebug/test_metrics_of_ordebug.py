"""The environment's own figures."""

from __future__ import annotations

from dataclasses import replace

import pytest
from envs.ordebug.puzzles import acts, flipped, played

from whet.envs.ordebug.instance import Specification
from whet.envs.ordebug.metrics import METRICS, NOTHING, TOKENS, diagnosis, group_variance, value, within_tokens


def measured(*lines: str) -> dict[str, float | None]:
    parts = played(flipped(), acts(*lines)).score.parts
    return {metric.name: value(metric, parts) for metric in METRICS}


def test_a_repair_counts_from_the_step_that_submits_it() -> None:
    found = measured("get_iis", *["check_slack r1"] * 3, "set_sense r2 <=", "submit")
    assert (found["repaired@5"], found["repaired@10"]) == (0.0, 1.0)


def test_the_published_rate_counts_from_the_first_optimum() -> None:
    found = measured("get_iis", "drop r1", *["get_iis"] * 8, "submit")
    assert (found["RR@1"], found["RR@5"]) == (0.0, 1.0)
    assert (found["feasible@10"], found["feasible@20"]) == (0.0, 1.0)
    assert found["repaired@20"] == 0.0


def test_what_was_not_submitted_counts_for_the_published_rate_alone() -> None:
    found = measured("set_sense r2 <=")
    assert (found["RR@1"], found["feasible@20"], found["repaired@20"]) == (1.0, 0.0, 0.0)


def test_a_model_that_never_was_optimal_has_no_objective_to_keep() -> None:
    assert measured("submit")["OP"] is None


def test_only_repairs_have_an_edit_cost() -> None:
    assert measured("drop r1", "submit")["edit cost"] is None
    assert measured("set_sense r2 <=", "submit")["edit cost"] == 1.0


def test_diagnosis_is_a_ratio_of_sums() -> None:
    scores = [{"da_hits": 1.0, "da_rows": 4.0}, {"da_hits": 2.0, "da_rows": 2.0}, {"da_hits": 0.0, "da_rows": 0.0}]
    assert diagnosis(scores) == pytest.approx(0.5)


def test_without_rows_there_is_no_diagnosis() -> None:
    assert diagnosis([{"da_hits": 0.0, "da_rows": 0.0}]) is None


def test_an_attempt_that_was_never_graded_counts_as_nothing() -> None:
    absent = ("OP", "kept")
    assert {metric.name: value(metric, {}) for metric in METRICS if metric.rate and metric.name not in absent} == {
        metric.name: 0.0 for metric in METRICS if metric.rate and metric.name not in absent
    }


def test_repairs_are_counted_within_a_budget_of_tokens() -> None:
    parts = played(flipped(), acts("set_sense r2 <=", "submit")).score.parts
    assert [within_tokens(parts, 1500, budget) for budget in TOKENS] == [0.0, 1.0, 1.0, 1.0]
    assert within_tokens({}, 10, TOKENS[0]) == 0.0


def test_the_variance_of_the_reward_is_taken_within_a_task() -> None:
    assert group_variance([[0.0, 1.0], [0.5, 0.5], [0.9]]) == pytest.approx(0.125)
    assert group_variance([[0.2], [0.9]]) is None


def test_without_a_specification_what_counts_is_kept() -> None:
    bare = replace(flipped(), prose=Specification(), table=Specification())
    score = played(bare, acts("drop r2", "submit")).score
    assert (score.hard, score.reason, score.parts["repaired"]) == (1, "kept", 0.0)
    assert played(flipped(), acts("drop r2", "submit")).score.hard == 0
    assert played(bare, acts("drop r1", "drop r2", "submit")).score.hard == 0


def test_every_part_that_a_metric_reads_is_in_a_score() -> None:
    assert set(NOTHING) <= set(played(flipped(), acts("submit")).score.parts)
