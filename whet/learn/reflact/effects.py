"""What the ledger knows of each edit: a posterior of its effect from every rollout of every playbook that held it.

    log-odds of solving a task = how easy the task is + the effects of the edits in the playbook

Tasks and edits have normal priors; the posterior is Laplace's. A rejected bundle is evidence like any other: an edit
that keeps turning up in playbooks that do well is promising however its bundles fared, and one that does not is not.
Nothing is rolled out for it. What it promises is a proposal, and the gate judges it like any other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from whet.gate.evidence import Reading
from whet.keys import digest, policy_digest
from whet.learn.candidate import Change
from whet.learn.judge import Judgement
from whet.learn.reflact.records import AddExample, AddNote, Edit, Item
from whet.types import Policy, Rollout

EFFECT, OWN, EASE = 0.3, 0.9, 2.0
"""How far the effect of an edit on all tasks, what it does to one kind beside that, and the ease of a task spread, in
log-odds, before anything is known."""

MOST = 240
"""Edits times kinds of tasks up to which every kind has an effect of its own."""

ROUNDS = 8
"""Newton's steps; they converge in fewer."""

Floats = NDArray[np.float64]
EditKeys = frozenset[str]
KindTask = tuple[str, str]
"""A task by name, and its kind."""


@dataclass(frozen=True, slots=True)
class EditEffect:
    """What is known of an edit: its effect in log-odds, how sure that is, and how many attempts had it."""

    item: Item
    mean: float
    spread: float
    attempts: int

    @property
    def helps(self) -> float:
        """How probable it is that it helps."""
        return 0.5 * math.erfc(-self.mean / (self.spread * math.sqrt(2.0)))


@dataclass(frozen=True, slots=True)
class EditEffects:
    """The effects of all edits that were ever tried, and which of them each playbook holds."""

    known: Mapping[str, EditEffect] = field(default_factory=dict)
    holds: Mapping[str, EditKeys] = field(default_factory=dict)
    """Edits by the digest of the policy."""

    def of(self, item: Change) -> EditEffect | None:
        return self.known.get(item_key(item))

    def within(self, policy: Policy) -> EditKeys:
        return self.holds.get(policy_digest(policy), frozenset())

    def promising(self, policy: Policy, least: float) -> tuple[EditEffect, ...]:
        """Edits that the policy lacks and that probably help, the largest effect first."""
        lacking = (effect for key, effect in self.known.items() if key not in self.within(policy))
        found = [effect for effect in lacking if effect.helps >= least]
        return tuple(sorted(found, key=lambda effect: (-effect.mean, item_key(effect.item))))

    def doubtful(self, policy: Policy, most: float) -> tuple[EditEffect, ...]:
        """Edits that the policy holds and that probably do not help, the most harmful first."""
        held = (self.known[key] for key in self.within(policy) if key in self.known)
        found = [effect for effect in held if effect.helps <= most]
        return tuple(sorted(found, key=lambda effect: (effect.mean, item_key(effect.item))))


def item_key(item: Change) -> str:
    """Two edits that add the same words are one, wherever they put them."""
    if isinstance(item, Edit):
        added = item.op in ("append", "insert_after")
        return digest("edit", " ".join(item.content.split()), "" if added else (item.op, item.target), item.where)
    if isinstance(item, AddExample):
        return digest("example", item.example)
    if isinstance(item, AddNote):
        return digest("note", item.note)
    return digest("change", item.as_data())


# --------------------------------------------------------------------------------------------- from rollouts


def edit_effects(
    initial: Policy,
    judgements: Sequence[Judgement],
    rolled: Iterable[tuple[Policy, Sequence[Rollout]]],
    kinds: Sequence[str],
) -> EditEffects:
    """What all decisions and all train rollouts so far say. A pure function of them: a resumed run finds the same.

    `kinds` are those of the gate's tasks.
    """
    book = _Book(initial, kinds)
    for judgement in judgements:
        book.enter(judgement)
    for policy, rollouts in rolled:
        keys = book.of(policy)
        for rollout in rollouts:
            if rollout.score is not None:
                book.count(keys, (f"train/{rollout.ticket.index}", rollout.label.kind), rollout.score.hard)
    return EditEffects(book.fitted(), book.holds)


