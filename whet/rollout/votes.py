"""A verdict as the majority of several draws: voting is how a policy samples, so whoever reads its answer reads that.

A policy with `votes = K` attempts every ticket K times. Each draw is a rollout of the same policy without votes, under
the purpose `vote/…`: asked for, paid, graded and remembered like any other. Under the ticket's own key then stands the
first draw that says what most of them say, with what all of them cost. Gate, evaluation and audit need not know more.

* The environment says what a draw's verdict is (`Environment.verdict`). A draw without one is no vote; where no draw
  has one, the first stands as it is.
* A tie goes to the verdict that the environment names (`Environment.tie`), else to that one of those tied which was
  drawn first.
* With `until_settled` a vote ends as soon as no draw that is left could change it: draws are taken in waves, which look
  only at draws that are complete, so what is asked for does not depend on who finished first.
* A draw that met a fault is missing. The vote counts where the missing draws could not have changed it; else it is a
  fault itself, and is taken again with those draws.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from whet.envs.base import Environment
from whet.keys import policy_digest, rollout_key
from whet.rollout.progress import Tally
from whet.types import Fault, Policy, Rollout, Score, Ticket, Usage

if TYPE_CHECKING:
    from whet.ledger.writer import LedgerWriter

VOTE = "vote/"
"""What the purpose of a draw begins with; the rest is the purpose that was voted for."""

UNSETTLED = "unsettled_vote"
"""The kind of fault that a vote is which its missing draws could have turned."""


def single(policy: Policy) -> Policy:
    """The policy whose draws are the votes of this one."""
    if policy.sampling.votes == 1:
        return policy
    return replace(policy, sampling=replace(policy.sampling, votes=1, until_settled=False))


@dataclass(frozen=True, slots=True)
class Majority:
    """What draws say together. `verdict` is None where no draw has any; `winner` is the place of the draw that stands.

    `settled` is false where draws that are missing could have given another verdict.
    """

    verdict: str | None
    winner: int
    votes: int
    agreement: float
    settled: bool


def majority(calls: Sequence[str | None], tie: str = "", missing: int = 0) -> Majority:
    """The majority among the verdicts of draws in their order; None is a draw that has none."""
    counts = Counter(call for call in calls if call is not None)
    if not counts:
        return Majority(None, 0, 0, 0.0, settled=missing == 0)
    most = max(counts.values())
    tied = [call for call in counts if counts[call] == most]
    verdict = tie if tie in tied else tied[0]
    others = max((count for call, count in counts.items() if call != verdict), default=0)
    valid = counts.total()
    return Majority(verdict, calls.index(verdict), valid, most / valid, settled=not missing or most > others + missing)


class Election:
    """The votes of one policy on tickets, as a ledger has their draws."""

    def __init__(self, env: Environment, ledger: LedgerWriter, policy: Policy) -> None:
        self._env = env
        self._ledger = ledger
        self._votes = policy.sampling.votes
        self._hasty = policy.sampling.until_settled
        self._policy = ledger.add_policy(policy)
        self._single = policy_digest(single(policy))

    def known(self, tickets: Sequence[Ticket]) -> list[Ticket]:
        """The draws on record, for an engine to compare what was asked then with what would be asked now."""
        every = [draw for ticket in tickets for draw in vote_draws(ticket, self._votes)]
        held = {outcome.key for outcome in self._ledger.outcomes_of(map(self._draw_key, every))}
        return [draw for draw in every if self._draw_key(draw) in held]

    def wave(self, tickets: Sequence[Ticket], *, again: bool = False) -> list[Ticket]:
        """The draws to take next for votes on `tickets`, none when all are counted or can be.

        `again`: draws that met a fault are taken once more where a vote hangs on them.
        """
        faulted = self._ledger.faulted()
        open_votes = [ticket for ticket in tickets if not self._counted(ticket)]
        return [draw for ticket in open_votes for draw in self._next(ticket, faulted, again)]

    def _next(self, ticket: Ticket, faulted: frozenset[str], again: bool) -> list[Ticket]:
        """The draws of a vote that are to be taken now: all, or only as many as could settle it."""
        draws = vote_draws(ticket, self._votes)
        keys = {draw: self._draw_key(draw) for draw in draws}
        known = {outcome.key for outcome in self._ledger.outcomes_of(keys.values())}
        tired = frozenset() if again else faulted
        left = [draw for draw in draws if keys[draw] not in known and keys[draw] not in tired]
        if not left or not self._hasty:
            return left
        if not known:
            return left[: self._votes // 2 + 1]
        return [] if self._majority(ticket, draws)[1].settled else left[:1]

    def drawn(self, ticket: Ticket) -> tuple[Rollout | None, ...]:
        """The draws of one vote; None where there is no answer."""
        return tuple(self._ledger.rollout(self._draw_key(draw)) for draw in vote_draws(ticket, self._votes))

    def count(self, tickets: Sequence[Ticket], drawn: Tally, *, again: bool = False) -> Tally:
        """Count the votes whose draws are all in or met a fault, and remember them; how the draws ended is told on."""
        faulted = self._ledger.faulted()
        tally = Tally(len(tickets), stopped=drawn.stopped, failed=drawn.failed)
        for ticket in tickets:
            if self._counted(ticket) or (not again and self._key(ticket) in faulted):
                tally.replayed += 1
                continue
            rollout = self._vote(ticket, faulted)
            if rollout is None:
                continue
            self._ledger.journal.add(rollout)
            tally.faults += isinstance(rollout.outcome, Fault)
            tally.done += isinstance(rollout.outcome, Score)
        self._ledger.journal.flush()
        return tally

    def _vote(self, ticket: Ticket, faulted: frozenset[str]) -> Rollout | None:
        """The vote on a ticket; None while a draw is still to be made."""
        draws = vote_draws(ticket, self._votes)
        rollouts, found = self._majority(ticket, draws)
        taken = {rollout.ticket for rollout in rollouts}
        ended = self._hasty and rollouts and found.settled
        if not ended and any(draw not in taken and self._draw_key(draw) not in faulted for draw in draws):
            return None
        if not rollouts or not found.settled:
            return self._unsettled(ticket, draws, rollouts)
        return self._standing(ticket, rollouts, found)

    def _majority(self, ticket: Ticket, draws: Sequence[Ticket]) -> tuple[list[Rollout], Majority]:
        """The draws that are in, and what they say together."""
        taken = (self._ledger.rollout(self._draw_key(draw)) for draw in draws)
        rollouts = [rollout for rollout in taken if rollout is not None]
        task = self._env.task(ticket.split, ticket.index) if rollouts else None
        calls = [self._env.verdict(task, rollout) for rollout in rollouts] if task is not None else []
        return rollouts, majority(calls, self._env.tie, len(draws) - len(rollouts))

    def _standing(self, ticket: Ticket, rollouts: Sequence[Rollout], found: Majority) -> Rollout:
        """The draw that speaks for all, under the ticket's own key, with what all of them cost."""
        winner = rollouts[found.winner]
        score = winner.score
        assert score is not None, "a rollout on record has a score"
        parts = {**score.parts, "votes": float(found.votes), "agreement": found.agreement}
        return replace(
            winner,
            ticket=ticket,
            key=self._key(ticket),
            policy=self._policy,
            outcome=replace(score, parts=parts),
            usage=sum((rollout.usage for rollout in rollouts), Usage()),
            seconds=sum(rollout.seconds for rollout in rollouts),
        )

    def _unsettled(self, ticket: Ticket, draws: Sequence[Ticket], rollouts: Sequence[Rollout]) -> Rollout:
        last = self._ledger.open_fault(draws[0].purpose)
        missing = len(draws) - len(rollouts)
        told = f"{missing} of {len(draws)} draws met a fault and could turn the vote, the last: {last}"
        fault = Fault(UNSETTLED, "votes", told)
        label = self._env.label(ticket.split, ticket.index)
        usage = sum((rollout.usage for rollout in rollouts), Usage())
        return Rollout(ticket, label, self._key(ticket), "", self._policy, (), fault, usage)

    def _counted(self, ticket: Ticket) -> bool:
        """Whether a vote is on record. Its draws' requests have been compared where they were asked for."""
        return bool(self._ledger.outcomes_of([self._key(ticket)]))

    def _key(self, ticket: Ticket) -> str:
        return rollout_key(ticket, self._env.fingerprint, self._policy)

    def _draw_key(self, draw: Ticket) -> str:
        return rollout_key(draw, self._env.fingerprint, self._single)


def vote_draws(ticket: Ticket, votes: int) -> tuple[Ticket, ...]:
    """The draws of one vote: no two votes share one."""
    first = ticket.draw * votes
    return tuple(Ticket(f"{VOTE}{ticket.purpose}", ticket.split, ticket.index, first + vote) for vote in range(votes))
