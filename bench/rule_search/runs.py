"""One run of rule search in memory, and what came of it, measured on tickets that it has not seen."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from random import Random
from typing import Any

from rule_search.memory import KeptTickets, MemorySession
from rule_search.reviewer import Reviewer, ReviewerModel
from whet.config.load import validate
from whet.envs.groupqc.pack.file import load_packs
from whet.envs.groupqc.summaries.counts import read_summary
from whet.envs.groupqc.verdict.conventions import judge_with
from whet.envs.groupqc.verdict.language import TicketLanguage
from whet.keys import seed_for
from whet.learn.judge import Judge
from whet.learn.rules.book import Operation, RuleBook
from whet.learn.rules.config import RulesConfig
from whet.learn.rules.review import SPOKEN
from whet.learn.rules.training import RuleSearch
from whet.learn.rules.types import Proposals, RuleProposer, RuleStep
from whet.learn.workshop import Workshop
from whet.rollout.cast import sampling_of
from whet.run.decide import build_gate
from whet.types import Playbook, Policy, Rule, Task, Ticket

WHET, PUBLISHED, UNCAPPED, A_A = "whet", "published", "published_uncapped", "a_a"

PROPOSE, GATE, TEST = 400, 500, 400
"""Tickets of the pools and of the sealed test."""

PROOF = 4800
"""Tickets of the test split on whose failing ones the truth about an accepted change is computed; no run sees them."""

VOTES = 3
COVERED = 0.7
"""Share of the tickets that a convention decides on which one rule of the book must give its verdict to count as it."""

SLIGHT = 0.01
"""A change truly raises false releases where the policy's true rate among failing tickets rises by more than this."""

ALIKE = 0.5
"""The share of common tickets from which a rule counts as a try at a planted convention."""

RISE = 0.05
"""The bound on false releases among failing tickets that a change is accepted under."""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """Which loop, in which world."""

    kind: str
    ambiguous: float
    seed: int


@dataclass(frozen=True, slots=True)
class RunFigures:
    """What came of a run. Scores are shares of right votes on the sealed test."""

    mission: str
    planted: int
    found: int
    strict: int
    removed: int
    applied: int
    raised: int
    raised_any: int
    raised_beyond: int
    """Of `raised_any`, those that raise them by more than the planted change in their place would."""
    rises: tuple[float, ...]
    """The true rise of false releases of each accepted change, and in `kinds` what each was."""
    kinds: tuple[str, ...]
    rounds: int
    draws: int
    spent: dict[str, int]
    """The draws by stage."""
    checklist: float
    start: float
    final: float
    ceiling: float
    stays: str = ""
    """Where the strict rule stays: what became of its removal when it was brought last, and with which numbers."""
    due: float = 0.0
    """The true rise of false releases if it were removed from the final book, where it stays."""
    at_best: float = 0.0
    """The true rise of its removal from a book that has every planted convention word for word."""
    spoken: int = 0
    """Accepted changes whose gain the gate alone did not show."""

    @property
    def way(self) -> float:
        """How far the final score is on the way from checklist to ceiling."""
        return (self.final - self.checklist) / (self.ceiling - self.checklist)


class Paraphraser:
    """Says what stands in other words, over and over: nothing that it brings is any better."""

    name = "paraphraser"
    ranks = False

    async def propose(self, step: RuleStep, most: int) -> Proposals:
        rules = [rule for rule in step.book.learnt if rule.predicate is not None]
        found = [
            Operation(
                "update", f"{rule.text} (Put another way, {step.number}.{turn}.)", rule.id, predicate=rule.predicate
            )
            for turn in range(most)
            for rule in rules
        ]
        return Proposals(tuple(found[:most]))


