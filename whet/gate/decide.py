"""A candidate policy against the incumbent: draws are taken as the gate asks for them, and the decision is remembered.

The gate looks only at batches that are complete, so a decision does not depend on which rollout finishes first. Two
playbooks, two checkpoints, or text against weights: each policy is answered by the player of its own model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from whet.gate.base import Gate, answer
from whet.gate.decision import Decision
from whet.gate.evidence import Arm, Bank, Draw, Reading
from whet.gate.paired import PairedGate
from whet.keys import digest, policy_digest
from whet.rollout.session import Session
from whet.types import Example, Playbook, Policy, Split, Ticket

DECISION = "decision"
"""The kind of effect that holds a decision with its evidence."""

Planned = Sequence[tuple[Policy, Ticket]]


@dataclass(frozen=True, slots=True)
class Contest:
    """Two policies on the same tasks. `purpose` names the decision, `draws` the purpose of its rollouts.

    Rollouts of one purpose are shared by all decisions, so that an incumbent's draws are taken once.
    """

    purpose: str
    incumbent: Policy
    candidate: Policy
    tasks: Sequence[int]
    draws: str
    split: Split = "select"

    @property
    def policies(self) -> Mapping[Arm, Policy]:
        return {"incumbent": self.incumbent, "candidate": self.candidate}

    def ticket(self, draw: Draw) -> Ticket:
        return Ticket(self.draws, self.split, self.tasks[draw.task], draw.draw)


async def decide(
    session: Session, gate: Gate, bank: Bank, contest: Contest, planned: Callable[[Planned], None] = lambda _: None
) -> Decision:
    """The gate's decision. `planned` hears of every batch before it is drawn, and may refuse it by raising."""
    same = refuse_identical(gate, contest.incumbent, contest.candidate)
    if same is not None:
        return same
    if isinstance(gate, PairedGate) and all(_declared_deterministic(session, p) for p in contest.policies.values()):
        gate = replace(gate, deterministic=True)
    taken: dict[Draw, Reading] = {}
    while not isinstance(found := answer(gate, bank, taken), Decision):
        planned([(contest.policies[draw.arm], contest.ticket(draw)) for draw in found.draws])
        for arm, policy in contest.policies.items():
            draws = [draw for draw in found.draws if draw.arm == arm]
            if draws:
                tickets = [contest.ticket(draw) for draw in draws]
                what = f"{contest.purpose} {arm}"
                rolled = await session.roll(policy, tickets, what, _bearable(len(tickets)))
                scores = (None if rollout is None else rollout.score for rollout in rolled)
                taken.update((draw, gate.read(score)) for draw, score in zip(draws, scores, strict=True))
    _remember(session, bank, contest, found)
    return found


def _bearable(rollouts: int) -> float:
    """The share of a batch that may be missing: a task or two that always fault, but not a service that is down."""
    return max(1, rollouts // 2) / rollouts


def _declared_deterministic(session: Session, policy: Policy) -> bool:
    """Whether a policy says that it answers a task always in the same way; the gate checks it on a few tasks."""
    return policy.sampling.temperature == 0 or session.players.seat(policy).player.model.deterministic


def _remember(session: Session, bank: Bank, contest: Contest, decision: Decision) -> None:
    """Record the decision under its key; on a replay the same was asked."""
    key = digest(DECISION, contest.purpose)
    asked = digest(bank, decision.alpha, *(policy_digest(policy) for policy in contest.policies.values()))
    if session.ledger.effect(key, asked, contest.purpose) is None:
        session.ledger.add_effect(key, DECISION, contest.purpose, asked, decision.as_data())


def refuse_identical(gate: Gate, incumbent: Policy, candidate: Policy) -> Decision | None:
    """A rejection when both would answer the same, spaces at line ends apart: a fresh draw must not promote a copy."""
    if (incumbent.model, incumbent.sampling) != (candidate.model, candidate.sampling):
        return None
    if _text(incumbent.playbook) != _text(candidate.playbook):
        return None
    return Decision("reject", gate.name, "identical", "the candidate says the same as the incumbent; nothing was run")


def _text(playbook: Playbook) -> tuple[object, ...]:
    def trimmed(text: str) -> str:
        return "\n".join(line.rstrip() for line in text.splitlines()).strip()

    def worked(examples: tuple[Example, ...]) -> tuple[object, ...]:
        return tuple((trimmed(example.question), trimmed(example.told)) for example in examples)

    files = tuple(sorted((name, trimmed(text)) for name, text in playbook.files.items()))
    rules = tuple((rule.sort, trimmed(rule.text)) for rule in playbook.told)
    return trimmed(playbook.text), worked(playbook.examples), worked(playbook.bank), playbook.nearest, files, rules
