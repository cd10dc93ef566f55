"""What the ledger knows of each edit: a posterior of its effect from every rollout of every playbook that held it.

    log-odds of solving a task = how easy the task is + the effects of the edits in the playbook

Tasks and edits have normal priors; the posterior is Laplace's. A rejected bundle is evidence like any other: an edit
that keeps turning up in playbooks that do well is promising however its bundles fared, and one that does not is not.
What it promises is tried on train tasks (`probes.py`), and the gate judges what comes of that like any other proposal.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whet.gate.evidence import Reading
from whet.keys import digest, policy_digest
from whet.learn.candidate import Change
from whet.learn.judge import Judgement
from whet.learn.reflact.records import AddExample, AddNote, Edit, Item
from whet.types import Policy, Rollout

EFFECT, OWN, EASE = 0.3, 1.8, 2.0
"""How far the effect of an edit on all tasks, what it does to one kind beside that, and the ease of a task spread, in
log-odds, before anything is known."""

MOST = 6000
"""Edits times kinds of tasks up to which every kind has an effect of its own."""

ROUNDS, CLOSE = 12, 0.01
"""Newton's steps at most, and the step in log-odds that is the last."""

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
        return _above_zero(self.mean, self.spread)


@dataclass(frozen=True, slots=True, eq=False)
class EditEffects:
    """The effects of all edits that were ever tried, over the kinds of tasks as often as each comes up."""

    known: Mapping[str, EditEffect] = field(default_factory=dict)
    shared: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """Covariances of the effects, by the keys of two edits."""
    unknown: float = math.hypot(EFFECT, OWN)
    """How far the effect of an edit spreads that was never tried."""

    def of(self, key: str) -> tuple[float, float]:
        """Mean and spread of an edit's effect."""
        found = self.known.get(key)
        return (found.mean, found.spread) if found is not None else (0.0, self.unknown)

    def helps(self, key: str) -> float:
        """How probable it is that an edit helps."""
        return _above_zero(*self.of(key))

    def promise(self, added: Iterable[str], removed: Iterable[str] = ()) -> float:
        """How probable it is that a playbook gains by these edits put in and those taken out together."""
        signs = {**dict.fromkeys(sorted(added), 1.0), **dict.fromkeys(sorted(removed), -1.0)}
        signs = {key: sign for key, sign in signs.items() if key in self.known}
        mean = sum(sign * self.known[key].mean for key, sign in signs.items())
        pairs = ((a, b) for a in signs for b in signs)
        variance = sum(signs[a] * signs[b] * self.shared[a, b] for a, b in pairs)
        return _above_zero(mean, math.sqrt(variance)) if variance > 0.0 else 0.5


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


def adds(item: Change) -> bool:
    """Whether an item adds words that can be put in and taken out again by themselves."""
    return isinstance(item, Edit) and item.op in ("append", "insert_after")


def _above_zero(mean: float, spread: float) -> float:
    return 0.5 * math.erfc(-mean / (spread * math.sqrt(2.0)))


# --------------------------------------------------------------------------------------------- from rollouts


