"""What a run claims at its end is on the metric that its gate decided on."""

from __future__ import annotations

import io
import json

import pytest
from reflact_world import Kinds, config, trained
from rich.console import Console

from whet.envs.base import Play, ask
from whet.evals.compare import Comparison
from whet.run.sealed_test import BEST
from whet.run.train import TrainResult
from whet.run.train_runs import training_page
from whet.terminal import print_page
from whet.types import Score, Task


class Halfway(Kinds):
    """The right word earns most of the credit, and nothing is ever solved: only `soft` and a part can see a gain."""

    name = "halfway"
    fingerprint = "halfway-1"

    def play(self, task: Task) -> Play:
        reply = yield from ask(task.messages)
        right = reply.text.strip() == task.truth
        return Score(0, 0.8 if right else 0.1, 0.0, {"points": 8.0 if right else 1.0}, "near" if right else "wrong")


@pytest.fixture(scope="module", params=["soft", "points"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> TrainResult:
    folder = tmp_path_factory.mktemp("runs") / "run"
    return trained(folder, config(gate={"metric": request.param, "pace": "eager", "alpha": 0.05}), env=Halfway())


def test_a_run_claims_on_the_metric_of_its_gate(run: TrainResult) -> None:
    assert run.tested is not None
    gain = run.tested.gains[BEST]
    assert isinstance(gain, Comparison)
    metric = run.judge.shop.gate.metric
    assert (gain.metric, gain.verdict) == (metric, "better")
    assert all(summary.metric == metric for summary in run.tested.summaries.values())


def test_the_summary_holds_the_claim_and_hard_beside_it(run: TrainResult) -> None:
    summary = json.loads((run.folder / "summary.json").read_bytes())
    metric = str(run.judge.shop.gate.metric)
    assert summary["metric"] == metric
    assert f"best is better than initial on {metric}: +" in summary["test_delta_says"]
    assert summary["test_delta_interval"][0] > 0.0
    assert summary["test_delta_metric"] == pytest.approx(summary["test_metric"] - summary["baseline_test_metric"])
    low, high = summary["test_metric_interval"]
    assert low <= summary["test_metric"] <= high
    assert (summary["test_delta_hard"], summary["test_hard"], summary["baseline_test_hard"]) == (0.0, 0.0, 0.0)
    assert summary["test_delta_hard_interval"][0] < 0.0
    assert summary["floor_test_metric"] > summary["floor_test_hard"] == 0.0


def test_what_is_printed_at_the_end_and_later_shows_the_claim_and_hard(run: TrainResult) -> None:
    metric = run.judge.shop.gate.metric
    out = Console(file=io.StringIO(), width=160)
    print_page(run.page(), out)
    out.print(training_page(run.folder))
    assert isinstance(out.file, io.StringIO)
    text = out.file.getvalue()
    assert text.count(f"{metric} [95 %]") == 2
    assert text.count(f"best is better than initial on {metric}: +") == 2
    assert "solved (hard): +0.00" in text
