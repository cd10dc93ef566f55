"""The proposer that needs no optimiser: worked examples from train tasks, chosen by what they add.

A solved attempt is an example as it is, with its calls and what they gave; a failed one is when the environment's
oracle can say what would have been right. They stand before every task (`fixed`), or in a bank of which each task gets
the nearest (`nearest`). Several sets are tried on train tasks, and the best goes to the gate.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from whet.envs.base import Environment
from whet.errors import FaultError
from whet.keys import question_digest, seed_for
from whet.learn.reflact.edits import apply_items
from whet.learn.reflact.proposer import Proposal
from whet.learn.reflact.records import AddExample, EditSelection, Evidence, FillBank, Item, Patch, Revision, tasks_of
from whet.learn.reflact.step import Step
from whet.learn.transcripts import task_name
from whet.rollout.drive import drive
from whet.rollout.placement import question_of
from whet.types import Example, Fault, Rollout, Turn, Work, WorkResult, tool_result

RECEIVED, DONE = "Received.", "Done."
"""What stands at the end of an example of an attempt that ended with a call."""


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """A candidate for an example; `covers` is what a set should have of each: the kind of task and the answer."""

    example: Example
    task: int
    name: str
    covers: tuple[str, str]


@dataclass(frozen=True, slots=True)
class ExampleSet:
    """A set of examples and what it scored on train tasks beside the playbook without it."""

    items: tuple[Item, ...]
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
        tried: list[ExampleSet] = []
        for number, (items, inside) in enumerate(self._sets(step, evidence, pool)):
            tried.append(await self._try(step, evidence, items, inside, number))
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

    def _sets(
        self, step: Step, evidence: Evidence, pool: Sequence[WorkedExample]
    ) -> Iterator[tuple[tuple[Item, ...], set[int]]]:
        """What is tried, each with the tasks that it cannot be tried on."""
        section = step.config.examples
        there = len({rollout.ticket.index for rollout in evidence.rollouts})
        for number in range(section.tries if section.choice != "nearest" else 0):
            rng = random.Random(seed_for("reflact", "examples", step.config.train.seed, step.where, number))
            chosen = _covering(pool, min(_size(step, number), max(1, there // 2)), rng)
            placed = _placed(chosen, len(step.playbook.examples), section.most, rng)
            yield placed, {worked.task for worked in chosen}
        if section.choice != "fixed":
            room = max(0, section.bank - len(step.playbook.bank))
            added, names = tuple(worked.example for worked in pool[:room]), tuple(worked.name for worked in pool[:room])
            for many in list(dict.fromkeys((section.take, section.most, max(1, section.take // 2))))[: section.tries]:
                yield (FillBank(added, many, names),), set()  # a task is never shown itself from a bank

    async def _try(
        self, step: Step, evidence: Evidence, items: tuple[Item, ...], inside: set[int], number: int
    ) -> ExampleSet:
        """One set on train tasks of this step that it does not contain."""
        playbook, _ = apply_items(step.playbook, items, step.config.update.max_bytes)
        there = list(dict.fromkeys(rollout.ticket.index for rollout in evidence.rollouts))
        tasks = [task for task in there if task not in inside][: step.config.examples.probe]
        policy = step.with_playbook(playbook)
        rolled = await step.shop.roll(f"train/{step.where}/try{number}", policy, tasks) if tasks else ()
        before = [rollout for rollout in evidence.rollouts if rollout.ticket.index in tasks]
        return ExampleSet(items, _mean(rolled), _mean(before), len(tasks))


def worked_examples(step: Step, evidence: Evidence) -> list[WorkedExample]:
    """Every attempt that is, or can be made, a worked example; those in the playbook are left out."""
    known = {example.question for example in (*step.playbook.examples, *step.playbook.bank)}
    kin = Kin(step.shop.env)
    found: dict[str, WorkedExample] = {}
    for rollout in evidence.rollouts:
        worked = _worked(step, rollout)
        if worked is not None and worked.example.question not in known:
            example = replace(worked.example, kin=kin.of(worked.task))
            found.setdefault(worked.example.question, replace(worked, example=example))
    return list(found.values())


class Kin:
    """The questions of the train tasks that belong to the group of another one; none where tasks have no groups."""

    def __init__(self, env: Environment) -> None:
        self._env = env
        self._groups: dict[str, list[int]] | None = None
        self._known: dict[str, tuple[str, ...]] = {}

    def of(self, task: int) -> tuple[str, ...]:
        group = self._env.group("train", task)
        if not group:
            return ()
        if group not in self._known:
            members = (self._env.task("train", index) for index in self._members(group))
            self._known[group] = tuple(sorted({question_digest(question_of(task.messages)) for task in members}))
        return self._known[group]

    def _members(self, group: str) -> list[int]:
        if self._groups is None:
            self._groups = {}
            for index in range(self._env.size("train") or 0):
                self._groups.setdefault(self._env.group("train", index), []).append(index)
        return self._groups.get(group, [])


def _worked(step: Step, rollout: Rollout) -> WorkedExample | None:
    if rollout.score is None:
        return None
    source = "solved" if rollout.score.hard else "corrected"
    if source not in step.config.examples.sources:
        return None
    right = _right(step, rollout)
    example = _told(rollout.turns) if source == "solved" else right
    if example is None or len(example.question) + len(example.told) > step.config.examples.chars:
        return None
    return WorkedExample(
        example, rollout.ticket.index, task_name(rollout), (rollout.label.kind, right.answer if right else "")
    )


def _told(turns: Sequence[Turn]) -> Example | None:
    """An attempt as an example: the question, what was said and called on the way, the answer.

    None where it cannot be told so: a call that could not be read is nothing to learn from, and images stay behind.
    """
    own = [turn for turn in turns if turn.role == "target"]
    if not own or any(turn.reply.malformed for turn in own):
        return None
    question, last = question_of(own[0].messages), own[-1].reply
    said = [own[0].reply.as_message()]
    for turn in own[1:]:
        said += [*turn.messages, turn.reply.as_message()]
    steps, answer = said[:-1], last.text.strip()
    if last.calls:  # the attempt ended with a call: what it gave was never told
        steps, answer = [*said, *(tool_result(call, RECEIVED) for call in last.calls)], DONE
    if not question.strip() or not answer or any(not isinstance(step.content, str) for step in steps):
        return None
    return Example(question, answer, tuple(steps))


def _right(step: Step, rollout: Rollout) -> Example | None:
    """What the environment's oracle does with a train task, when that earns full credit and needs no works."""
    oracle = step.shop.env.baselines().get("oracle")
    if oracle is None:
        return None
    task = step.shop.env.task("train", rollout.ticket.index)
    try:
        attempt = drive(
            step.shop.env.play(task), lambda said, _: oracle(task, said), _no_works, max_turns=step.config.limits.turns
        )
    except FaultError:
        return None
    return _told(attempt.turns) if attempt.score.hard else None


def _no_works(job: Work) -> WorkResult:
    """What a work gives is not remembered outside of a rollout, so an example must not rest on one."""
    raise FaultError(Fault("no_performer", job.kind, "a worked example is made without works"))


def _size(step: Step, number: int) -> int:
    """How many examples a try takes: one portion, then as many as there is room for, in turn."""
    section = step.config.examples
    room = section.most - len(step.playbook.examples)
    return min(section.take, section.most) if number % 2 == 0 or room <= section.take else room


def _covering(pool: Sequence[WorkedExample], many: int, rng: random.Random) -> list[WorkedExample]:
    """A random set in which kinds and answers come in turn, so that a small set covers as many as it can."""
    groups: dict[tuple[str, str], list[WorkedExample]] = {}
    for worked in pool:
        groups.setdefault(worked.covers, []).append(worked)
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
        "tasks": [task for item in tried.items for task in tasks_of(item)],
        "score": tried.score,
        "without": tried.without,
        "on": tried.tasks,
        **next(({"nearest": item.nearest} for item in tried.items if isinstance(item, FillBank)), {}),
    }