class _Book:
    """Attempts, counted by playbook and task."""

    def __init__(self, initial: Policy, kinds: Sequence[str]) -> None:
        self.kinds = kinds
        self.holds: dict[str, EditKeys] = {policy_digest(initial): frozenset()}
        self.items: dict[str, Item] = {}
        self.counts: dict[tuple[EditKeys, KindTask], list[float]] = {}

    def of(self, policy: Policy) -> EditKeys:
        """The edits of a policy; one that came about in another way counts as an edit of its own."""
        found = policy_digest(policy)
        return self.holds.setdefault(found, frozenset({found}))

    def enter(self, judgement: Judgement) -> None:
        before, candidate = self.of(judgement.incumbent), judgement.candidate
        after = set(before)
        for item in candidate.changes:
            key = item_key(item)
            if candidate.without:
                after.discard(key)
            elif gone := self._taken_out(item):
                after.discard(gone)
            else:
                after.add(key)
                if isinstance(item, Edit) and item.op in ("append", "insert_after"):
                    self.items.setdefault(key, item)
        if not candidate.changes:
            after.add(policy_digest(candidate.policy))
        self.holds.setdefault(policy_digest(candidate.policy), frozenset(after))
        arms = {arm: self.of(policy) for arm, policy in judgement.arms.items()}
        for draw, reading in judgement.decision.draws:
            credit = _credit(reading)
            if credit is not None:
                self.count(arms[draw.arm], (f"select/{draw.task}", self.kinds[draw.task]), credit)

    def _taken_out(self, item: Change) -> str:
        """The key of the edit whose words a deletion takes out; '' where it takes out something else."""
        if not isinstance(item, Edit) or item.op != "delete":
            return ""
        gone = " ".join(item.target.split())
        return next((key for key, known in self.items.items() if " ".join(known_words(known)) == gone), "")

    def count(self, keys: EditKeys, task: KindTask, credit: float) -> None:
        tally = self.counts.setdefault((keys, task), [0.0, 0.0])
        tally[0] += credit
        tally[1] += 1.0

    def fitted(self) -> dict[str, EditEffect]:
        """The posterior of every edit: of its mean effect over the kinds of tasks, each as often as it comes up."""
        keys = sorted({key for held, _ in self.counts for key in held})
        if not keys:
            return {}
        tasks = sorted({task for _, task in self.counts})
        kinds = sorted({kind for _, kind in tasks})
        if len(keys) * len(kinds) > MOST:
            kinds = []
        groups = sorted(
            {(held, task[1] if kinds else "") for held, task in self.counts}, key=lambda one: (sorted(one[0]), one[1])
        )
        row, column = ({name: at for at, name in enumerate(names)} for names in (tasks, groups))
        solved, tried = np.zeros((2, len(tasks), len(groups)))
        for (held, task), (credit, attempts) in self.counts.items():
            at = row[task], column[held, task[1] if kinds else ""]
            solved[at], tried[at] = solved[at] + credit, tried[at] + attempts
        held_in = np.array([[float(key in held) for key in keys] for held, _ in groups])
        own = [held_in * np.array([[float(kind == name)] for _, kind in groups]) for name in kinds]
        design = np.concatenate([held_in, *own], axis=1)
        share = np.array([sum(kind == name for _, kind in tasks) / len(tasks) for name in kinds])
        prior = np.repeat([EFFECT, *(OWN for _ in kinds)], len(keys))
        mean, covariance = posterior(solved, tried, design, prior)
        blend = np.concatenate([np.eye(len(keys)), *(part * np.eye(len(keys)) for part in share)], axis=1)
        means, spreads = blend @ mean, np.sqrt(np.einsum("ij,jk,ik->i", blend, covariance, blend))
        attempts_with = tried.sum(0) @ held_in
        return {
            key: EditEffect(
                self.items[key], round(float(means[at]), 6), round(float(spreads[at]), 6), int(attempts_with[at])
            )
            for at, key in enumerate(keys)
            if key in self.items
        }


def known_words(item: Item) -> list[str]:
    return item.content.split() if isinstance(item, Edit) else []


def _credit(reading: Reading | None) -> float | None:
    value = None if reading is None else reading[0]
    return None if value is None else min(1.0, max(0.0, float(value)))


def posterior(solved: Floats, tried: Floats, design: Floats, prior: Floats) -> tuple[Floats, Floats]:
    """Mean and covariance of the effects, given credit and attempts by task and playbook, and what each holds.

    Newton's method on the log posterior. Tasks meet only through the edits, so their block of the curvature is diagonal
    and is eliminated.
    """
    tasks, edits = len(solved), design.shape[1]
    ease, effect = np.zeros(tasks), np.zeros(edits)
    inner = np.eye(edits)
    for _ in range(ROUNDS):
        odds = np.clip(ease[:, None] + design @ effect, -30.0, 30.0)
        chance = 1.0 / (1.0 + np.exp(-odds))
        surplus, weight = solved - tried * chance, tried * chance * (1.0 - chance)
        slope_ease = surplus.sum(1) - ease / EASE**2
        slope_effect = design.T @ surplus.sum(0) - effect / prior**2
        diagonal = weight.sum(1) + 1.0 / EASE**2
        cross = weight @ design
        inner = design.T @ (weight.sum(0)[:, None] * design) + np.diag(1.0 / prior**2)
        inner -= cross.T @ (cross / diagonal[:, None])
        moved = np.linalg.solve(inner, slope_effect - cross.T @ (slope_ease / diagonal))
        effect += moved
        ease += (slope_ease - cross @ moved) / diagonal
        if float(np.abs(moved).max(initial=0.0)) < 1e-4:
            break
    return effect, np.asarray(np.linalg.inv(inner), dtype=np.float64)
