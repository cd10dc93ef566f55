"""A session without engine and ledger: rollouts of the simulated reviewer, voted on, kept in memory.

It gives a learner what `whet.rollout.session.Session` gives it. Draws have the same keys and so the same outcomes as in
a run with an engine: a run in memory decides what that run would, some fifty times as fast.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from rule_search.reviewer import Reviewer, ReviewerModel, said
from whet.envs.base import Environment
from whet.envs.groupqc.environment import GroupQc
from whet.envs.groupqc.tickets.prompt import evidence
from whet.keys import policy_digest, rollout_key
from whet.rollout.player import Player, Seat
from whet.rollout.votes import majority, single, vote_draws
from whet.types import Outcome, Policy, Reply, Rollout, Score, Split, Task, Ticket, Turn, Usage


class KeptTickets(GroupQc):
    """Generated tickets, each drawn once."""

    def __init__(self, source: str, args: Any) -> None:
        super().__init__(source, args)
        self._kept: dict[tuple[Split, int], Task] = {}

    def task(self, split: Split, index: int) -> Task:
        """The ticket without a prompt: the reviewer reads its data, and a prompt takes as long as all the rest."""
        known = self._kept.get((split, index))
        if known is None:
            ticket = self.ticket(split, index)
            told = {"mission": ticket.mission, "site": ticket.site, "submitted": ticket.submitted}
            shown = {"images": list(ticket.images), "summaries": list(evidence(*self.mission(ticket.mission), ticket))}
            known = Task(split, index, self.label(split, index), (), {"label": ticket.label}, {**told, **shown})
            self._kept[split, index] = known
        return known


@dataclass(slots=True)
class MemoryLedger:
    """Effects and rollouts by their keys."""

    rollouts_by_key: dict[str, Rollout] = field(default_factory=dict)
    kept: dict[str, tuple[str, str, Any]] = field(default_factory=dict)

    def effect(self, key: str, request: str, where: str) -> Any | None:
        found = self.kept.get(key)
        return None if found is None else found[2]

    def add_effect(self, key: str, kind: str, purpose: str, request: str, body: Any) -> None:
        self.kept[key] = (kind, purpose, body)

    def effects(self, kind: str) -> Iterator[tuple[str, Any]]:
        return ((purpose, body) for known, purpose, body in list(self.kept.values()) if known == kind)

    def rollout(self, key: str) -> Rollout | None:
        return self.rollouts_by_key.get(key)

    def outcomes_of(self, keys: Sequence[str]) -> list[Outcome]:
        found = (self.rollouts_by_key.get(key) for key in keys)
        return [_outcome(rollout) for rollout in found if rollout is not None]

    def outcomes(self, purpose: str | None = None) -> Iterator[Outcome]:
        every = self.rollouts_by_key.values()
        return (_outcome(rollout) for rollout in every if purpose in (None, rollout.ticket.purpose))

    def add_policy(self, policy: Policy) -> str:
        return policy_digest(policy)


def _outcome(rollout: Rollout) -> Outcome:
    score = rollout.score
    assert score is not None
    told = (score.hard, score.soft, score.reward, score.reason)
    return Outcome(rollout.ticket, rollout.label, *told, usage=rollout.usage, key=rollout.key, parts=score.parts)


@dataclass(slots=True)
class MemorySession:
    """What a learner asks of a session, answered by the reviewer. `drawn` counts the draws of all votes, by stage."""

    env: Environment
    reviewer: Reviewer
    policy: Policy
    ledger: MemoryLedger = field(default_factory=MemoryLedger)
    optimizer: None = None
    drawn: Counter[str] = field(default_factory=Counter)
    _digested: dict[int, tuple[Policy, str, str]] = field(default_factory=dict)
    _scores: dict[tuple[str, str | None], tuple[Score, tuple[Turn, ...]]] = field(default_factory=dict)

    @property
    def players(self) -> Any:
        seat = Seat(Policy(ReviewerModel(self.reviewer).fingerprint), Player(ReviewerModel(self.reviewer)))
        return SimpleNamespace(seat=lambda policy: seat)

    def within(self, env: Environment) -> MemorySession:
        self.env = env
        return self

    def key(self, policy: Policy, ticket: Ticket) -> str:
        return rollout_key(ticket, self.env.fingerprint, self._digests(policy)[0])

    def _digests(self, policy: Policy) -> tuple[str, str]:
        """The digest of a policy and that of its single draws; policies are few and tickets many."""
        known = self._digested.get(id(policy))
        if known is None:
            known = self._digested[id(policy)] = (policy, policy_digest(policy), policy_digest(single(policy)))
        return known[1:]

    async def roll(
        self, policy: Policy, tickets: Sequence[Ticket], what: str, faults: float
    ) -> tuple[Rollout | None, ...]:
        own, alone = self._digests(policy)
        return tuple(self._vote(policy, own, alone, ticket) for ticket in tickets)

    def calls(self, policy: Policy, ticket: Ticket) -> tuple[str | None, ...]:
        task = self.env.task(ticket.split, ticket.index)
        return self._calls(policy, self._digests(policy)[1], ticket, task)

    def _calls(self, policy: Policy, alone: str, ticket: Ticket, task: Task) -> tuple[str | None, ...]:
        votes = policy.sampling.votes
        draws = vote_draws(ticket, votes) if votes > 1 else (ticket,)
        calls: list[str | None] = []
        for place, draw in enumerate(draws):
            enough = policy.sampling.until_settled and place > votes // 2
            if enough and majority(calls, self.env.tie, votes - place).settled:
                break
            calls.append(self.reviewer.call(task, policy.playbook, rollout_key(draw, self.env.fingerprint, alone)))
        return tuple(calls)

    def _vote(self, policy: Policy, own: str, alone: str, ticket: Ticket) -> Rollout:
        key = rollout_key(ticket, self.env.fingerprint, own)
        known = self.ledger.rollouts_by_key.get(key)
        if known is not None:
            return known
        task = self.env.task(ticket.split, ticket.index)
        calls = self._calls(policy, alone, ticket, task)
        self.drawn[self._stage(policy, ticket)] += len(calls)
        found = majority(calls, self.env.tie, policy.sampling.votes - len(calls))
        score, turns = self._graded(task, calls[found.winner])
        if policy.sampling.votes > 1:
            parts = {**score.parts, "votes": float(found.votes), "agreement": found.agreement}
            score = Score(score.hard, score.soft, score.reward, parts, score.reason, score.detail)
        made = Rollout(ticket, task.label, key, "", own, turns, score, Usage(len(calls), 0, 0, 0, 0.0))
        self.ledger.rollouts_by_key[key] = made
        return made

    def _stage(self, policy: Policy, ticket: Ticket) -> str:
        """What a draw was taken for. The floor's are also the first that the gate asks of the first book."""
        first = ticket.purpose.split("/")[0]
        if first == "select":
            return "floor" if policy.playbook == self.policy.playbook and ticket.draw < 2 else "gate"
        return "screen" if ticket.purpose.endswith("/screen") else "pool" if first == "train" else first

    def _graded(self, task: Task, call: Any) -> tuple[Score, tuple[Turn, ...]]:
        """A score depends on label and call alone."""
        place = (task.truth["label"], call)
        known = self._scores.get(place)
        if known is None:
            reply = Reply(said(call, self.reviewer.language.pack.language), usage=Usage(1, 0, 0, 0, 0.0))
            play = self.env.play(task)
            next(play)
            try:
                play.send(reply)
            except StopIteration as end:
                known = self._scores[place] = (end.value, (Turn("target", (), reply),))
        assert known is not None
        return known
