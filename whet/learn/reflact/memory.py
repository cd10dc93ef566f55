"""What the run remembers of its steps and tells the optimiser: how tasks failed, what was tried, what it measured.

Kept across epochs. Only what was really judged counts as rejected: an edit that could not be applied taught nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from whet.learn.candidate import Change
from whet.learn.judge import Judgement, known
from whet.learn.reflact.records import Pattern


@dataclass(frozen=True, slots=True)
class BundleResult:
    """Items that the gate judged together, and what it measured."""

    items: Sequence[Change]
    accepted: bool
    before: float | None
    after: float | None
    tasks: int
    without: bool = False
    """Whether the items were left out instead of put in."""

    def as_data(self) -> dict[str, Any]:
        return {
            "items": [item.as_data() for item in self.items],
            "accepted": self.accepted,
            "without": self.without,
            "score_before": self.before,
            "score_after": self.after,
            "tasks": self.tasks,
        }

    def __str__(self) -> str:
        verdict = "accepted" if self.accepted else "rejected"
        measured = ""
        if self.before is not None and self.after is not None:
            measured = f" ({self.before:.2f} → {self.after:.2f} on {self.tasks} tasks)"
        left_out = "leaving out " if self.without else ""
        return f"{verdict}{measured}: {left_out}" + " | ".join(" ".join(str(item).split())[:160] for item in self.items)


@dataclass(frozen=True, slots=True)
class StepMemory:
    """One step."""

    epoch: int
    step: int
    action: str
    rollouts: int
    failed: int
    patterns: tuple[Pattern, ...] = ()
    tried: tuple[BundleResult, ...] = ()

    def as_data(self) -> dict[str, Any]:
        rejected = [bundle for bundle in self.tried if not bundle.accepted and not bundle.without]
        data: dict[str, Any] = {
            "step": self.step,
            "epoch": self.epoch,
            "action": self.action,
            "n_total": self.rollouts,
            "n_fail": self.failed,
            "failure_patterns": [pattern.as_data() for pattern in self.patterns],
            "tried": [bundle.as_data() for bundle in self.tried],
        }
        if rejected:
            data["score_before"], data["score_after"] = rejected[-1].before, rejected[-1].after
            data["rejected_edits"] = [item.as_data() for bundle in rejected for item in bundle.items]
        return data

    def __str__(self) -> str:
        lines = [f"Step {self.step} (epoch {self.epoch}): {self.failed} of {self.rollouts} attempts failed"]
        lines += [f"  {pattern.kind}, {len(pattern.tasks)}x: {pattern.description}" for pattern in self.patterns]
        lines += [f"  {bundle}" for bundle in self.tried]
        return "\n".join(lines)


def bundle_result(judgement: Judgement) -> BundleResult:
    """A judgement as later steps are told of it."""
    decision, candidate = judgement.decision, judgement.candidate
    before, after = known(decision.incumbent_score), known(decision.candidate_score)
    return BundleResult(candidate.changes, judgement.accepted, before, after, decision.seen, candidate.without)


def reminder(entries: Sequence[StepMemory], most: int) -> str:
    """The last steps as text for a prompt."""
    return "\n".join(str(entry) for entry in entries[-most:]) if most else ""
