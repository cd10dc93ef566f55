"""Pending edits are tried on train tasks first; what all rollouts speak for goes to the gate, and nothing twice."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from reflact_world import HARM, NULLS, RULES, config, optimiser, trained

from whet.gate import PairedGate
from whet.learn.reflact.evaluate import evaluate
from whet.learn.reflact.records import Edit, EditOutcome, Revision
from whet.learn.reflact.training import ReflactLearner
from whet.models.base import Request
from whet.types import Playbook, Policy

PLAIN: dict[str, Any] = {"slow": {"use": False}, "meta": {"use": False}, "gate": {"pace": "steady", "alpha": 0.1}}


def weighing(**update: Any) -> Any:
    return config(
        train={"epochs": 3}, reflect={"calls": 1}, update={"bring": "bundle", "evidence": True, **update}, **PLAIN
    )


def proposing(*texts: str) -> Any:
    """An optimiser that always proposes the same."""

    def answer(request: Request) -> str:
        if not request.messages[0].text.startswith("You improve"):
            return optimiser(request)
        edits = [{"op": "append", "content": text} for text in texts]
        return json.dumps({"batch_size": 4, "patch": {"reasoning": "", "edits": edits}})

    return answer


def test_rules_are_kept_and_what_harms_never_reaches_the_playbook(tmp_path: Path) -> None:
    result = trained(tmp_path / "run", weighing(), optimiser=proposing(*list(RULES.values())[:3], HARM))
    kept = [rule for rule in RULES.values() if rule in result.best.body]
    assert len(kept) == 3
    assert HARM not in result.best.body


def test_no_playbook_is_brought_twice_beside_the_same_one(tmp_path: Path) -> None:
    result = trained(tmp_path / "run", weighing(), optimiser=proposing(*NULLS))
    pairs = [(judgement.incumbent, judgement.candidate.policy) for judgement in result.judge.judgements]
    assert all(pairs.count(pair) == 1 for pair in pairs)


def test_the_optimiser_is_not_asked_while_enough_is_in_doubt(tmp_path: Path) -> None:
    asked: list[Request] = []

    def listening(request: Request) -> str:
        asked.append(request)
        return proposing(*NULLS)(request)

    def no_difference(request: Request) -> str:
        return "?"

    settings = config(
        train={"epochs": 3},
        reflect={"calls": 1, "enough": len(NULLS)},
        update={"bring": "bundle", "evidence": True, "probes": 1, "probe_tasks": 1},
        **PLAIN,
    )
    result = trained(tmp_path / "run", settings, optimiser=listening, target=no_difference)
    assert len(result.training.steps) == 6
    assert len(asked) == 1


def test_a_step_says_on_file_what_was_tried(tmp_path: Path) -> None:
    result = trained(tmp_path / "run", weighing(probes=2, probe_tasks=4), optimiser=proposing(*NULLS))
    told = json.loads((result.folder / "steps/step_0002/probes.json").read_bytes())
    assert len(told["probes"]) <= 2
    assert all(len(probe["tasks"]) == 4 for probe in told["probes"])
    assert {row["edit"] for row in told["effects"]} <= {f"append: {null}" for null in NULLS}


def test_probes_are_part_of_what_a_run_is_said_to_cost() -> None:
    learner, without = ReflactLearner(), config(update={"evidence": False})
    steps = learner.steps(without, 24)
    settings = config(update={"evidence": True, "probes": 3, "probe_tasks": 5})
    assert learner.rollouts(settings, 24) - learner.rollouts(without, 24) == steps * 15


@pytest.mark.parametrize(
    ("gate", "dropped", "weighed", "pace"),
    [
        ("steady", 0, True, ""),
        ("steady", 3, True, ""),
        ("steady", 4, True, "brief"),
        ("steady", 4, False, ""),
        ("patient", 4, True, ""),
    ],
)
def test_after_four_bundles_beside_one_playbook_the_next_is_judged_on_every_task(
    gate: str, dropped: int, weighed: bool, pace: str
) -> None:
    """A race begins where the playbook fails most surely: true gains of many small edits were dropped there.

    A gate that gives both sides every task as it is stays at its pace.
    """
    paces: list[str] = []

    async def bring(purpose: str, candidate: object, *, share: float, pace: str) -> object:
        paces.append(pace)
        return SimpleNamespace(accepted=False, action="reject")

    shop = SimpleNamespace(update=SimpleNamespace(bring="bundle", credit=False))
    step: Any = SimpleNamespace(
        config=shop, where="e1/s0001", number=1, judged=(None,) * dropped, book=object() if weighed else None
    )
    step.with_playbook = lambda playbook: Policy("t", playbook=playbook)
    revision = Revision(Playbook("Be brief."), (EditOutcome(Edit("append", "Be brief."), "applied_append"),))
    judge: Any = SimpleNamespace(bring=bring, shop=SimpleNamespace(gate=PairedGate(pace=gate)))
    asyncio.run(evaluate(step, judge, revision))
    assert paces == [pace]
