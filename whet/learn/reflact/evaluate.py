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
    if not items:
        return ()
    judging = _Judging(step, judge)
    if bring == "each":
        for item in items:
            await judging.bring((item,))
    else:
        whole = await judging.bring(items, candidate.playbook)
        if bring == "halves" and not whole.accepted and whole.action != "skip_identical":
            await judging.halves(items)
    if step.config.update.credit and not candidate.whole:
        for accepted in [one for one in judging.found if one.accepted and len(one.items) > 1]:
            await judging.thin(accepted)
    return tuple(judging.found)


class _Judging:
    """The decisions of one step, numbered in their order."""

    def __init__(self, step: Step, judge: Judge) -> None:
        self.step = step
        self.judge = judge
        self.found: list[Judged] = []

    async def bring(self, items: Sequence[Item], playbook: Playbook | None = None, what: str = "") -> Judged:
        """`items` on top of the current playbook, or `playbook` as it is."""
        kept = tuple(items)
        if playbook is None:
            playbook, rows = apply_items(self.judge.current.playbook, items, self.step.config.update.max_bytes)
            kept = tuple(row.item for row in rows if row.applied)
        purpose = f"{self.step.where}/decision/{len(self.found):02d}{what}"
        origin = f"step_{self.step.number:04d}"
        judged = await self.judge.bring(purpose, playbook, kept, origin, self.step.number)
        self.found.append(judged)
        return judged

    async def halves(self, items: Sequence[Item]) -> None:
        """A rejected bundle in two parts, and a rejected part in two again."""
        if len(items) < 2:
            return
        middle = (len(items) + 1) // 2
        for part in (items[:middle], items[middle:]):
            judged = await self.bring(part)
            if not judged.accepted:
                await self.halves(part)

    async def thin(self, accepted: Judged) -> None:
        """Leaves out one item after another of an accepted bundle where the gate finds the playbook better without."""
        base, kept = self._before(accepted), list(accepted.items)
        for item in accepted.items:
            fewer = [one for one in kept if one is not item]
            if not fewer:
                break
            playbook, rows = apply_items(base, fewer, self.step.config.update.max_bytes)
            if not all(row.applied for row in rows):
                continue  # another item builds on this one
            judged = await self.bring((item,), playbook, "-without")
            if judged.accepted:
                kept = fewer

    def _before(self, accepted: Judged) -> Playbook:
        """The playbook that an accepted bundle was put into."""
        playbook = self.step.playbook
        for one in self.found:
            if one is accepted:
                break
            if one.accepted:
                playbook = one.playbook
        return playbook
