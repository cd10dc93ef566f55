"""The proposer that needs no optimiser: worked examples from train tasks, chosen by what they add.

A solved attempt is an example as it is; a failed one is when the environment's oracle can say what would have been
right. Several sets are tried on train tasks, and the best goes to the gate.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from whet.errors import FaultError
from whet.keys import seed_for
from whet.learn.reflact.edits import apply_items
from whet.learn.reflact.proposer import Proposal
from whet.learn.reflact.records import AddExample, EditSelection, Evidence, Item, Patch, Revision
from whet.learn.reflact.step import Step
from whet.learn.reflact.transcripts import task_name
from whet.rollout.drive import drive
from whet.types import Example, Reply, Rollout, Work, WorkResult


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """A candidate for an example; `group` is what a set should cover: the kind of task and the answer."""

    example: Example
    task: int
    name: str
    group: tuple[str, str]


@dataclass(frozen=True, slots=True)
class ExampleSet:
    """A set of examples and what it scored on train tasks beside the playbook without it."""

    items: tuple[AddExample, ...]
    score: float
    without: float
    tasks: int

    @property
    def gain(self) -> float:
        return self.score - self.without


class Examples:
    """Makes examples of the step's evidence, tries sets of them on the step's other tasks, proposes the best."""

    async def propose(self, step: Step, evidence: Evidence, proposal: Proposal) -> None:
        proposal.revision = await step.shop.timed(f"{step.where}/select", self._proposed(step, evidence, proposal))

    async def _proposed(self, step: Step, evidence: Evidence, proposal: Proposal) -> Revision | None:
        pool = worked_examples(step, evidence)
        items: tuple[Item, ...] = tuple(AddExample(worked.example, worked.name) for worked in pool)
        proposal.patches = (Patch("examples", items, size=len(evidence.rollouts)),)
        proposal.merged = proposal.patches[0]
        if not pool:
            proposal.trouble.append("no attempt of this step makes a worked example")
            return None
        tried = [await self._try(step, evidence, pool, number) for number in range(step.config.examples.tries)]
        best = max(tried, key=lambda candidate: candidate.gain)  # the first of equals: smaller sets are tried first
        ranking = {"tried": [_shown(candidate) for candidate in tried], "selected": tried.index(best)}
        proposal.chosen = EditSelection(best.items, step.config.examples.take, len(items), ranking)
        if best.gain <= 0.0:
            proposal.trouble.append(
                f"no set did better on train tasks than the playbook without it ({best.without:.2f})"
            )
            return None
        playbook, rows = apply_items(step.playbook, best.items, step.config.update.max_bytes)
        return Revision(playbook, rows)

    async def _try(self, step: Step, evidence: Evidence, pool: Sequence[WorkedExample], number: int) -> ExampleSet:
        """One set on train tasks of this step that it does not contain."""
        section = step.config.examples
        rng = random.Random(seed_for("reflact", "examples", step.config.train.seed, step.where, number))
        there = list(dict.fromkeys(rollout.ticket.index for rollout in evidence.rollouts))
        chosen = _covering(pool, min(_size(step, number), max(1, len(there) // 2)), rng)
        items = _placed(chosen, len(step.playbook.examples), section.most, rng)
        playbook, _ = apply_items(step.playbook, items, step.config.update.max_bytes)
        inside = {worked.task for worked in chosen}
        tasks = [task for task in there if task not in inside][: section.probe]
        policy = step.with_playbook(playbook)
        rolled = await step.shop.roll(f"train/{step.where}/try{number}", policy, tasks) if tasks else ()
        before = [rollout for rollout in evidence.rollouts if rollout.ticket.index in tasks]
        return ExampleSet(items, _mean(rolled), _mean(before), len(tasks))


def worked_examples(step: Step, evidence: Evidence) -> list[WorkedExample]:
    """Every attempt of one turn that is, or can be made, a worked example; those in the playbook are left out."""
    known = {example.question for example in step.playbook.examples}
    found: dict[str, WorkedExample] = {}
    for rollout in evidence.rollouts:
        worked = _worked(step, rollout)
        if worked is not None and worked.example.question not in known:
            found.setdefault(worked.example.question, worked)
    return list(found.values())


def _worked(step: Step, rollout: Rollout) -> WorkedExample | None:
    turns = [turn for turn in rollout.turns if turn.role == "target"]
    if len(turns) != 1 or turns[0].reply.calls or rollout.score is None:
        return None
    question = next((message.text for message in reversed(turns[0].messages) if message.author == "user"), "")
    answer: str | None = turns[0].reply.text if rollout.score.hard else None
    source = "solved" if answer is not None else "corrected"
    if source not in step.config.examples.sources:
        return None
    right = _right_answer(step, rollout)
    answer = right if answer is None else answer
    if not question.strip() or not (answer or "").strip():
        return None
    group = (rollout.label.kind, right or "")
    return WorkedExample(Example(question, (answer or "").strip()), rollout.ticket.index, task_name(rollout), group)


def _right_answer(step: Step, rollout: Rollout) -> str | None:
    """What the environment's oracle answers to a train task, when that earns full credit."""
    oracle = step.shop.env.baselines().get("oracle")
    if oracle is None:
        return None
    task = step.shop.env.task("train", rollout.ticket.index)
    try:
        attempt = drive(step.shop.env.play(task), lambda said, _: oracle(task, said), _no_works, max_turns=1)
    except FaultError:
        return None
    answered: Reply | None = attempt.replies[0] if attempt.replies else None
    return answered.text if answered is not None and attempt.score.hard and not answered.calls else None