class World:
    """A mission with planted conventions, its tickets, and the reviewer."""

    def __init__(self, plan: RunPlan) -> None:
        missions = [(pack, mission) for pack in load_packs() for mission in pack.missions]
        self.pack, self.mission = missions[plan.seed % len(missions)]
        given: dict[str, Any] = {"pack": self.pack.name, "mission": self.mission.name}
        given |= {"conventions": plan.seed, "seed": plan.seed, "noise": {"ambiguous": plan.ambiguous}}
        self.env = KeptTickets("", given)
        self.planted = self.env.conventions(self.mission.name)
        self.language: TicketLanguage = self.env.rule_language(self.env.task("train", 0))
        self.reviewer = Reviewer(self.language)
        self.fresh = [self.env.task("test", index) for index in range(TEST)]
        proof = (self.env.task("test", index) for index in range(PROOF))
        self.failing = [task for task in proof if task.truth["label"] == "fail"]
        self._released: dict[str, float] = {}
        self._seed = plan.seed

    def strict_rules(self, number: int) -> list[Rule]:
        """A requirement that no reviewer has, and that ten to thirty of a hundred good tickets do not meet.

        In a few worlds there is none to be had: everything that is missing so often is also a fault. They do without.
        """
        tasks = [self.env.task("train", index) for index in range(PROPOSE, PROPOSE + 150)]
        good = sum(
            1 << place
            for place, task in enumerate(tasks)
            if task.truth["label"] == "pass" == self.language.unruled(task)  # or it would fail by the checklist anyway
        )
        opening = next(each for each in self.language.openings(tasks) if each.kind == "require")
        fitting = [
            feature
            for feature in opening.features
            if feature.sort == opening.core
            and 0.10 <= (feature.fires & good).bit_count() / good.bit_count() <= 0.30
            and not self._resembles(feature.fires, tasks)
        ]
        if not fitting:
            return []
        drawn = Random(seed_for("bench", "rules", self._seed)).choice(fitting)
        written = self.language.write(opening, [drawn])
        return [Rule(f"G{number}", written.text, self.mission.name, predicate=written.predicate)]

    def _resembles(self, fires: int, tasks: Sequence[Task]) -> bool:
        """Whether what fires here is right more often than wrong: then it would be no rule that is too strict."""
        wrong = sum(fires >> place & 1 and task.truth["label"] == "pass" for place, task in enumerate(tasks))
        return wrong < 0.4 * fires.bit_count()

    def true_rule(self, number: int, place: int) -> Rule:
        planted = self.planted[place]
        return Rule(f"G{number}", planted.text, self.mission.name, predicate=planted.as_data())

    # ------------------------------------------------------------------------------------------- the truth

    def false_releases(self, book: Playbook) -> float:
        """The true rate: the chance that the reviewer's vote releases a failing ticket under this book, averaged over
        all failing tickets of the proof. It is computed from the reviewer's rates, so no draw adds noise to it."""
        rules = [rule.predicate for rule in book.told if rule.predicate is not None]
        known = self._released.get(repr(rules))
        if known is None:
            chances = [self.reviewer.release(task, rules, VOTES) for task in self.failing]
            known = self._released[repr(rules)] = sum(chances) / len(chances)
        return known

    def due(self, before: RuleBook, after: RuleBook, strict: str) -> float:
        """The rise of false releases that the planted change has which comes nearest to the one between two books.

        The right change has one too: a rule that is too strict blocks some bad tickets by accident, and a convention
        lets pass what another fails that is not learnt yet, or that only looks like what it excuses.
        """
        known = {rule.id for rule in before.active}
        gone, new = known - {rule.id for rule in after.active}, [rule for rule in after.active if rule.id not in known]
        if not new:
            return self._rise(before, after) if gone == {strict} else 0.0
        nearest = max(self.planted, key=lambda planted: self._agreement(planted.as_data(), new[0].predicate))
        if self._agreement(nearest.as_data(), new[0].predicate) < ALIKE:
            return 0.0
        rules = tuple(replace(rule, predicate=nearest.as_data()) if rule is new[0] else rule for rule in after.rules)
        return self._rise(before, replace(after, rules=rules))

    def _rise(self, before: RuleBook, after: RuleBook) -> float:
        first, second = (self.false_releases(book.within(Playbook())) for book in (before, after))
        return second - first

    def _agreement(self, mine: Any, theirs: Any) -> float:
        """Of the tickets that either of two rules decides, the share on which both say the same."""
        said = [(self.language.says(mine, task), self.language.says(theirs, task)) for task in self.fresh]
        either = [pair for pair in said if pair != (None, None)]
        same = sum(bool(first == second) for first, second in either)
        return same / len(either) if either else 0.0

    def covered(self, book: Playbook) -> int:
        """How many planted conventions the book has: one rule each that gives the verdict where it decides."""
        decided: dict[str, list[tuple[Task, str]]] = {known.id: [] for known in self.planted}
        for task in self.fresh:
            readings = [read_summary(self.pack, text) for text in task.data["summaries"]]
            told = (task.data.get("site", ""), task.data.get("submitted", ""))
            judged = judge_with(self.pack, self.mission, self.planted, readings, *told)
            for name in judged.decided_by:
                decided[name].append((task, judged.verdict))
        rules = [rule.predicate for rule in book.told if rule.predicate is not None]
        return sum(
            any(
                sum(self.language.says(rule, task) == verdict for task, verdict in cases) >= COVERED * len(cases)
                for rule in rules
            )
            for cases in decided.values()
            if cases
        )

    def score(self, session: MemorySession, policy: Policy) -> float:
        tickets = [Ticket("test", "test", index) for index in range(TEST)]
        rolled = asyncio.run(session.roll(policy, tickets, "test", 0.0))
        return sum(rollout.score.hard for rollout in rolled if rollout and rollout.score) / TEST

    def right_by(self, predicates: list[Any]) -> float:
        right = (self.reviewer.passes(task, predicates) == (task.truth["label"] == "pass") for task in self.fresh)
        return sum(right) / TEST