class EditBook:
    """Attempts, counted by playbook and task. A pure function of what is entered: a resumed run finds the same."""

    def __init__(self, initial: Policy, kinds: Sequence[str]) -> None:
        """`kinds` are those of the gate's tasks."""
        self.kinds = kinds
        self.holds: dict[str, EditKeys] = {policy_digest(initial): frozenset()}
        self.items: dict[str, Item] = {}
        """Edits that can be put in and taken out, in the order in which they were first proposed."""
        self.counts: dict[tuple[EditKeys, KindTask], list[float]] = {}
        self._seen: set[str] = set()

    def of(self, policy: Policy) -> EditKeys:
        """The edits of a policy; one that came about in another way counts as an edit of its own."""
        found = policy_digest(policy)
        return self.holds.setdefault(found, frozenset({found}))

    def enter_items(self, items: Iterable[Change]) -> None:
        """Items that can be put into a playbook by themselves; taking out a known one is no item of its own."""
        for item in items:
            if isinstance(item, Edit | AddNote) and not self._taken_out(item):
                self.items.setdefault(item_key(item), item)

    def enter_changes(self, before: Policy, after: Policy, changes: Sequence[Change], without: bool = False) -> None:
        """`after` is `before` with `changes`, or without them."""
        held = set(self.of(before))
        self.enter_items(() if without else changes)
        for item in changes:
            key = item_key(item)
            if without:
                held.discard(key)
            elif gone := self._taken_out(item):
                held.discard(gone)
            else:
                held.add(key)
        if not changes:
            held.add(policy_digest(after))
        self.holds.setdefault(policy_digest(after), frozenset(held))

    def enter_judgement(self, judgement: Judgement) -> None:
        candidate = judgement.candidate
        self.enter_changes(judgement.incumbent, candidate.policy, candidate.changes, candidate.without)
        arms = {arm: self.of(policy) for arm, policy in judgement.arms.items()}
        for draw, reading in judgement.decision.draws:
            credit = _credit(reading)
            if credit is not None:
                self._count(arms[draw.arm], (f"select/{draw.task}", self.kinds[draw.task]), credit)

    def enter_rollouts(self, policy: Policy, rollouts: Iterable[Rollout]) -> None:
        """Train attempts; one that was entered before is not counted twice."""
        keys = self.of(policy)
        for rollout in rollouts:
            if rollout.score is not None and rollout.key not in self._seen:
                self._seen.add(rollout.key)
                self._count(keys, (f"train/{rollout.ticket.index}", rollout.label.kind), rollout.score.hard)

    def _taken_out(self, item: Change) -> str:
        """The key of the edit whose words a deletion takes out; '' where it takes out something else."""
        if not isinstance(item, Edit) or item.op != "delete":
            return ""
        gone = item.target.split()
        return next((key for key, known in self.items.items() if _words(known) == gone), "")

    def _count(self, keys: EditKeys, task: KindTask, credit: float) -> None:
        tally = self.counts.setdefault((keys, task), [0.0, 0.0])
        tally[0] += credit
        tally[1] += 1.0

    def effects(self) -> EditEffects:
        """The posterior of every edit that was ever in a playbook."""
        keys = sorted({key for held, _ in self.counts for key in held})
        tasks = sorted({task for _, task in self.counts})
        kinds = sorted({kind for _, kind in tasks})
        if len(keys) * len(kinds) > MOST:
            kinds = [""]
        blocks = [self._block(kind, keys) for kind in kinds]
        share = [len(block.solved) / len(tasks) for block in blocks]
        unknown = math.sqrt(EFFECT**2 + OWN**2 * sum(part * part for part in share or (1.0,)))
        if not keys:
            return EditEffects(unknown=unknown)
        mean, covariance = posterior(blocks, share)
        attempts = sum(block.tried.sum(0) @ block.held for block in blocks)
        kept = [(at, key) for at, key in enumerate(keys) if key in self.items]
        known = {
            key: EditEffect(
                self.items[key],
                round(float(mean[at]), 6),
                round(math.sqrt(float(covariance[at, at])), 6),
                int(np.asarray(attempts)[at]),
            )
            for at, key in kept
        }
        shared = {(a, b): round(float(covariance[i, j]), 9) for i, a in kept for j, b in kept}
        return EditEffects(known, shared, unknown)

    def _block(self, kind: str, keys: Sequence[str]) -> KindBlock:
        """The attempts at the tasks of one kind; '' stands for all kinds where they are too many."""
        mine = {at: tally for at, tally in self.counts.items() if kind in ("", at[1][1])}
        tasks = sorted({task for _, task in mine})
        playbooks = sorted({held for held, _ in mine}, key=sorted)
        row, column = ({name: at for at, name in enumerate(names)} for names in (tasks, playbooks))
        solved, tried = np.zeros((2, len(tasks), len(playbooks)))
        for (held, task), (credit, attempts) in mine.items():
            at = row[task], column[held]
            solved[at], tried[at] = solved[at] + credit, tried[at] + attempts
        held_in = np.array([[float(key in held) for key in keys] for held in playbooks])
        return KindBlock(solved, tried, held_in.reshape(len(playbooks), len(keys)))


