"""Stage 6, evaluate: the gate judges the step's items together, in halves, or one by one."""

from __future__ import annotations

from collections.abc import Sequence

from whet.gate.pace import RacePace
from whet.gate.paired import PairedGate
from whet.learn.candidate import Candidate
from whet.learn.judge import Judge, Judgement
from whet.learn.reflact.edits import apply_items
from whet.learn.reflact.records import Item, Revision
from whet.learn.reflact.step import Step
from whet.types import Playbook

WHOLE, DROPPED = "brief", 4
"""How the next candidate is judged after so many beside one playbook, where edits are weighed: on every task.

A race begins with the tasks that the playbook fails most surely, and drops what mends none of the first two. Bundles of
many small edits mend hardly any of those; each of them would be dropped there, and the next one at the same tasks."""


async def evaluate(step: Step, judge: Judge, revision: Revision) -> tuple[Judgement, ...]:
    """Every decision of the step. Parts of a bundle are judged against what stands after the parts before them."""
    items, bring = revision.items, "bundle" if revision.whole else step.config.update.bring
    if not items and not revision.whole:
        return ()
    evaluation = _Evaluation(step, judge)
    if bring == "each":
        for item in items:
            await evaluation.bring((item,), share=1.0 / len(items))
    else:
        whole = await evaluation.bring(items, revision.playbook)
        if bring == "halves" and whole.action == "reject":
            await evaluation.halves(items, 0.5)
    if step.config.update.credit and not revision.whole:
        await evaluation.thin()
    return tuple(judgement for judgement, _ in evaluation.made)


class _Evaluation:
    """The decisions of one step, numbered in their order, each with the items it was about."""

    def __init__(self, step: Step, judge: Judge) -> None:
        self.step = step
        self.judge = judge
        self.made: list[tuple[Judgement, tuple[Item, ...]]] = []

    async def bring(
        self, items: Sequence[Item], playbook: Playbook | None = None, *, share: float = 1.0, without: bool = False
    ) -> Judgement:
        """`items` on top of the current playbook, or `playbook` as it is."""
        kept = tuple(items)
        if playbook is None:
            playbook, rows = apply_items(self.judge.current.playbook, items, self.step.config.update.max_bytes)
            kept = tuple(row.item for row in rows if row.applied)
        purpose = f"{self.step.where}/decision/{len(self.made):02d}{'-without' if without else ''}"
        origin, number = f"step_{self.step.number:04d}", self.step.number
        candidate = Candidate(self.step.with_playbook(playbook), kept, origin, number, without)
        if without:
            judgement = await self.judge.prune(purpose, candidate, share=share)
        else:
            judgement = await self.judge.bring(purpose, candidate, share=share, pace=self._pace())
        self.made.append((judgement, kept))
        return judgement

    def _pace(self) -> str:
        """Whole rounds where the race has dropped one weighed bundle after the other beside this playbook."""
        gate, dropped = self.judge.shop.gate, len(self.step.judged)
        races = isinstance(gate, PairedGate) and isinstance(gate.rule, RacePace)
        return WHOLE if races and self.step.book is not None and dropped and dropped % DROPPED == 0 else ""

    async def halves(self, items: Sequence[Item], share: float) -> None:
        """A rejected bundle in two parts, and a rejected part in two again; each level shares one alpha."""
        if len(items) < 2:
            return
        middle = (len(items) + 1) // 2
        for part in (items[:middle], items[middle:]):
            judgement = await self.bring(part, share=share)
            if judgement.action == "reject":
                await self.halves(part, share / 2.0)

    async def thin(self) -> None:
        """Leaves out one accepted item after another where the gate cannot tell the playbook from one without it."""
        kept = [item for judgement, items in self.made if judgement.accepted for item in items]
        if len(kept) < 2:
            return
        for item in tuple(kept):
            fewer = [other for other in kept if other is not item]
            playbook, rows = apply_items(self.step.playbook, fewer, self.step.config.update.max_bytes)
            if not fewer or not all(row.applied for row in rows):
                continue  # another item builds on this one
            judgement = await self.bring((item,), playbook, share=1.0 / len(kept), without=True)
            if judgement.accepted:
                kept = fewer
