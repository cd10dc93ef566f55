"""ReflACT: roll out, reflect, aggregate, select, update, evaluate; at the end of an epoch look back; keep the evidence.

Departures from the published method, each of them in the config: the gate is a paired test instead of one noisy mean; a
rejected bundle is judged in halves; the memory of steps lasts over epochs; guidance and reminders pass the gate too.
`preset = "skillopt"` sets the published behaviour.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from whet.config.train import TrainConfig
from whet.errors import WhetError
from whet.learn.reflact.epoch_end import EpochEnd, end_epoch
from whet.learn.reflact.evaluate import evaluate
from whet.learn.reflact.examples import Examples
from whet.learn.reflact.memory import Entry
from whet.learn.reflact.notes import new_notes
from whet.learn.reflact.proposing import Analyst, Proposal, Proposer
from whet.learn.reflact.records import Evidence
from whet.learn.reflact.rollout import plan_epoch, roll_out
from whet.learn.reflact.standing import FORCING, Action, Held, Judge, Judged
from whet.learn.reflact.step import Step
from whet.learn.workshop import Spent, Workshop
from whet.types import Playbook

PROPOSERS: dict[str, Callable[[], Proposer]] = {"analyst": Analyst, "examples": Examples}


@dataclass(slots=True)
class Taken:
    """A step that was taken, filled in as its stages end; `stopped` says why it was cut short."""

    step: Step
    tasks: tuple[int, ...]
    evidence: Evidence | None = None
    proposal: Proposal = field(default_factory=Proposal)
    judged: tuple[Judged, ...] = ()
    current: Held | None = None
    best: Held | None = None
    stopped: str = ""
    complete: bool = False

    @property
    def action(self) -> str:
        """The step in a word: the last acceptance, else a rejection, else why nothing was judged."""
        accepted = [one.action for one in self.judged if one.accepted]
        if accepted:
            return accepted[-1]
        if any(one.action == "reject" for one in self.judged):
            return "reject"
        if any(one.action == "undecided" for one in self.judged):
            return "undecided"
        if self.stopped:
            return "stopped"
        chosen, candidate = self.proposal.chosen, self.proposal.candidate
        if candidate is not None and candidate.items:
            return "skip_identical"
        if chosen is None or not chosen.available:
            return "skip_no_patches"
        return "skip_no_edits" if self.step.config.update.mode == "patch" else "skip_no_rewrite"

    def entry(self) -> Entry:
        """What later steps are told of this one."""
        rollouts = self.evidence.rollouts if self.evidence else ()
        failed = sum(one.score is not None and not one.score.hard for one in rollouts)
        patterns = tuple(pattern for patch in self.proposal.patches for pattern in patch.patterns)
        tried = tuple(one.tried() for one in self.judged if one.action not in ("skip_identical", "undecided"))
        return Entry(self.step.epoch, self.step.number, self.action, len(rollouts), failed, patterns, tried)


@dataclass(slots=True)
class Training:
    """A run of ReflACT. Everything it holds is made anew from the ledger when it is started again."""

    shop: Workshop
    config: TrainConfig
    initial: Playbook
    tasks: tuple[int, ...]
    watch: Callable[[Training], None] = lambda _: None
    steps: list[Taken] = field(default_factory=list)
    ends: list[EpochEnd] = field(default_factory=list)
    final: Judged | None = None
    spent: str = ""
    judge: Judge = field(init=False)

    def __post_init__(self) -> None:
        self.judge = Judge.start(self.shop, self.initial)
        if not self.tasks:
            raise WhetError(f"{self.shop.env.name}: there are no train tasks to learn from")

    async def run(self) -> None:
        """All epochs, then the final validation; or as far as the rollouts given to learning reach."""
        try:
            for epoch in range(1, self.config.train.epochs + 1):
                opening = self.judge.current.playbook
                for in_epoch, batch in enumerate(self.plan(epoch), 1):
                    await self._take_step(epoch, in_epoch, batch)
                await self._end_epoch(epoch, opening)
            await self._validate()
        except Spent as spent:
            self.spent = str(spent)
        self.watch(self)

    @property
    def per_step(self) -> int:
        return self.config.train.batch_size * self.config.train.accumulation

    @property
    def steps_per_epoch(self) -> int:
        return -(-len(self.tasks) // self.per_step)

    @property
    def total(self) -> int:
        return self.config.train.epochs * self.steps_per_epoch

    def plan(self, epoch: int) -> list[tuple[int, ...]]:
        return plan_epoch(self.tasks, epoch, self.config.train.seed, self.per_step)

    async def _take_step(self, epoch: int, in_epoch: int, batch: Sequence[int]) -> None:
        forget = self.config.reflect.forget
        memory = tuple(one.entry() for one in self.steps if one.step.epoch == epoch or not forget)
        memo = self.ends[-1].meta if self.ends else ""
        current = self.judge.current.playbook
        number = len(self.steps) + 1
        step = Step(self.shop, self.config, epoch, number, in_epoch, self.total, current, memory, memo)
        taken = Taken(step, tuple(batch))
        self.steps.append(taken)
        judged = len(self.judge.judged)
        try:
            taken.evidence = await self.shop.timed(f"{step.where}/rollout", roll_out(step, batch))
            await PROPOSERS[self.config.train.proposer]().propose(step, taken.evidence, taken.proposal)
            if taken.proposal.candidate is not None:
                judging = evaluate(step, self.judge, taken.proposal.candidate)
                await self.shop.timed(f"{step.where}/evaluate", judging)
            self._flush_notes(taken)
        except Spent as spent:
            taken.stopped = str(spent)
            raise
        finally:
            taken.judged = tuple(self.judge.judged[judged:])
            taken.current, taken.best = self.judge.current, self.judge.best
        taken.complete = True
        self.watch(self)

    def _flush_notes(self, taken: Taken) -> None:
        """Reminders into the current playbook without evidence, where the config wants the published behaviour."""
        current = self.judge.current
        notes = new_notes(current.playbook.reminders, taken.proposal.notes)
        if notes and not self.config.reflect.gate_notes:
            noted = replace(current.playbook, reminders=(*current.playbook.reminders, *notes))
            self.judge.force(noted, current.origin, current.step)

    async def _end_epoch(self, epoch: int, before: Playbook) -> None:
        """Looks back at the epoch: `before` is what it began with."""
        memo = self.ends[-1].meta if self.ends else ""
        step = self.steps[-1].step.number
        ending = end_epoch(self.shop, self.config, self.judge, epoch, before, self.tasks, memo, step)
        self.ends.append(await self.shop.timed(f"e{epoch}/end/slow", ending))
        self.watch(self)

    async def _validate(self) -> None:
        """A current playbook that never had to beat the best is compared with it now, and promoted if it is better."""
        current, best = self.judge.current, self.judge.best
        if current.playbook == best.playbook:
            return
        bank = self.shop.gate.open(len(self.shop.select))
        decision = await self.shop.decide("final/decision", bank, best.playbook, current.playbook)
        better = decision.candidate_score > decision.incumbent_score if decision.gate == FORCING else decision.accepted
        action: Action = "accept_new_best" if better else "reject"
        self.final = Judged("final/decision", (), best.playbook, current.playbook, decision, action)
        if better:
            self.judge.best = replace(current, score=decision.as_data()["candidate_score"])