def _words(item: Item) -> list[str]:
    return item.content.split() if isinstance(item, Edit) else []


def _credit(reading: Reading | None) -> float | None:
    value = None if reading is None else reading[0]
    return None if value is None else min(1.0, max(0.0, float(value)))


# --------------------------------------------------------------------------------------------- the posterior


class KindBlock(NamedTuple):
    """Attempts at the tasks of one kind: credit and attempts by task and playbook, and the edits of each playbook."""

    solved: Floats
    tried: Floats
    held: Floats


class _Curvature(NamedTuple):
    """One kind at the present guess, its tasks eliminated: the slope and curvature of the edits' effects on it."""

    slope: Floats
    curvature: Floats
    own: Floats
    """The inverse of the curvature with the prior of the kind's own effects."""
    ease_slope: Floats
    ease_curvature: Floats
    cross: Floats


def posterior(blocks: Sequence[KindBlock], share: Sequence[float]) -> tuple[Floats, Floats]:
    """Mean and covariance of the edits' effects over all tasks, the kinds weighed by `share`.

    Newton's method on the log posterior. Tasks meet only through the edits, and kinds only through the effects that an
    edit has on all of them, so both are eliminated and the largest matrix has a row for each edit.
    """
    edits = blocks[0].held.shape[1]
    common, own = np.zeros(edits), [np.zeros(edits) for _ in blocks]
    ease = [np.zeros(len(block.solved)) for block in blocks]
    for _ in range(ROUNDS):
        kinds = [_curvature(block, eases, common + mine) for block, eases, mine in zip(blocks, ease, own, strict=True)]
        inner = np.eye(edits) / EFFECT**2 + sum(kind.curvature for kind in kinds)
        slope = sum((kind.slope for kind in kinds), -common / EFFECT**2)
        pulls = [kind.slope - mine / OWN**2 for kind, mine in zip(kinds, own, strict=True)]
        for kind, pull in zip(kinds, pulls, strict=True):
            inner = inner - kind.curvature @ kind.own @ kind.curvature
            slope = slope - kind.curvature @ (kind.own @ pull)
        inverse = np.linalg.inv(inner)
        step = inverse @ slope
        common = common + step
        steps = [kind.own @ (pull - kind.curvature @ step) for kind, pull in zip(kinds, pulls, strict=True)]
        for at, (kind, mine) in enumerate(zip(kinds, steps, strict=True)):
            own[at] = own[at] + mine
            ease[at] = ease[at] + (kind.ease_slope - kind.cross @ (mine + step)) / kind.ease_curvature
        if max(float(np.abs(moved).max(initial=0.0)) for moved in (step, *steps)) < CLOSE:
            break
    mean = common + sum(part * mine for part, mine in zip(share, own, strict=True))
    turn = np.eye(edits) - sum(part * kind.own @ kind.curvature for part, kind in zip(share, kinds, strict=True))
    covariance = turn @ inverse @ turn.T
    covariance = covariance + sum(part * part * kind.own for part, kind in zip(share, kinds, strict=True))
    return np.asarray(mean, dtype=np.float64), np.asarray(covariance, dtype=np.float64)


def _curvature(block: KindBlock, ease: Floats, effect: Floats) -> _Curvature:
    odds = np.clip(ease[:, None] + (block.held @ effect)[None, :], -30.0, 30.0)
    chance = 1.0 / (1.0 + np.exp(-odds))
    surplus, weight = block.solved - block.tried * chance, block.tried * chance * (1.0 - chance)
    ease_slope = surplus.sum(1) - ease / EASE**2
    ease_curvature = weight.sum(1) + 1.0 / EASE**2
    cross = weight @ block.held
    curvature = block.held.T @ (weight.sum(0)[:, None] * block.held) - cross.T @ (cross / ease_curvature[:, None])
    slope = block.held.T @ surplus.sum(0) - cross.T @ (ease_slope / ease_curvature)
    own = np.linalg.inv(curvature + np.eye(len(effect)) / OWN**2)
    return _Curvature(slope, curvature, own, ease_slope, ease_curvature, cross)
