"""GEPA at work in a run: its search over train tasks, then its best candidate before our gate.

The search is that of the package: a pool of candidates, parents from a Pareto front over validation tasks, a reflection
on a minibatch, a child that must beat its parent there. What it takes for its best was chosen by its scores on its own
validation tasks, so these say nothing about how good it is. Both of its sets are train tasks for that reason. The gate
has select tasks that the search never saw, and the claim is made on the sealed test, as with every learner.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whet.errors import WhetError
from whet.extras import install
from whet.files import write_atomically, write_json
from whet.gate.pace import PACES
from whet.keys import seed_for
from whet.learn.candidate import Candidate
from whet.learn.gepa.adapter import SearchAdapter, Texts, playbook_of, texts_of
from whet.learn.gepa.bridge import ThreadBridge
from whet.learn.gepa.config import GepaConfig
from whet.learn.judge import Judge, Judgement
from whet.learn.learner import Assignment, Learner, Training
from whet.learn.workshop import Workshop

DECISION = "gepa/decision"

MERGED = 5
"""Validation tasks on which GEPA compares a merged candidate with its parents first."""


@dataclass(frozen=True, slots=True)
class PoolEntry:
    """A candidate in GEPA's pool: where it came from, and its mean on the validation tasks."""

    index: int
    iteration: int
    parents: tuple[int, ...]
    validation: float
    spent: int
    texts: Texts

    def as_data(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(slots=True)
class GepaSearch(Training):
    """A run of GEPA. Everything it holds is made anew from the ledger when it is started again."""

    shop: Workshop
    judge: Judge
    config: GepaConfig
    tasks: tuple[int, ...]
    moved: Callable[[], None] = lambda: None
    steps_done: int = 0
    spent: str = ""
    pool: list[PoolEntry] = field(default_factory=list)
    judgement: Judgement | None = None
    lines: list[str] = field(default_factory=list)
    """What GEPA says."""
    _told: int = 0
    _ended: bool = False

    def __post_init__(self) -> None:
        if len(self.tasks) < 2:
            raise WhetError(f"{self.shop.env.name}: GEPA needs train tasks to reflect on and others to validate on")
        section, start = self.config.gepa, self.judge.initial.playbook
        if (size := sum(len(text.encode()) for text in texts_of(start).values())) > section.max_bytes:
            raise WhetError(f"the playbook has {size:,} bytes; set gepa.max_bytes higher than that, it is the longest")
        if self.calls < self.least:
            limit = self.config.train.max_rollouts
            why = f" of train.max_rollouts = {limit}, of which the gate may need {self.reserve}," if limit else ""
            raise WhetError(
                f"GEPA has {max(0, self.calls)} attempts{why} and needs {self.least} for a first child: "
                "raise them, or lower gepa.validation or train.select"
            )

    # ------------------------------------------------------------------------------------------- the plan

    @property
    def sets(self) -> tuple[list[int], list[int]]:
        """Train tasks to reflect on, and those that the Pareto front is made on."""
        order = list(self.tasks)
        random.Random(seed_for("gepa", "sets", self.config.train.seed)).shuffle(order)
        kept = min(len(order) - 1, max(1, round(self.config.gepa.validation * len(order))))
        return order[kept:], order[:kept]

    @property
    def reserve(self) -> int:
        """Rollouts that the gate may need for one candidate on all its tasks."""
        gate = self.config.gate
        most = gate.max_rollouts
        each = PACES[gate.pace].draws if gate.name == "paired" else 2
        return each * len(self.shop.select) if most is None else most

    @property
    def calls(self) -> int:
        """Attempts that the search may take, so that the gate can still judge what it found."""
        limit = self.config.train.max_rollouts
        return self.config.gepa.calls if limit is None else min(self.config.gepa.calls, limit - self.reserve)

    @property
    def iteration(self) -> int:
        """The most attempts of one iteration: a minibatch twice, and the validation tasks for its child."""
        reflect, validate = self.sets
        return max(2 * min(self.config.gepa.minibatch, len(reflect)), MERGED) + len(validate)

    @property
    def least(self) -> int:
        return len(self.sets[1]) + self.iteration

    # ------------------------------------------------------------------------------------------- the search

    async def run(self) -> None:
        found = await self._search()
        best = self.pool[found.best_idx]
        if found.best_idx:
            title = f"GEPA's candidate {best.index}, found in iteration {best.iteration}"
            policy = self.shop.with_playbook(playbook_of(best.texts, self.judge.initial.playbook))
            self.judgement = await self.judge.bring(DECISION, Candidate(policy, (), "gepa", best.index, title=title))
        self.steps_done = 1
        await self.judge.validate()
        self.moved()

    async def _search(self) -> Any:
        gepa, section, bridge = _package(), self.config.gepa, ThreadBridge()
        adapter = SearchAdapter(self.shop, bridge, section, self.judge.initial.playbook)
        reflect, validate = self.sets

        def search() -> Any:
            return gepa.optimize(
                seed_candidate=texts_of(self.judge.initial.playbook),
                trainset=reflect,
                valset=validate,
                adapter=adapter,
                reflection_lm=adapter.reflect,
                candidate_selection_strategy=section.parents,
                reflection_minibatch_size=min(section.minibatch, len(reflect)),
                acceptance_criterion=section.accept,
                use_merge=section.merge,
                stop_callbacks=lambda _: adapter.spent + self.iteration > self.calls,
                callbacks=[SearchEvents(self, adapter)],
                logger=SearchLog(self.lines),
                seed=self.config.train.seed,
                track_best_outputs=False,
            )

        return await bridge.run(search)

    async def enter(self, entry: PoolEntry) -> None:
        """A candidate has come into the pool."""
        self.pool.append(entry)
        self.moved()

    # ------------------------------------------------------------------------------------------- what others see

    def news(self) -> list[str]:
        told = [
            f"candidate {entry.index} after {entry.spent} attempts: {entry.validation:.3f} on {len(self.sets[1])} "
            "validation tasks of the search" + (f", from {entry.parents[0]}" if entry.parents else "")
            for entry in self.pool[self._told :]
        ]
        self._told = len(self.pool)
        if self.steps_done and not self._ended:
            self._ended = True
            nothing = "the search found nothing better than the playbook it started from: nothing to judge"
            told.append(str(self.judgement.decision) if self.judgement else nothing)
        return told

    def write(self, folder: Path) -> None:
        write_json(folder / "gepa_pool.json", [entry.as_data() for entry in self.pool])
        write_atomically(folder / "gepa_log.txt", "".join(f"{line}\n" for line in self.lines).encode())

    def summary(self) -> dict[str, Any]:
        best = max(self.pool, key=lambda entry: (entry.validation, -entry.index), default=None)
        return {
            "gepa_candidates": len(self.pool),
            "gepa_attempts": self.pool[-1].spent if self.pool else 0,
            "gepa_best": best.index if best else None,
            "gepa_best_validation": best.validation if best else None,
        }


@dataclass(frozen=True, slots=True)
class SearchEvents:
    """What GEPA tells of its search, from its thread."""

    training: GepaSearch
    adapter: SearchAdapter

    def on_valset_evaluated(self, event: Mapping[str, Any]) -> None:
        parents = tuple(parent for parent in event["parent_ids"] if parent is not None)
        score, texts = round(float(event["average_score"]), 6), dict(event["candidate"])
        entry = PoolEntry(event["candidate_idx"], event["iteration"], parents, score, self.adapter.spent, texts)
        self.adapter.bridge.ask(self.training.enter(entry))


@dataclass(frozen=True, slots=True)
class SearchLog:
    """What GEPA would print goes into a file."""

    lines: list[str]

    def log(self, message: str) -> None:
        self.lines.append(message)


def _package() -> Any:
    try:
        import gepa
    except ImportError:
        raise WhetError(f"the learner gepa needs the package of that name: {install('gepa')}") from None
    return gepa


class GepaLearner(Learner):
    """GEPA as the entry point `whet.learners` finds it."""

    name = "gepa"
    about = "a playbook, evolved by GEPA's own package on train tasks; its best candidate is brought to the gate"
    config = GepaConfig

    def consults(self, config: GepaConfig) -> bool:
        _package()
        return True

    def rollouts(self, config: GepaConfig, tasks: int) -> int:
        return config.gepa.calls

    def describe(self, config: GepaConfig, tasks: int) -> str:
        section = config.gepa
        return (
            f"at most {section.calls} attempts, minibatches of {section.minibatch}, Pareto front on "
            f"{section.validation:.0%} of {tasks} train tasks; one candidate for the gate"
        )

    def begin(self, assignment: Assignment) -> GepaSearch:
        return GepaSearch(assignment.shop, assignment.judge, assignment.config, assignment.tasks, assignment.moved)
