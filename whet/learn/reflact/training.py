"""ReflACT: roll out, reflect, aggregate, select, update, evaluate; at the end of an epoch look back; keep the evidence.

Departures from the published method, each of them in the config: the gate is a paired test instead of one noisy mean; a
rejected bundle is judged in halves; the memory of steps lasts over epochs; guidance and reminders pass the gate too.
`preset = "skillopt"` sets the published behaviour.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from whet.errors import WhetError
from whet.learn.judge import Judge, Judgement, Standing
from whet.learn.learner import Assignment, Learner, Training
from whet.learn.prompt_text import prompts_beside, refuse_unknown
from whet.learn.reflact.artifacts import TrainingFiles, counts
from whet.learn.reflact.config import ReflactConfig
from whet.learn.reflact.effects import EditBook, EditEffects
from whet.learn.reflact.epoch_end import EpochEnd, end_epoch
from whet.learn.reflact.evaluate import evaluate
from whet.learn.reflact.examples import Examples
from whet.learn.reflact.memory import StepMemory, bundle_result
from whet.learn.reflact.notes import new_notes
from whet.learn.reflact.proposer import Analyst, Proposal, Proposer
from whet.learn.reflact.records import Evidence
from whet.learn.reflact.rollout import plan_epoch, roll_out
from whet.learn.reflact.step import Step, prompts_of
from whet.learn.workshop import Spent, Workshop
from whet.types import Playbook, Policy, Rollout

PROPOSERS: dict[str, Callable[[], Proposer]] = {"analyst": Analyst, "examples": Examples}


@dataclass(slots=True)
class StepState:
    """A step, filled in as its stages end; `stopped` says why it was cut short."""

    step: Step
    tasks: tuple[int, ...]
    evidence: Evidence | None = None
    proposal: Proposal = field(default_factory=Proposal)
    judgements: tuple[Judgement, ...] = ()
    current: Standing | None = None
    best: Standing | None = None
    stopped: str = ""
    complete: bool = False

    @property
    def action(self) -> str:
        """The step in a word: the last acceptance, else a rejection, else why nothing was judged."""
        actions = [judgement.action for judgement in self.judgements]
        accepted = [judgement.action for judgement in self.judgements if judgement.accepted]
        if accepted:
            return accepted[-1]
        if "reject" in actions:
            return "reject"
        if "undecided" in actions:
            return "undecided"
        if self.stopped:
            return "stopped"
        if self.proposal.weighed is not None and self.proposal.weighed.probes:
            return "skip_not_promising"
        chosen, revision = self.proposal.chosen, self.proposal.revision
        if revision is not None and revision.items:
            return "skip_identical"
        if chosen is None or not chosen.available:
            return "skip_no_patches"
        return "skip_no_edits" if self.step.config.update.mode == "patch" else "skip_no_rewrite"

    def entry(self) -> StepMemory:
        """What later steps are told of this one."""
        rollouts = self.evidence.rollouts if self.evidence else ()
        failed = sum(rollout.score is not None and not rollout.score.hard for rollout in rollouts)
        patterns = tuple(pattern for patch in self.proposal.patches for pattern in patch.patterns)
        tried = tuple(bundle_result(judgement) for judgement in self.judgements if judgement.action != "skip_identical")
        return StepMemory(
            self.step.epoch, self.step.number, self.action, len(rollouts), failed, patterns, tried, self.proposal.pool
        )


@dataclass(slots=True)
class ReflactTraining(Training):
    """A run of ReflACT. Everything it holds is made anew from the ledger when it is started again."""

    shop: Workshop
    judge: Judge
    config: ReflactConfig
    tasks: tuple[int, ...]
    moved: Callable[[], None] = lambda: None
    steps: list[StepState] = field(default_factory=list)
    ends: list[EpochEnd] = field(default_factory=list)
    steps_done: int = 0
    spent: str = ""
    files: TrainingFiles = field(init=False)
    before: ReflactTraining | None = None
    """The training that this one continues: its steps come first, and its epochs."""
    _told: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        self.files = TrainingFiles()
        if self.before is not None:
            self.steps, self.ends = list(self.before.steps), list(self.before.ends)
            self._told = len(self.steps), len(self.ends)
        self.shop.effort = {str(stage): effort for stage, effort in self.config.reflect.effort.items()}
        refuse_unknown(self.shop.env.prompts(), self.shop.env.name)
        self.shop.prompts = prompts_of(self.shop, self.config)
        if not self.tasks:
            raise WhetError(f"{self.shop.env.name}: there are no train tasks to learn from")

    async def run(self) -> None:
        """All epochs, then the final validation; or as far as the rollouts given to learning reach."""
        try:
            first = 1 + max((state.step.epoch for state in self.steps), default=0)
            for epoch in range(first, first + self.config.train.epochs):
                opening = self.judge.current.playbook
                for in_epoch, batch in enumerate(self.plan(epoch), 1):
                    await self._take_step(epoch, in_epoch, batch)
                await self._end_epoch(epoch, opening)
            await self.judge.validate()
        except Spent as spent:
            self.spent = str(spent)
        self.moved()

    @property
    def total(self) -> int:
        earlier = len(self.before.steps) if self.before is not None else 0
        return earlier + planned_steps(self.config, len(self.tasks))

    def plan(self, epoch: int) -> list[tuple[int, ...]]:
        return plan_epoch(self.tasks, epoch, self.config.train.seed, self.config.train.per_step)

    async def _take_step(self, epoch: int, in_epoch: int, batch: Sequence[int]) -> None:
        forget = self.config.reflect.forget
        memory = tuple(state.entry() for state in self.steps if state.step.epoch == epoch or not forget)
        memo = self.ends[-1].meta if self.ends else ""
        current = self.judge.current.policy
        number, book = len(self.steps) + 1, self._book()
        step = Step(
            *(self.shop, self.config, epoch, number, in_epoch, self.total, current, memory, memo),
            book=book,
            effects=book.effects() if book else EditEffects(),
            tasks=self.tasks,
            judged=self._judged(current),
            solved=self._solved(),
            known=self._known(current) if self.config.train.reuse else {},
        )
        state = StepState(step, tuple(batch))
        self.steps.append(state)
        before = len(self.judge.judgements)
        try:
            state.evidence = await self.shop.timed(f"{step.where}/rollout", roll_out(step, batch))
            await PROPOSERS[self.config.train.proposer]().propose(step, state.evidence, state.proposal)
            if state.proposal.revision is not None:
                judging = evaluate(step, self.judge, state.proposal.revision)
                await self.shop.timed(f"{step.where}/evaluate", judging)
            self._flush_notes(state)
        except Spent as spent:
            state.stopped = str(spent)
            raise
        finally:
            state.judgements = tuple(self.judge.judgements[before:])
            state.current, state.best = self.judge.current, self.judge.best
        state.complete = True
        self.moved()

    def _book(self) -> EditBook | None:
        """All attempts so far by the edits of their playbooks, where the config wants edits weighed."""
        if not self.config.update.weighs:
            return None
        kinds = [self.shop.env.label("select", task).kind for task in self.shop.select]
        book = EditBook(self.judge.initial, kinds)
        for state in self.steps:
            book.enter_items(state.proposal.pool)
        for judgement in self.judge.judgements:
            book.enter_judgement(judgement)
        for state in self.steps:
            book.enter_rollouts(state.step.policy, state.evidence.rollouts if state.evidence else ())
            for probe in state.proposal.probes:
                book.enter_changes(state.step.policy, probe.policy, probe.changes)
                book.enter_rollouts(probe.policy, probe.rollouts)
        return book

    def _judged(self, policy: Policy) -> tuple[Policy, ...]:
        """Candidates that the gate has compared with this policy."""
        judged = (judgement for judgement in self.judge.judgements if judgement.incumbent == policy)
        return tuple(judgement.candidate.policy for judgement in judged)

    def _solved(self) -> frozenset[int]:
        """Train tasks that were ever solved."""
        batches = [batch for state in self.steps if state.evidence for batch in state.evidence.batches]
        return frozenset(rollout.ticket.index for batch in batches for rollout in batch.solved)

    def _known(self, policy: Policy) -> dict[int, list[Rollout]]:
        """Train attempts of earlier steps that began with this policy, each once."""
        found: dict[int, dict[str, Rollout]] = {}
        for state in self.steps:
            for rollout in state.evidence.rollouts if state.evidence and state.step.policy == policy else ():
                found.setdefault(rollout.ticket.index, {})[rollout.key] = rollout
        return {task: list(attempts.values()) for task, attempts in found.items()}

    def _flush_notes(self, state: StepState) -> None:
        """Reminders into the current playbook without evidence, where the config wants the published behaviour."""
        current = self.judge.current
        notes = new_notes(current.playbook.reminders, state.proposal.notes)
        if notes and not self.config.reflect.gate_notes:
            noted = replace(current.playbook, reminders=(*current.playbook.reminders, *notes))
            self.judge.force(replace(current.policy, playbook=noted), current.origin, current.step)

    async def _end_epoch(self, epoch: int, before: Playbook) -> None:
        """Looks back at the epoch: `before` is what it began with."""
        memo = self.ends[-1].meta if self.ends else ""
        step = self.steps[-1].step.number
        ending = end_epoch(self.shop, self.config, self.judge, epoch, before, self.tasks, memo, step)
        self.ends.append(await self.shop.timed(f"e{epoch}/end/slow", ending))
        self.moved()

    # ------------------------------------------------------------------------------------------- what others see

    def news(self) -> list[str]:
        steps, ends = self._told
        told = [self._said(state) for state in self.steps[steps:]]
        told += [
            f"end of epoch {end.epoch}: guidance {end.action.replace('_', ' ')}"
            for end in self.ends[ends:]
            if end.action not in ("not_used", "nothing_changed")
        ]
        self._told = len(self.steps), len(self.ends)
        return told

    def _said(self, state: StepState) -> str:
        solved = state.evidence.mean("hard") if state.evidence else None
        rolled = "" if solved is None else f"train {solved:.2f} solved, "
        lines = [f"step {state.step.number}/{self.total}: {rolled}{state.action.replace('_', ' ')}"]
        lines += [f"  {judgement.decision}" for judgement in state.judgements]
        lines += [f"  {line}" for line in state.proposal.trouble]
        return "\n".join(lines)

    def write(self, folder: Path) -> None:
        self.files.write(folder, self)
        self.steps_done = len(self.files.history)

    def summary(self) -> dict[str, Any]:
        return counts(self.files.history)


def planned_steps(config: ReflactConfig, tasks: int) -> int:
    return config.train.epochs * -(-tasks // config.train.per_step)


class ReflactLearner(Learner):
    """ReflACT as the entry point `whet.learners` finds it."""

    name = "reflact"
    about = "a playbook, step by step: reflect on attempts, propose edits or worked examples, keep what is better"
    config = ReflactConfig

    def consults(self, config: ReflactConfig) -> bool:
        return config.train.proposer == "analyst"

    def steps(self, config: ReflactConfig, tasks: int) -> int:
        return planned_steps(config, tasks)

    def rollouts(self, config: ReflactConfig, tasks: int) -> int:
        """Train rollouts of all epochs; sets of examples are tried besides, or an epoch is compared with the next."""
        sets = config.examples.tries * (2 if config.examples.choice == "both" else 1)
        tries = sets * config.examples.probe * planned_steps(config, tasks)
        compared = 2 * config.slow.samples * (config.train.epochs - 1) if config.slow.use or config.meta.use else 0
        section = config.update
        compared += section.probes * section.probe_tasks * planned_steps(config, tasks) if section.weighs else 0
        return config.train.epochs * tasks * config.reflect.draws + (compared if self.consults(config) else tries)

    def forces(self, config: ReflactConfig) -> bool:
        slow, reflect = config.slow, config.reflect
        return (slow.use and not slow.gated) or (reflect.lapses and not reflect.gate_notes)

    def describe(self, config: ReflactConfig, tasks: int) -> str:
        section = config.train
        short = f", all short: a batch has {section.per_step} tasks" if tasks < section.per_step else ""
        proposer = "" if self.consults(config) else "; proposes worked examples"
        steps = planned_steps(config, tasks)
        many = f"{section.epochs} epoch{'s' * (section.epochs > 1)}, {steps} step{'s' * (steps > 1)}"
        return f"{many}{short}{proposer}"

    def beside(self, folder: Path) -> dict[str, Any]:
        found = prompts_beside(folder)
        return {"reflect": {"prompts": found}} if found else {}

    def begin(self, assignment: Assignment) -> ReflactTraining:
        before = cast("ReflactTraining | None", assignment.before)
        shop, judge, config = assignment.shop, assignment.judge, assignment.config
        return ReflactTraining(shop, judge, config, assignment.tasks, assignment.moved, before=before)

    def continues(self) -> bool:
        return True
