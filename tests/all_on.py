"""Training runs with every option of a proposer on at once, for tests that kill them anywhere.

`bench/kills.py` does so at every event, where no pytest need be.
"""

from __future__ import annotations

from pathlib import Path

from reflact_world import RULES, Kinds, config, target, timeless, trained

from whet.models.base import Request
from whet.types import Feedback, Rollout, Task


class Choice(Kinds):
    """The kinds as a choice, so that a target can vote, with feedback of its own."""

    name, fingerprint, chooses = "choice", "choice-1", True

    def verdict(self, task: Task, rollout: Rollout) -> str | None:
        return rollout.turns[0].reply.text.strip() if rollout.turns else None

    def feedback(self, task: Task, rollout: Rollout) -> Feedback:
        return Feedback(str(task.truth), self.verdict(task, rollout) or "", "not the word backwards", task.label.kind)


def patient_target(request: Request) -> str:
    """The target, with a second try at what it is told was wrong."""
    asked = request.messages[-1].text.split()[0] in RULES
    return target(request) if asked else f"once more: {request.messages[-1].text[:40]}"


VOTING = {"model": "test:function", "sampling": {"votes": 3, "until_settled": True}}
GUARDED = {
    "pace": "steady",
    "alpha": 0.1,
    "spending": 0.9,
    "guards": [{"metric": "soft", "bound": 0.5}],
    "max_regressions": 0.9,
}


def analyst_with_all(folder: Path) -> dict[str, bytes]:
    """Every option of a run with an optimiser at once, a change of guidance and of reminders among them."""
    settings = config(
        target=VOTING,
        train={"epochs": 3, "batch_size": 4, "eval_feedback": True, "reuse": True},
        reflect={
            "minibatch": 2,
            "calls": 0,
            "draws": 2,
            "images": 1,
            "lapses": True,
            "consolidate_above": 3,
            "effort": {"analyst": "high", "merge": "low"},
            "prompts": {"meta": 'Write a memo. JSON: {"reasoning", "meta_skill_content"}'},
        },
        update={
            "scheduler": "autonomous",
            "bring": "halves",
            "credit": True,
            "evidence": True,
            "probes": 2,
            "probe_tasks": 4,
        },
        slow={"use": True, "idle": True, "samples": 2, "pairs": "changed"},
        meta={"use": True},
        gate=GUARDED,
        control={"concurrency": 6},
    )
    result = trained(folder, settings, target=patient_target, env=Choice(train=8, select=12, test=4))
    assert any(judgement.accepted for judgement in result.judge.judgements)
    assert any(judgement.pruned for judgement in result.judge.judgements)
    assert any(state.proposal.probes for state in result.training.steps)
    assert any(end.meta for end in result.training.ends)
    return timeless(folder)


def examples_with_all(folder: Path) -> dict[str, bytes]:
    """Fixed sets beside a bank with the nearest for each task, a target that votes and is told how it was graded."""
    settings = config(
        target=VOTING,
        train={"proposer": "examples", "epochs": 2, "batch_size": 4, "eval_feedback": True},
        examples={"choice": "both", "take": 2, "most": 3, "bank": 6, "tries": 2, "probe": 3},
        gate={**GUARDED, "pace": "brief"},
        control={"concurrency": 6},
    )
    result = trained(folder, settings, target=patient_target, env=Choice(train=8, select=12, test=4))
    assert any(judgement.accepted for judgement in result.judge.judgements)
    return timeless(folder)


ALL_ON = {"analyst": analyst_with_all, "examples": examples_with_all}
