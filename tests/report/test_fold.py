"""A run as records: what the ledger says, and notes about what it does not."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
import run_folders

from whet.evals.estimate import mean_estimate
from whet.evals.summary import summarize
from whet.ledger.store import Ledger
from whet.report.fold import decision_record, fold_run, list_records
from whet.report.fold import run_folders as folders_of
from whet.report.query import RolloutFilter
from whet.run.workspace import open_run


def test_a_training_is_folded_with_its_steps_decisions_and_playbooks(seen_runs: Path) -> None:
    run = fold_run(seen_runs / "kinds")
    assert (run.kind, run.env, run.state, run.trouble) == ("train", "kinds", "complete", "")
    assert [step.name for step in run.steps] == ["e1/s0001", "e1/s0002", "e2/s0003", "e2/s0004"]
    assert [decision.verdict for decision in run.decisions] == ["accept", "accept", "cannot_decide"]
    assert run.decisions[0].edits[0].source == "failure"
    assert [version.name for version in run.playbooks] == ["initial", "step 1", "step 2", "step 3", "step 4"]
    assert [version.accepted for version in run.playbooks] == [True, True, True, False, False]
    assert run.playbooks[1].before == "" != run.playbooks[1].text


def test_the_scores_are_those_of_the_summary(seen_runs: Path) -> None:
    run = fold_run(seen_runs / "kinds")
    summary = orjson.loads((seen_runs / "kinds" / "summary.json").read_bytes())
    named = {test.name: test.rate for test in run.tests}
    assert run.score == named["best"]
    assert named["best"].value == summary["test_hard"]
    assert [named["best"].interval.low, named["best"].interval.high] == summary["test_hard_interval"]
    assert named["initial"].value == summary["baseline_test_hard"]
    assert run.claim == summary["test_delta_says"]


def test_rates_and_groups_of_an_evaluation_are_those_of_its_table(seen_runs: Path) -> None:
    run = fold_run(seen_runs / "third")
    with Ledger.read(seen_runs / "third") as ledger:
        summary = summarize(list(ledger.outcomes("eval")))
    assert run.score == summary.overall.pass_rate
    assert {group.name: group.rate for group in run.kinds} == {k: f.pass_rate for k, f in summary.by_kind.items()}
    assert [group.name for group in run.difficulties] == list(summary.by_difficulty)
    assert dict(run.reasons) == dict(summary.reasons)


def test_several_draws_of_a_task_count_as_one_task(tmp_path: Path) -> None:
    folder = run_folders.evaluation(tmp_path, "twice", repeats=2)
    run = fold_run(folder)
    assert run.score == summarize(open_run(folder).outcomes()).overall.pass_rate
    assert run.score is not None
    assert run.score.tasks == 24


def test_costs_by_stage_add_up_to_the_account(seen_runs: Path) -> None:
    run = fold_run(seen_runs / "kinds")
    summary = orjson.loads((seen_runs / "kinds" / "summary.json").read_bytes())
    total = summary["token_summary"]["_total"]
    assert sum(cost.calls for cost in run.costs) == total["calls"]
    assert run.tokens == total["prompt_tokens"] + total["completion_tokens"]


def test_hard_cases_are_tasks_that_failed(seen_runs: Path) -> None:
    run = fold_run(seen_runs / "third")
    assert run.cases
    assert all(line.hard != 1 and line.purpose == "eval" for line in run.cases)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (run_folders.newer, "newer Whet"),
        (run_folders.without_ledger, "no ledger.sqlite"),
        (run_folders.damaged, "damaged or not a ledger"),
    ],
)
def test_a_run_that_cannot_be_read_says_why(tmp_path: Path, made: object, said: str) -> None:
    folder = made(tmp_path)  # type: ignore[operator]
    assert said in fold_run(folder).trouble
    (listed,) = list_records(tmp_path)
    assert said in listed.trouble


def test_a_half_written_run_is_shown_with_a_note(tmp_path: Path) -> None:
    run = fold_run(run_folders.half_written(tmp_path))
    assert run.trouble == ""
    assert run.rollouts == 1
    assert any("summary.json cannot be read" in note for note in run.notes)
    assert any("ended before it began" in note for note in run.notes)


def test_a_run_that_its_writer_holds_is_seen_as_running(tmp_path: Path) -> None:
    with run_folders.writer(tmp_path / "live") as ledger:
        ledger.add_rollouts([run_folders.rollout(0, "a", hard=1)])
        run = fold_run(tmp_path / "live")
        assert (run.live, run.state, run.rollouts) == (True, "running", 1)
        ledger.add_rollouts([run_folders.rollout(1, "b")])
        assert fold_run(tmp_path / "live").rollouts == 2
    assert fold_run(tmp_path / "live").state == "killed"


def test_gates_below_a_run_are_listed_with_it(seen_runs: Path) -> None:
    assert {place.name for place in folders_of(seen_runs)} >= {"kinds", "third", "half", "hostile"}


def test_a_filter_reads_its_own_words() -> None:
    chosen = RolloutFilter(kind="a", solved="no", flipped=True, task="select/3")
    assert RolloutFilter.of(chosen.words()) == chosen


def test_the_interval_of_a_decision_is_of_the_tasks_that_its_score_is_of() -> None:
    draws = [["incumbent", task, 0, [float(task < 6)]] for task in range(24)]
    draws += [["candidate", task, 0, [1.0]] for task in range(12)]
    body = {"verdict": "accept", "reason": "gain_shown", "draws": draws}
    found = decision_record(0, "s", {**body, "incumbent_score": 0.5, "candidate_score": 1.0}).incumbent
    assert found == mean_estimate([1.0] * 6 + [0.0] * 6)
    unscored = decision_record(0, "s", body).incumbent
    assert unscored == mean_estimate([1.0] * 6 + [0.0] * 18)
