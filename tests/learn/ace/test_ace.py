"""ACE as a learner: it grows bullets from reflections, and the gate decides what is kept."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from ace_world import config, reflects, roles, trained, useless
from crashes import leaves_no_trace
from fact_methods import learnt_by
from fact_tasks import TASKS
from reflact_world import RULES, Kinds, replays_without_a_call, timeless

from whet.errors import FaultError, WhetError
from whet.learn.learner import learner_named
from whet.models.base import Request
from whet.types import Fault, Playbook

SMALL = {"train": 8, "select": 12, "test": 8}


def test_it_learns_bullets_that_the_sealed_test_speaks_for(tmp_path: Path) -> None:
    result = trained(tmp_path / "run", config(train={"epochs": 4}))
    assert sum(rule in result.best.body for rule in RULES.values()) >= 3
    assert result.summary["test_delta_interval"][0] > 0.0
    kept = json.loads((result.folder / "ace_bullets.json").read_text())["accepted"]
    assert any(bullet["helpful"] for bullet in kept)
    steps = json.loads((result.folder / "ace_steps.json").read_text())
    assert [step["step"] for step in steps] == list(range(1, len(steps) + 1))


def test_the_text_that_training_started_from_stays_whole(tmp_path: Path) -> None:
    start = Playbook("You are in the word room.\nAnswer with one word.", hindsight="Mind the words.")
    result = trained(tmp_path / "run", config(train={"epochs": 4}), playbook=start)
    assert result.best.body.startswith(f"{start.body}\n\n## Learned")
    assert result.best.hindsight == start.hindsight


def test_a_curator_that_wants_the_book_gone_does_not_get_it(tmp_path: Path) -> None:
    """A context that is rewritten as a whole shrinks at some step to a few words, and what was learnt is lost."""
    sizes: list[int] = []

    def hostile(request: Request) -> str:
        if reflects(request):
            return roles(request)
        known = [line.split("]")[0][1:] for line in request.messages[1].text.splitlines() if line.startswith("[b")]
        sizes.append(len(known))
        told = json.loads(roles(request))["operations"]
        if len(known) < 4:
            return json.dumps({"operations": told})
        gone = [{"type": "REMOVE", "id": name} for name in known]
        anew = {"type": "REVISE", "id": known[0], "content": "Be good."}
        return json.dumps({"operations": [*gone, anew, {"type": "REWRITE", "content": "Be good."}]})

    settings = config(train={"epochs": 3, "batch_size": 6}, ace={"operations": 99, "patience": 99, "harm": 99})
    trained(tmp_path / "run", settings, optimiser=hostile)
    shrunk = [(before, after) for before, after in pairwise(sizes) if before >= 4]
    assert shrunk
    assert all(after >= before - max(1, before // 4) for before, after in shrunk)


def small_run(folder: Path) -> dict[str, bytes]:
    settings = config(train={"epochs": 2, "batch_size": 4}, ace={"minibatch": 2}, control={"concurrency": 3})

    def stammering(request: Request) -> str:
        first = len(request.messages) == 2 and not reflects(request)
        return "Let me think." if first else roles(request)

    result = trained(folder, settings, optimiser=stammering, env=Kinds(**SMALL))
    assert result.judge.judgements
    return timeless(folder)


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_a_crash_at_any_ledger_event_leaves_no_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: bool
) -> None:
    leaves_no_trace(small_run, tmp_path, monkeypatch, 2 if before else 6, 19, before=before)


def test_a_complete_run_is_replayed_without_a_call(tmp_path: Path) -> None:
    replays_without_a_call(trained, tmp_path / "run")


def test_bullets_without_effect_pass_no_more_often_than_the_gate_says(tmp_path: Path) -> None:
    brought = accepted = 0
    for seed in range(6):
        settings = config(train={"seed": seed, "test": 0, "epochs": 4, "batch_size": 12})
        result = trained(tmp_path / str(seed), settings, optimiser=useless, target=coin(seed))
        brought += len(result.judge.judgements)
        accepted += sum(judgement.accepted for judgement in result.judge.judgements)
    assert brought > 15
    assert accepted <= 0.1 * brought + 5, f"{accepted} of {brought} at an alpha of 0.1"


def coin(seed: int) -> Any:
    def answer(request: Request) -> str:
        kind = request.messages[-1].text.split()[0]
        return kind[::-1] if (request.sampling.seed or 0) * 2654435761 % 97 < 48 + seed % 3 else "?"

    return answer


def test_what_the_gate_did_not_want_is_dropped_and_told_to_the_curator(tmp_path: Path) -> None:
    told: list[str] = []

    def listening(request: Request) -> str:
        if not reflects(request):
            told.append(request.messages[1].text)
        return useless(request)

    settings = config(train={"epochs": 6, "batch_size": 12}, ace={"patience": 1, "bring": "step"})
    result = trained(tmp_path / "run", settings, optimiser=listening, target=lambda request: "?")
    assert all(step.reverted for step in result.training.steps)
    assert result.best == Playbook()
    assert "<bullets that were tried and did not help>" in told[-1]


def test_the_optimiser_is_asked_by_stage_and_its_prompts_can_be_replaced(tmp_path: Path) -> None:
    asked: list[str] = []

    def listening(request: Request) -> str:
        asked.append(request.messages[0].text)
        return roles(request)

    settings = config(ace={"prompts": {"reflector": "You reflect, in our words."}})
    result = trained(tmp_path / "run", settings, optimiser=listening)
    assert "You reflect, in our words." in asked
    assert {"reflector", "curator"} <= result.summary["token_summary"].keys()
    with pytest.raises(WhetError, match="there is no prompt 'reflectr' to replace"):
        config(ace={"prompts": {"reflectr": "x"}})


@pytest.mark.parametrize(
    "reply", ["", "nothing", "[]", '{"insights": 5}', '{"operations": [{"type": "ADD"}], "insights": [{}]}', "{" * 9999]
)
def test_replies_that_cannot_be_used_change_nothing(tmp_path: Path, reply: str) -> None:
    result = trained(tmp_path / "run", config(train={"epochs": 1}), optimiser=lambda request: reply)
    assert not result.stopped
    assert result.best == Playbook()


def test_an_optimiser_that_is_down_stops_the_run_with_its_name(tmp_path: Path) -> None:
    def down(request: Request) -> str:
        raise FaultError(Fault("connection", "optimizer.example", "refused"))

    assert "optimizer at e1/s0001/reflector" in trained(tmp_path / "run", optimiser=down).stopped
    assert not trained(tmp_path / "run").stopped


def test_rollouts_given_to_learning_end_it_and_the_claim_is_made(tmp_path: Path) -> None:
    result = trained(tmp_path / "run", config(train={"epochs": 100, "max_rollouts": 150}))
    assert "rollouts taken" in result.training.spent
    assert result.summary["learning_rollouts"] <= 150
    assert result.tested is not None


def test_facts_that_only_the_feedback_gives_away_are_learnt(tmp_path: Path) -> None:
    result = learnt_by("ace", TASKS[0], tmp_path)
    assert result.summary["test_hard"] >= 0.85


def test_a_learner_without_an_optimiser_is_refused_in_one_line() -> None:
    with pytest.raises(WhetError, match=r"reflector and curator need an \[optimizer\] model"):
        config(optimizer=None)
    assert "bullets" in learner_named("ace").describe(config(), 24)
