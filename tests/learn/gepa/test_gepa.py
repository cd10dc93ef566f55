"""GEPA as a learner: its search is paid, remembered and resumed like all else, and the gate has the last word."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from crashes import leaves_no_trace
from fact_methods import learnt_by
from fact_tasks import TASKS
from gepa_world import config, reflection, shown, trained, useless
from reflact_world import RULES, Kinds, replays_without_a_call, target, timeless

from whet.errors import FaultError, WhetError
from whet.learn.learner import learner_named
from whet.ledger.store import Ledger
from whet.models.base import Request
from whet.types import Fault, Playbook, Reply

pytest.importorskip("gepa", reason="the extra gepa is not installed")

SMALL = {"train": 8, "select": 12, "test": 8}


def purposes(folder: Path) -> dict[str, set[str]]:
    """The splits that rollouts were made on, by the first part of their purpose."""
    found: dict[str, set[str]] = {}
    with Ledger.read(folder) as ledger:
        for outcome in ledger.outcomes():
            found.setdefault(outcome.ticket.purpose.split("/")[0], set()).add(outcome.ticket.split)
    return found


def test_its_best_candidate_is_judged_by_the_gate_and_claimed_on_the_sealed_test(tmp_path: Path) -> None:
    result = trained(tmp_path / "run")
    assert [judgement.candidate.origin for judgement in result.judge.judgements] == ["gepa"]
    assert result.judge.judgements[0].accepted
    assert all(rule in result.best.body for rule in RULES.values())
    assert result.summary["test_delta_interval"][0] > 0.3
    assert result.summary["test_opening"] == 1
    pool = json.loads((result.folder / "gepa_pool.json").read_text())
    assert [entry["index"] for entry in pool] == list(range(len(pool)))
    assert pool[-1]["parents"]
    assert "Accepted candidate" in (result.folder / "gepa_log.txt").read_text()


def test_the_search_never_sees_a_task_of_the_gate(tmp_path: Path) -> None:
    asked: list[str] = []

    def listening(request: Request) -> str:
        asked.append(request.messages[0].text)
        return reflection(request)

    result = trained(tmp_path / "run", optimiser=listening)
    assert purposes(result.folder)["train"] == {"train"}
    assert asked
    assert not any("select-" in prompt or "test-" in prompt for prompt in asked)


def test_what_it_looks_at_and_what_it_chooses_by_are_different_tasks(tmp_path: Path) -> None:
    reflect, validate = trained(tmp_path / "run").training.sets
    assert not set(reflect) & set(validate)
    assert len(reflect) == len(validate) == 12


def test_its_attempts_keep_to_what_it_was_given(tmp_path: Path) -> None:
    result = trained(tmp_path / "run", config(gepa={"calls": 77}))
    with Ledger.read(result.folder) as ledger:
        attempts = sum(outcome.ticket.purpose.startswith("train/gepa") for outcome in ledger.outcomes())
    assert 77 - 2 * 18 < attempts <= 77
    limited = trained(tmp_path / "limited", config(gepa={"calls": 10_000}, train={"max_rollouts": 260}))
    assert limited.summary["learning_rollouts"] <= 260
    assert limited.judge.judgements, "enough was left for the gate"


def test_a_budget_too_small_for_one_child_is_refused_before_a_call(tmp_path: Path) -> None:
    def nobody(request: Request) -> str:
        raise AssertionError("nothing may be asked")

    with pytest.raises(WhetError, match=r"GEPA has 20 attempts and needs \d+ for a first child"):
        trained(tmp_path / "run", config(gepa={"calls": 20}), target=nobody, optimiser=nobody)
    with pytest.raises(WhetError, match=r"of train.max_rollouts = 100, of which the gate may need \d+"):
        trained(tmp_path / "other", config(train={"max_rollouts": 100}), target=nobody, optimiser=nobody)


def test_a_run_budget_stops_it_and_raising_it_continues_to_the_same_end(tmp_path: Path) -> None:
    whole = trained(tmp_path / "whole" / "run")
    cut = trained(tmp_path / "cut" / "run", config(control={"budget": {"calls": 90}}))
    assert "budget of 90 calls" in cut.stopped
    assert not cut.judge.judgements
    resumed = trained(tmp_path / "cut" / "run", config())
    assert resumed.best == whole.best
    mine, theirs = timeless(resumed.folder), timeless(whole.folder)
    for files in (mine, theirs):
        files.pop("config.toml")
        files.pop("config.json")  # control is in them, and differs
    assert mine == theirs


def small_run(folder: Path) -> dict[str, bytes]:
    settings = config(gepa={"calls": 40, "validation": 0.5, "merge": True}, control={"concurrency": 3})
    result = trained(folder, settings, env=Kinds(**SMALL))
    assert result.judge.judgements
    return timeless(folder)


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_a_crash_at_any_ledger_event_leaves_no_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: bool
) -> None:
    leaves_no_trace(small_run, tmp_path, monkeypatch, 2 if before else 5, 9, before=before)


def test_a_complete_run_is_replayed_without_a_call(tmp_path: Path) -> None:
    replays_without_a_call(trained, tmp_path / "run")


def test_an_interrupt_ends_the_search_and_the_run_goes_on_later(tmp_path: Path) -> None:
    asked = 0

    def interrupted(request: Request) -> str:
        nonlocal asked
        asked += 1
        if asked == 30:
            raise KeyboardInterrupt
        return target(request)

    with pytest.raises(KeyboardInterrupt):
        trained(tmp_path / "run", target=interrupted)
    whole = trained(tmp_path / "other" / "run")
    assert trained(tmp_path / "run").best == whole.best


def test_candidates_without_effect_pass_no_more_often_than_the_gate_says(tmp_path: Path) -> None:
    """GEPA takes one of them for its best nearly always: the best of many looks better on the tasks that chose it."""
    brought = accepted = 0
    for seed in range(16):
        settings = config(train={"seed": seed, "test": 0}, gepa={"calls": 70})
        luck = coin(seed)
        result = trained(tmp_path / str(seed), settings, optimiser=useless, target=luck)
        brought += len(result.judge.judgements)
        accepted += sum(judgement.accepted for judgement in result.judge.judgements)
    assert brought > 8
    assert accepted <= 4, f"{accepted} of {brought} at an alpha of 0.1; more than 4 come twice in 100 times at most"


def coin(seed: int) -> Any:
    def answer(request: Request) -> str:
        kind = request.messages[-1].text.split()[0]
        return kind[::-1] if (request.sampling.seed or 0) * 2654435761 % 97 < 48 + seed % 3 else "?"

    return answer


# --------------------------------------------------------------------------------------------- what can go wrong


@pytest.mark.parametrize("reply", ["", "```", "no fences here, and nothing else", "x" * 200_000, "```\n```"])
def test_a_reflection_that_says_nothing_useful_harms_nothing(tmp_path: Path, reply: str) -> None:
    result = trained(tmp_path / "run", config(gepa={"calls": 60}), optimiser=lambda request: reply)
    assert not result.stopped
    assert result.best == Playbook() or result.best.body == "no fences here, and nothing else"


def test_a_cut_off_reflection_makes_no_proposal(tmp_path: Path) -> None:
    cut = Reply("```\nHalf of a sent", finish="length")
    result = trained(tmp_path / "run", config(gepa={"calls": 60}), optimiser=lambda request: cut)
    assert [entry.index for entry in result.training.pool] == [0]


def test_a_reflection_model_that_is_down_stops_the_run_with_its_name(tmp_path: Path) -> None:
    """GEPA itself catches whatever its model raises, and goes on to spend the whole budget on nothing."""

    def down(request: Request) -> str:
        raise FaultError(Fault("connection", "optimizer.example", "refused"))

    stopped = trained(tmp_path / "run", optimiser=down)
    assert "optimizer at gepa/0001/reflection" in stopped.stopped
    assert trained(tmp_path / "run").judge.judgements


def test_faults_of_the_service_are_no_scores(tmp_path: Path) -> None:
    """What was lost counts neither for nor against a text: with it, a text that solves nothing still has 0."""

    def shaky(request: Request) -> str:
        if (request.sampling.seed or 0) % 20 == 0:
            raise FaultError(Fault("connection", "target.example", "refused"))
        return "?"

    result = trained(tmp_path / "run", config(gepa={"calls": 100}), target=shaky)
    with Ledger.read(result.folder) as ledger:
        lost = sum(bool(outcome.fault) for outcome in ledger.outcomes())
    assert not result.stopped
    assert lost
    assert [entry.validation for entry in result.training.pool] == [0.0]


def test_files_beside_the_body_are_components_of_their_own(tmp_path: Path) -> None:
    changed: set[str] = set()

    def listening(request: Request) -> str:
        changed.add(shown(request.messages[0].text)[0].split("\n")[0])
        return reflection(request)

    start = Playbook("Body.", files={"notes.md": "Notes."})
    result = trained(tmp_path / "run", optimiser=listening, playbook=start)
    assert changed == {"Body.", "Notes."}
    assert result.best.files.keys() == {"notes.md"}


def test_without_the_package_there_is_one_line_that_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gepa", None)
    with pytest.raises(WhetError, match=r"the learner gepa needs the package of that name: pip install"):
        trained(tmp_path / "run")


def test_facts_that_only_the_feedback_gives_away_are_learnt(tmp_path: Path) -> None:
    result = learnt_by("gepa", TASKS[2], tmp_path)
    assert result.summary["baseline_test_hard"] == 0.0
    assert result.summary["test_hard"] >= 0.85


def test_its_plan_is_said_in_a_line() -> None:
    assert "one candidate for the gate" in learner_named("gepa").describe(config(), 24)