def _no_works(job: Work) -> WorkResult:
    """An attempt that needs a work is more than a question and an answer, and makes no example."""
    return WorkResult(error="no_performer")


def _size(step: Step, number: int) -> int:
    """How many examples a try takes: one portion, then as many as there is room for, in turn."""
    section = step.config.examples
    room = section.most - len(step.playbook.examples)
    return min(section.take, section.most) if number % 2 == 0 or room <= section.take else room


def _covering(pool: Sequence[WorkedExample], many: int, rng: random.Random) -> list[WorkedExample]:
    """A random set in which kinds and answers come in turn, so that a small set covers as many as it can."""
    groups: dict[tuple[str, str], list[WorkedExample]] = {}
    for worked in pool:
        groups.setdefault(worked.group, []).append(worked)
    queues = [rng.sample(groups[group], len(groups[group])) for group in sorted(groups)]
    rng.shuffle(queues)
    chosen: list[WorkedExample] = []
    while queues and len(chosen) < many:
        queues = [queue for queue in queues if queue]
        for queue in queues[: many - len(chosen)]:
            chosen.append(queue.pop())
    rng.shuffle(chosen)
    return chosen


def _placed(chosen: Sequence[WorkedExample], there: int, most: int, rng: random.Random) -> tuple[AddExample, ...]:
    """Added while there is room, then in the place of others."""
    room = max(0, most - there)
    places = iter(rng.sample(range(there), min(there, max(0, len(chosen) - room))))
    added = [AddExample(worked.example, worked.name) for worked in chosen[:room]]
    exchanged = [
        AddExample(worked.example, worked.name, place) for worked, place in zip(chosen[room:], places, strict=False)
    ]
    return (*added, *exchanged)


def _mean(rollouts: Iterable[Rollout]) -> float:
    scores = [rollout.score for rollout in rollouts if rollout.score is not None]
    return sum(score.hard for score in scores) / len(scores) if scores else 0.0


def _shown(tried: ExampleSet) -> dict[str, object]:
    return {
        "tasks": [item.task for item in tried.items],
        "score": tried.score,
        "without": tried.without,
        "on": tried.tasks,
    }