def config_of(kind: str) -> RulesConfig:
    data: dict[str, Any] = {
        "env": {"name": "groupqc"},
        "target": {"model": "simulated:reviewer", "sampling": {"votes": VOTES}},
        "train": {"proposer": "miner", "steps": 14, "patience": 3},
        "preset": "published" if kind in (PUBLISHED, UNCAPPED) else "whet",
    }
    if kind == UNCAPPED:
        data["gate"] = {"args": {"max_changed": 1.0}}
    if kind in (WHET, A_A):
        data["gate"] = {"pace": "brief"}
        data["rules"] = {"candidates": 2}
        data["target"]["sampling"]["until_settled"] = True
    found: RulesConfig = validate(RulesConfig, data, "bench/rules.py")
    return found


def run_world(plans: Sequence[RunPlan]) -> list[RunFigures]:
    """Runs in one world, whose tickets are drawn once."""
    world = World(plans[0])
    return [run_one(plan, world) for plan in plans]


def run_one(plan: RunPlan, known: World | None = None) -> RunFigures:
    """One run to its end."""
    world, config = known or World(plan), config_of(plan.kind)
    own = tuple(world.env.rule_book(world.env.task("train", 0)))
    number = len([rule for rule in own if rule.id.startswith("G")])
    null = plan.kind == A_A
    extra = [world.true_rule(number, 0), world.true_rule(number + 1, 1)] if null else world.strict_rules(number)
    book = RuleBook((*own, *extra), number + len(extra)).within(Playbook())
    training, session = in_memory(
        world.env, world.reviewer, config, book, range(PROPOSE), range(GATE), Paraphraser() if null else None
    )
    draws = dict(session.drawn)
    session.env = world.env
    strict = "" if null or not extra else extra[0].id
    return figures_of(world, session, training, session.policy, draws, strict)


def in_memory(
    env: KeptTickets,
    reviewer: Reviewer,
    config: RulesConfig,
    book: Playbook,
    tasks: Sequence[int],
    select: Sequence[int],
    proposer: RuleProposer | None = None,
) -> tuple[RuleSearch, MemorySession]:
    """Rule search to its end, from this book on these tickets."""
    start = Policy(ReviewerModel(reviewer).fingerprint, sampling_of(config.target.sampling), book)
    session = MemorySession(env, reviewer, start)
    shop = Workshop(session, build_gate(config.gate), tuple(select))  # type: ignore[arg-type]
    training = RuleSearch(shop, Judge.start(shop, start), config, tuple(tasks), proposer=proposer)
    asyncio.run(training.run())
    return training, session


def figures_of(
    world: World,
    session: MemorySession,
    training: RuleSearch,
    start: Policy,
    draws: dict[str, int],
    strict: str,
) -> RunFigures:
    books = [book for _, book, _ in training.books]
    released = [world.false_releases(book.within(Playbook())) for book in books]
    rises = [after - before for before, after in pairwise(released)]
    slight = [(rise, *pair) for rise, pair in zip(rises, pairwise(books), strict=True) if rise > SLIGHT]
    beyond = [rise - max(0.0, world.due(before, after, strict)) for rise, before, after in slight]
    final = books[-1].within(Playbook())
    told = {rule.id for rule in final.told}
    left, due, at_best = ("", 0.0, 0.0) if not strict else of_strict(world, training, books, strict)
    applied = [record.judgement for state in training.rounds for record in state.applied if record.judgement]
    return RunFigures(
        world.mission.code,
        len(world.planted),
        world.covered(final),
        int(bool(strict)),
        int(bool(strict) and strict not in told),
        len(rises),
        sum(rise > RISE for rise in rises),
        len(slight),
        sum(rise > SLIGHT for rise in beyond),
        tuple(round(rise, 5) for rise in rises),
        tuple(record.operation.op for state in training.rounds for record in state.applied if record.operation),
        len(training.rounds),
        sum(draws.values()),
        draws,
        world.right_by([]),
        world.score(session, start),
        world.score(session, replace(start, playbook=final)),
        world.right_by([known.as_data() for known in world.planted]),
        left,
        round(due, 5),
        round(at_best, 5),
        sum(judged.decision.reason == SPOKEN for judged in applied),
    )


def of_strict(world: World, training: RuleSearch, books: Sequence[RuleBook], strict: str) -> tuple[str, float, float]:
    """Why the strict rule stays, what its removal would do then, and what it would do at best."""

    def rise(book: RuleBook) -> float:
        without = replace(book, rules=tuple(rule for rule in book.rules if rule.id != strict))
        first, second = (world.false_releases(each.within(Playbook())) for each in (book, without))
        return second - first

    start = books[0]
    true = tuple(world.true_rule(start.fresh + place, place) for place in range(len(world.planted)))
    at_best = rise(replace(start, rules=(*start.rules, *true)))
    if strict not in {rule.id for rule in books[-1].active}:
        return "", 0.0, at_best
    brought = [
        record
        for state in training.rounds
        for record in state.records
        if record.operation is not None and (record.operation.op, record.operation.target) == ("remove", strict)
    ]
    said = f"{brought[-1].fate} in round {brought[-1].round}: {brought[-1].detail}" if brought else "never brought"
    return said, rise(books[-1]), at_best
