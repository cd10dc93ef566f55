"""ACE at work in a run: generate, reflect, curate, apply the delta, refine; bring the book to the gate; again.

Departures from the published method. The book is brought to a gate, and what is claimed comes from a sealed test; the
published one keeps what it grew, or the best of several by their validation scores. The generator is the run's target
with its task as it is: it is not asked to name the bullets that it used, the reflector says so. A reflector may read
several attempts at once. Duplicates are found by their words, and the curator joins those that say the same in others;
there they are found by embeddings. A bullet whose record is bad goes, and the curator may reword, join and remove,
within bounds (`bullets.py`); there it may only add.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from whet.errors import WhetError
from whet.files import write_json
from whet.keys import seed_for
from whet.learn.ace.bullets import BulletBook, BulletOperation
from whet.learn.ace.config import ROOM, AceConfig
from whet.learn.ace.roles import Lesson, curate, reflect
from whet.learn.candidate import Candidate
from whet.learn.judge import Judge, Judgement
from whet.learn.learner import Assignment, Learner, Training
from whet.learn.prompt_text import prompts_beside
from whet.learn.workshop import Spent, Workshop, together
from whet.types import Policy, Rollout


@dataclass(slots=True)
class AceStep:
    """A step, filled in as it goes on."""

    number: int
    epoch: int
    tasks: tuple[int, ...]
    solved: int = 0
    attempts: int = 0
    insights: int = 0
    operations: tuple[BulletOperation, ...] = ()
    refused: tuple[tuple[BulletOperation, str], ...] = ()
    trouble: tuple[str, ...] = ()
    bullets: int = 0
    judgement: Judgement | None = None
    reverted: bool = False
    """Whether the book went back to the one that was accepted last."""

    @property
    def where(self) -> str:
        return f"e{self.epoch}/s{self.number:04d}"

    @property
    def action(self) -> str:
        if self.judgement is not None:
            return self.judgement.action
        return "grown" if self.operations else "skip_no_operations"

    def as_data(self) -> dict[str, Any]:
        return {
            "step": self.number,
            "epoch": self.epoch,
            "tasks": list(self.tasks),
            "attempts": self.attempts,
            "solved": self.solved,
            "insights": self.insights,
            "operations": [operation.as_data() for operation in self.operations],
            "refused": [{**operation.as_data(), "why": why} for operation, why in self.refused],
            "trouble": list(self.trouble),
            "bullets": self.bullets,
            "action": self.action,
            "reverted": self.reverted,
            "decision": self.judgement.as_data() if self.judgement else None,
        }


@dataclass(slots=True)
class AceCourse(Training):
    """A run of ACE. Everything it holds is made anew from the ledger when it is started again."""

    shop: Workshop
    judge: Judge
    config: AceConfig
    tasks: tuple[int, ...]
    moved: Callable[[], None] = lambda: None
    steps_done: int = 0
    spent: str = ""
    steps: list[AceStep] = field(default_factory=list)
    book: BulletBook = field(init=False)
    """The book as it grows; ahead of the policy that was accepted last."""
    accepted: BulletBook = field(init=False)
    dropped: list[str] = field(default_factory=list)
    pending: list[BulletOperation] = field(default_factory=list)
    """What was done to the book since the last acceptance."""
    _rejections: int = 0
    _judged: Policy | None = None
    """What was brought to the gate last."""
    _told: int = 0

    def __post_init__(self) -> None:
        if not self.tasks:
            raise WhetError(f"{self.shop.env.name}: there are no train tasks to learn from")
        self.book = self.accepted = BulletBook.read(self.judge.initial.playbook.body)

    # ------------------------------------------------------------------------------------------- the loop

    async def run(self) -> None:
        """All epochs, or as far as the rollouts given to learning reach."""
        try:
            for epoch in range(1, self.config.train.epochs + 1):
                batches = self.plan(epoch)
                for number, batch in enumerate(batches, 1):
                    last = number == len(batches)
                    await self._take_step(epoch, batch, bring=last or self.config.ace.bring == "step")
            await self.judge.validate()
        except Spent as spent:
            self.spent = str(spent)
        self.moved()

    def plan(self, epoch: int) -> list[tuple[int, ...]]:
        order, size = list(self.tasks), self.config.train.batch_size
        random.Random(seed_for("ace", self.config.train.seed, epoch)).shuffle(order)
        return [tuple(order[at : at + size]) for at in range(0, len(order), size)]

    async def _take_step(self, epoch: int, batch: tuple[int, ...], *, bring: bool) -> None:
        step = AceStep(len(self.steps) + 1, epoch, batch)
        self.steps.append(step)
        await self._grow(step)
        if bring:
            await self._bring(step)
        self.steps_done = step.number
        self.moved()

    async def _grow(self, step: AceStep) -> None:
        """Generate, reflect, curate; the delta goes into the book."""
        section = self.config.ace
        rollouts = await self.shop.roll(f"train/{step.where}", self.policy, step.tasks)
        step.attempts = len(rollouts)
        step.solved = sum(rollout.score is not None and bool(rollout.score.hard) for rollout in rollouts)
        lessons = await self._reflect(step, rollouts)
        self.book = self.book.counted(tag for lesson in lessons for tag in lesson.tags)
        self.accepted = self.accepted.recorded(self.book)
        insights = [insight for lesson in lessons for insight in lesson.insights]
        step.insights = len(insights)
        if insights:
            await self._curate(step, insights)
        self.book = self.book.refined(section.harm, section.bullets, section.max_bytes)
        step.bullets = len(self.book.bullets)

    async def _reflect(self, step: AceStep, rollouts: Sequence[Rollout]) -> list[Lesson]:
        """Reflectors at work beside each other; their words count in the order of the plan."""
        section = self.config.ace
        failed = [rollout for rollout in rollouts if rollout.score is not None and not rollout.score.hard]
        solved = [rollout for rollout in rollouts if rollout.score is not None and rollout.score.hard]
        shown = [*failed, *(() if section.failures_only else solved)]
        parts = [shown[at : at + section.minibatch] for at in range(0, len(shown), section.minibatch)]
        answers = await together(
            *(
                reflect(self.shop, section, f"{step.where}/reflector/{number:03d}", self.book, part)
                for number, part in enumerate(parts)
            )
        )
        step.trouble += tuple(line for answer in answers for line in answer.trouble)
        return [answer.value for answer in answers if answer.value is not None]

    async def _curate(self, step: AceStep, insights: Sequence[Mapping[str, str]]) -> None:
        section = self.config.ace
        purpose = f"{step.where}/curator"
        answer = await curate(self.shop, section, purpose, self.book, insights, self.dropped)
        step.trouble += answer.trouble
        asked = (answer.value or ())[: section.operations]
        self.book, refused = self.book.apply(asked, step.number)
        left_out = [operation for operation, _ in refused]
        step.refused = tuple(refused)
        step.operations = tuple(operation for operation in asked if operation not in left_out)
        self.pending += step.operations

    # ------------------------------------------------------------------------------------------- the gate

    @property
    def policy(self) -> Policy:
        """The target with the book as it is."""
        return self.shop.with_playbook(replace(self.judge.initial.playbook, body=self.book.text))

    async def _bring(self, step: AceStep) -> None:
        """The book before the gate. After some rejections in a row it goes back; what it lost is remembered."""
        candidate = Candidate(self.policy, tuple(self.pending), step.where, step.number)
        if candidate.policy in (self.judge.current.policy, self._judged):
            return
        self._judged = candidate.policy
        step.judgement = await self.judge.bring(f"{step.where}/decision", candidate)
        if step.judgement.accepted:
            self.accepted, self.pending, self._rejections = self.book, [], 0
            return
        self._rejections += 1
        if self._rejections >= self.config.ace.patience:
            kept = {bullet.text for bullet in self.accepted.bullets}
            self.dropped += [bullet.text for bullet in self.book.bullets if bullet.text not in kept]
            self.book = replace(self.accepted, fresh=self.book.fresh)
            self.pending, self._rejections, step.reverted = [], 0, True

    # ------------------------------------------------------------------------------------------- what others see

    def news(self) -> list[str]:
        told = []
        for step in self.steps[self._told : self.steps_done]:
            rate = step.solved / step.attempts if step.attempts else 0.0
            told.append(
                f"step {step.number}/{self.total}: train {rate:.2f} solved, {len(step.operations)} operations, "
                f"{step.bullets} bullets, {step.action.replace('_', ' ')}"
            )
            told += [f"  {step.judgement.decision}"] if step.judgement else []
            told += [f"  {line}" for line in step.trouble]
        self._told = self.steps_done
        return told

    @property
    def total(self) -> int:
        return planned_steps(self.config, len(self.tasks))

    def write(self, folder: Path) -> None:
        """Every step, and the bullets with their records: of the book as it grows, and of the one accepted last."""
        write_json(folder / "ace_steps.json", [step.as_data() for step in self.steps[: self.steps_done]])
        books = {"growing": self.book, "accepted": self.accepted}
        write_json(
            folder / "ace_bullets.json",
            {name: [bullet.as_data() for bullet in book.bullets] for name, book in books.items()},
        )

    def summary(self) -> dict[str, Any]:
        judged = [step.judgement for step in self.steps if step.judgement is not None]
        return {
            "total_accepts": sum(judgement.accepted for judgement in judged),
            "total_rejects": sum(judgement.action == "reject" for judgement in judged),
            "ace_bullets": len(self.accepted.bullets),
            "ace_operations": sum(len(step.operations) for step in self.steps),
            "ace_refused": sum(len(step.refused) for step in self.steps),
        }


def planned_steps(config: AceConfig, tasks: int) -> int:
    return config.train.epochs * -(-tasks // config.train.batch_size)


class AceLearner(Learner):
    """ACE as the entry point `whet.learners` finds it."""

    name = "ace"
    about = "a playbook of bullets with records of help and harm: it grows and is refined, and is never rewritten"
    config = AceConfig

    def consults(self, config: AceConfig) -> bool:
        return True

    def steps(self, config: AceConfig, tasks: int) -> int:
        return planned_steps(config, tasks)

    def rollouts(self, config: AceConfig, tasks: int) -> int:
        return config.train.epochs * tasks

    def beside(self, folder: Path) -> dict[str, Any]:
        found = prompts_beside(folder, ROOM)
        return {"ace": {"prompts": found}} if found else {}

    def describe(self, config: AceConfig, tasks: int) -> str:
        epochs, steps = config.train.epochs, planned_steps(config, tasks)
        many = f"{epochs} epoch{'s' * (epochs > 1)}, {steps} step{'s' * (steps > 1)}"
        return f"{many}; at most {config.ace.bullets} bullets, brought to the gate after every {config.ace.bring}"

    def begin(self, assignment: Assignment) -> AceCourse:
        shop, judge, config = assignment.shop, assignment.judge, assignment.config
        return AceCourse(shop, judge, config, assignment.tasks, assignment.moved)
