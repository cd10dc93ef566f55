"""A candidate brought to the gate: draws are taken as the gate asks for them, and the decision is remembered.

The gate looks only at batches that are complete, so a decision does not depend on which rollout finishes first. What an
evaluation of the incumbent has drawn already is put into the bank and not drawn again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from whet.config.playbooks import write_playbook
from whet.config.schema import GateSection
from whet.errors import WhetError
from whet.evals.metric import Metric
from whet.gate.alpha import AlphaBudget
from whet.gate.base import Gate, answer, refuse_identical
from whet.gate.decision import Decision
from whet.gate.evidence import Arm, Bank, Draw, Reading
from whet.gate.guard import Guard
from whet.gate.paired import PACES
from whet.gate.registry import gate_named, gate_options
from whet.keys import digest, policy_digest
from whet.ledger.projection import write_atomically, write_json
from whet.ledger.store import Ledger
from whet.rollout.budget import Budget
from whet.rollout.engine import Engine, Progress
from whet.run.compose import Given, build_bounds, build_limits, build_players, build_works, concurrency
from whet.run.evaluate import Plan, plan_evaluation
from whet.run.workspace import EVAL, Identity, Run, claim_run
from whet.types import Playbook, Policy, Ticket

GATE = "gate"
"""The purpose of rollouts that a gate asked for."""

CHILDREN = "gates"
DECISION = "decision.json"
CANDIDATE = "candidate.json"


def build_gate(section: GateSection) -> Gate:
    """The gate that a config describes, with the keys it takes; a key that it does not take is refused."""
    options: dict[str, object] = {
        "metric": Metric(section.metric),
        "seed": section.seed,
        "alpha": section.alpha,
        "min_effect": section.min_effect,
        "max_rollouts": section.max_rollouts,
        "stock": section.stock,
        "spending": AlphaBudget(section.spending) if section.spending else None,
        "futility": PACES[section.pace],
        "guards": tuple(Guard(Metric(guard.metric), guard.bound, guard.better) for guard in section.guards),
    }
    taken = gate_options(section.name)
    for key in sorted(section.model_fields_set - {"name", "args"}):
        if {"pace": "futility"}.get(key, key) not in taken and _differs(section, key):
            raise WhetError(f"gate {section.name}: it has no {key}; leave the key out, or use the gate 'paired'")
    return gate_named(section.name, **{key: options[key] for key in options if key in taken} | section.args)


def _differs(section: GateSection, name: str) -> bool:
    """Whether a key says more than its default, which a stored config always spells out."""
    return bool(getattr(section, name) != GateSection.model_fields[name].default)


@dataclass(frozen=True, slots=True)
class Gated:
    """A decision and the child run that holds its evidence."""

    folder: Path
    decision: Decision
    replayed: bool
    """Whether the decision was made in an earlier session."""


async def bring(
    run: Run, candidate: Playbook, section: GateSection, *, progress: Progress, given: Given = Given()
) -> Gated:
    """Bring `candidate` before the gate that `section` describes, against the incumbent of `run`."""
    gate = build_gate(section)
    same = refuse_identical(gate, run.playbook, candidate)
    if same is not None:
        return Gated(run.folder, same, False)
    if run.config.eval.split == "test":
        raise WhetError(f"{run.name}: its tasks are of the test split, which no gate may look at; evaluate on select")
    plan = plan_evaluation(run.config, replace(given, playbook=run.playbook))
    challenger = replace(plan.policy, playbook=candidate)
    bank = _bank(run, plan, gate)
    named = {"gate": section.model_dump(mode="json"), "candidate": policy_digest(challenger), "bank": digest(bank)}
    identity = Identity(
        {**plan.identity.config, **named}, plan.env.fingerprint, plan.model.fingerprint, digest(candidate)
    )
    folder = run.folder / CHILDREN / identity.digest[:8]
    with claim_run(folder, run.config, run.playbook, identity, plan.tasks) as ledger:
        write_atomically(folder / CANDIDATE, write_playbook(candidate))
        table = _Table(plan, gate, bank, {"incumbent": plan.policy, "candidate": challenger}, ledger, progress)
        try:
            decision = await table.decide()
        finally:
            await plan.model.close()
        replayed = _remember(ledger, identity, decision)
        write_json(folder / DECISION, decision.as_data())
    return Gated(folder, decision, replayed)


def _remember(ledger: Ledger, identity: Identity, decision: Decision) -> bool:
    """Record the decision under its key; on a replay it must be the one that was made."""
    key = digest("decision", identity.digest)
    made = decision.as_data()
    if ledger.effect(key, identity.digest, "the decision") is not None:
        return True
    ledger.add_effect(key, "decision", GATE, identity.digest, made)
    return False


def _bank(run: Run, plan: Plan, gate: Gate) -> Bank:
    """The incumbent's draws that its own evaluation took."""
    place = {task: position for position, task in enumerate(plan.tasks)}
    drawn = tuple(
        (Draw("incumbent", place[one.ticket.index], one.ticket.draw), gate.read(one.score))
        for one in run.rollouts(EVAL)
        if one.ticket.index in place
    )
    return replace(gate.open(len(plan.tasks)).extended(drawn), decisions=0)


@dataclass(slots=True)
class _Table:
    """One comparison under way."""

    plan: Plan
    gate: Gate
    bank: Bank
    policies: Mapping[Arm, Policy]
    ledger: Ledger
    progress: Progress

    async def decide(self) -> Decision:
        config = self.plan.config
        players = build_players(config, self.plan.env, self.plan.model)
        budget = Budget(build_limits(config.control), self.ledger.spent())
        works = build_works(config)
        engines = {
            arm: Engine(
                self.plan.env,
                policy,
                players,
                self.ledger,
                budget,
                bounds=build_bounds(config),
                works=works,
                concurrency=concurrency(config, players),
                patience=config.control.patience,
            )
            for arm, policy in self.policies.items()
        }
        taken: dict[Draw, Reading] = {}
        try:
            while True:
                found = answer(self.gate, self.bank, taken)
                if isinstance(found, Decision):
                    return found
                for arm, engine in engines.items():
                    await self._take(engine, [draw for draw in found.draws if draw.arm == arm], taken)
        finally:
            await works.close()

    async def _take(self, engine: Engine, draws: list[Draw], taken: dict[Draw, Reading]) -> None:
        tickets = {draw: self._ticket(draw) for draw in draws}
        if not tickets:
            return
        tally = await engine.run(list(tickets.values()), progress=self.progress, what=f"{draws[0].arm} draws")
        if tally.stopped:
            raise WhetError(f"{self.ledger.path.parent}: no decision yet, {tally.stopped}; the same command continues")
        for draw, ticket in tickets.items():
            rollout = self.ledger.rollout(engine.key(ticket))
            taken[draw] = self.gate.read(None if rollout is None else rollout.score)

    def _ticket(self, draw: Draw) -> Ticket:
        return Ticket(GATE, self.plan.config.eval.split, self.plan.tasks[draw.task], draw.draw)
