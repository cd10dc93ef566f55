"""Stage 6, evaluate: the gate judges the step's items together, in halves, or one by one."""

from __future__ import annotations

from collections.abc import Sequence

from whet.learn.reflact.edits import apply_items
from whet.learn.reflact.records import Candidate, Item
from whet.learn.reflact.standing import Judge, Judged
from whet.learn.reflact.step import Step
from whet.types import Playbook


async def evaluate(step: Step, judge: Judge, candidate: Candidate) -> tuple[Judged, ...]:
    """Every decision of the step. Parts of a bundle are judged against what stands after the parts before them."""
    items, bring = candidate.items, "bundle" if candidate.whole else step.config.update.bring
    if not items and not candidate.whole:
        return ()
    judging = _Judging(step, judge)
    if bring == "each":
        for item in items:
            await judging.bring((item,), share=1.0 / len(items))
    else:
        whole = await judging.bring(items, candidate.playbook)
        if bring == "halves" and whole.action == "reject":
            await judging.halves(items, 0.5)
    if step.config.update.credit and not candidate.whole:
        await judging.thin()
    return tuple(judging.found)


class _Judging:
    """The decisions of one step, numbered in their order."""

    def __init__(self, step: Step, judge: Judge) -> None:
        self.step = step
        self.judge = judge
        self.found: list[Judged] = []

    async def bring(
        self, items: Sequence[Item], playbook: Playbook | None = None, *, share: float = 1.0, without: bool = False
    ) -> Judged:
        """`items` on top of the current playbook, or `playbook` as it is."""
        kept = tuple(items)
        if playbook is None:
            playbook, rows = apply_items(self.judge.current.playbook, items, self.step.config.update.max_bytes)
            kept = tuple(row.item for row in rows if row.applied)
        purpose = f"{self.step.where}/decision/{len(self.found):02d}{'-without' if without else ''}"
        origin, number = f"step_{self.step.number:04d}", self.step.number
        judged = await self.judge.bring(purpose, playbook, kept, origin, number, share=share, without=without)
        self.found.append(judged)
        return judged

    async def halves(self, items: Sequence[Item], share: float) -> None:
        """A rejected bundle in two parts, and a rejected part in two again; each level shares one alpha."""
        if len(items) < 2:
            return
        middle = (len(items) + 1) // 2
        for part in (items[:middle], items[middle:]):
            judged = await self.bring(part, share=share)
            if judged.action == "reject":
                await self.halves(part, share / 2.0)

    async def thin(self) -> None:
        """Leaves out one accepted item after another where the gate finds the playbook better without it."""
        kept = [item for one in self.found if one.accepted for item in one.items]
        if len(kept) < 2:
            return
        for item in tuple(kept):
            fewer = [one for one in kept if one is not item]
            playbook, rows = apply_items(self.step.playbook, fewer, self.step.config.update.max_bytes)
            if not fewer or not all(row.applied for row in rows):
                continue  # another item builds on this one
            judged = await self.bring((item,), playbook, share=1.0 / len(kept), without=True)
            if judged.accepted:
                kept = fewer
