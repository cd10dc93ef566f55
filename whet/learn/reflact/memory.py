"""What the run remembers of its steps and tells the optimiser: how tasks failed, what was tried, what it measured.

Kept across epochs. What was brought to the gate is remembered with what became of it, undecided or not: else the same
edits are proposed for ever. An edit that could not be applied taught nothing and was not tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from whet.learn.candidate import Change
from whet.learn.judge import Action, Judgement, known
from whet.learn.reflact.effects import EditEffects, item_key
from whet.learn.reflact.records import Item, Pattern
from whet.types import Playbook

WORDS = 160
"""Characters of an edit in a reminder."""


@dataclass(frozen=True, slots=True)
class BundleResult:
    """Items that the gate judged together, and what it measured."""

    items: Sequence[Change]
    action: Action
    before: float | None
    after: float | None
    tasks: int
    without: bool = False
    """Whether the items were left out instead of put in."""

    @property
    def accepted(self) -> bool:
        return self.verdict == "accepted"

    @property
    def verdict(self) -> str:
        """In a word. Undecided: the gate could not tell it from what was there, which is worth remembering too."""
        return self.action if self.action == "undecided" else "rejected" if self.action == "reject" else "accepted"

    def as_data(self) -> dict[str, Any]:
        return {
            "items": [item.as_data() for item in self.items],
            "accepted": self.accepted,
            "verdict": self.verdict,
            "without": self.without,
            "score_before": self.before,
            "score_after": self.after,
            "tasks": self.tasks,
        }

    def __str__(self) -> str:
        measured = ""
        if self.before is not None and self.after is not None:
            measured = f" ({self.before:.2f} → {self.after:.2f} on {self.tasks} tasks)"
        left_out = "leaving out " if self.without else ""
        return f"{self.verdict}{measured}: {left_out}" + " | ".join(
            " ".join(str(item).split())[:WORDS] for item in self.items
        )


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
    pool: tuple[Item, ...] = ()
    """What joined the pending edits, where edits are weighed."""

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
    return BundleResult(candidate.changes, judgement.action, before, after, decision.seen, candidate.without)


def reminder(entries: Sequence[StepMemory], most: int) -> str:
    """The last steps as text for a prompt."""
    return "\n".join(str(entry) for entry in entries[-most:]) if most else ""


def weighed_reminder(entries: Sequence[StepMemory], most: int, effects: EditEffects, playbook: Playbook) -> str:
    """The last step in a line, and what the last steps proposed beside the playbook, each edit once with its promise.

    Which bundle an edit was in says less of it than all attempts do, and takes more words.
    """
    if not entries or not most:
        return ""
    last = entries[-1]
    lines = [f"Step {last.step} (epoch {last.epoch}): {last.failed} of {last.rollouts} attempts failed"]
    there = " ".join(playbook.text.split())
    pending = {item_key(item): _words(item) for entry in entries[-most:] for item in entry.pool}
    told = [
        f"{effects.known[key].helps:.2f} {words}" if key in effects.known else f"?    {words}"
        for key, words in pending.items()
        if words not in there
    ]
    if told:
        lines += ["Proposed before, with how probably each helps:", *told]
    return "\n".join(lines)


def _words(item: Item) -> str:
    return " ".join(str(item).removeprefix("append: ").split())[:WORDS]
