"""Who proposes: a `Proposer` turns the evidence of a step into a revision. `Analyst` asks an optimiser model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from whet.learn.reflact.aggregate import aggregate
from whet.learn.reflact.notes import condensed, new_notes
from whet.learn.reflact.probes import Probe, WeighedBundle, in_doubt, weigh
from whet.learn.reflact.records import EditSelection, Evidence, Item, Patch, Revision
from whet.learn.reflact.reflect import reflect
from whet.learn.reflact.select import scheduled, select
from whet.learn.reflact.step import Step
from whet.learn.reflact.update import update

UNSCHEDULED = 8
"""Items asked of one analyst where no schedule limits a step and the config names no number."""


@dataclass(slots=True)
class Proposal:
    """What a proposer made of the evidence, filled in stage by stage so that a step cut short shows how far it came."""

    patches: tuple[Patch, ...] = ()
    merged: Patch | None = None
    chosen: EditSelection | None = None
    revision: Revision | None = None
    applied: Revision | None = None
    """The step's own proposals in the playbook, before they are weighed."""
    pool: tuple[Item, ...] = ()
    """What joins the pending edits."""
    probes: list[Probe] = field(default_factory=list)
    weighed: WeighedBundle | None = None
    notes: tuple[str, ...] = ()
    condensed: int = 0
    """Reminders that condensing took away."""
    trouble: list[str] = field(default_factory=list)

    def of(self, source: str) -> Sequence[Patch]:
        return [patch for patch in self.patches if patch.source == source and patch.items]


class Proposer(Protocol):
    async def propose(self, step: Step, evidence: Evidence, proposal: Proposal) -> None:
        """Fill `proposal`. Without a revision, or with one that changes nothing, the step is skipped."""
        ...


class Analyst:
    """Reflect, aggregate, select, update: the optimiser reads attempts and proposes changes of the text."""

    async def propose(self, step: Step, evidence: Evidence, proposal: Proposal) -> None:
        shop, where = step.shop, step.where
        budget = scheduled(step)
        asked = budget if budget is not None else step.config.update.edits or UNSCHEDULED
        if asked == 0 and not step.config.reflect.lapses:
            proposal.trouble.append("the schedule allows no edit in this step")
            return
        if step.book is None or len(in_doubt(step, step.book)) < step.config.reflect.enough:
            proposal.patches = await shop.timed(f"{where}/reflect", reflect(step, evidence, asked))
        proposal.notes = new_notes(
            step.playbook.reminders, (note for patch in proposal.patches for note in patch.notes)
        )
        proposal.merged = await shop.timed(f"{where}/aggregate", aggregate(step, proposal.patches))
        proposal.trouble += [line for patch in proposal.patches for line in patch.trouble if not patch.items]
        proposal.trouble += proposal.merged.trouble
        items = proposal.merged.items
        proposal.chosen = await shop.timed(f"{where}/select", select(step, items, evidence))
        revision = await shop.timed(f"{where}/update", self._update(step, proposal))
        proposal.revision = await shop.timed(f"{where}/probe", self._weighed(step, revision, proposal))

    async def _weighed(self, step: Step, revision: Revision, proposal: Proposal) -> Revision | None:
        """What goes to the gate: the revision as it is, or what all attempts speak for once it was tried too."""
        if step.book is None or revision.whole:
            return revision
        proposal.applied, proposal.pool = revision, revision.items
        step.book.enter_items(proposal.pool)
        proposal.weighed = await weigh(step, step.book, proposal.probes)
        return proposal.weighed.revision if proposal.weighed.promising else None

    async def _update(self, step: Step, proposal: Proposal) -> Revision:
        assert proposal.chosen is not None
        gated = proposal.notes if step.config.reflect.gate_notes else ()
        revision = await update(step, proposal.chosen.items, gated)
        proposal.trouble += revision.trouble
        fewer, trouble = await condensed(step, revision.playbook.reminders)
        proposal.trouble += trouble
        if fewer is None:
            return revision
        proposal.condensed = len(revision.playbook.reminders) - len(fewer)
        return replace(revision, playbook=replace(revision.playbook, reminders=fewer), whole=True)
