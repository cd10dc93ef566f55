"""An alarm that may be read every day: evidence against a reference, ticket after ticket, by betting.

Each new ticket is ranked, trait by trait, among the reference and everything before it. As long as nothing changes the
ranks are uniform, whatever the traits are distributed like, and no bet on them gains: capital that has grown to 1/p is
evidence of strength p at any moment, however often one looks (Ville). New bets are opened all the time from a reserve
that never runs out, so that a change after a quiet year is found as well.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from whet.envs.groupqc.drift.traits import TicketTraits, TraitLexicon
from whet.errors import WhetError
from whet.keys import seed_for

LEVELS = 21
"""Traits are ranked on a grid from 0 to 1 that is fixed beforehand; what falls together is ranked by lot."""

_GRID = np.arange(LEVELS)

STAKES = np.array([-1.8, -1.0, -0.4, 0.4, 1.0, 1.8])
"""How strongly the bets lean towards low ranks and high ones."""

FEWEST = 20
"""Sites that a reference needs."""

_SLOW, _LATE = 1.1, 10


@functools.cache
def _reserve() -> float:
    """The sum of all stakes there will ever be, so that they add up to 1: Hurwitz's zeta function."""
    from scipy.special import zeta

    return float(zeta(_SLOW, _LATE))


@dataclass(frozen=True, slots=True)
class WatchAlarm:
    """A trait whose capital has grown past the bar: at which ticket (from 1), and between which means."""

    about: str
    ticket: int
    reference: float
    since: float
    """The mean over the latest tickets when the alarm was raised."""


@dataclass(frozen=True, slots=True)
class WatchState:
    """What has come of watching `tickets` of them; `evidence` is the largest share of the bar that was reached."""

    traits: int
    tickets: int
    evidence: float
    alarms: tuple[WatchAlarm, ...]


class DriftWatch:
    """Watches tickets in the order in which they come. The chance of ever raising an alarm without cause is `alpha`."""

    def __init__(self, reference: Sequence[TicketTraits], alpha: float = 0.01) -> None:
        sites = list({(ticket.mission, ticket.site): ticket for ticket in reference}.values())
        if len(sites) < FEWEST:
            raise WhetError(f"a reference of {len(sites)} sites is too small to watch by; give at least {FEWEST}")
        half = len(sites) // 2
        self._lexicon = TraitLexicon.of(sites[:half])
        self._names = self._chosen(sites[:half])
        self._places = {name: at for at, name in enumerate(self._names)}
        self._bar = len(self._names) / alpha
        self._rows = np.arange(len(self._names))
        self._counts = np.zeros((len(self._names), LEVELS))
        self._capital = np.zeros((len(self._names), len(STAKES)))
        self._left = 1.0
        self._reserve = _reserve()  # takes most of a second, which no ticket should wait for
        self._seen = 0
        self._peak = np.zeros(len(self._names))
        self._recent: list[npt.NDArray[np.float64]] = []
        self._sites: set[tuple[str, str]] = set()
        self._alarms: dict[int, WatchAlarm] = {}
        for ticket in sites[half:]:
            self._counts[self._rows, self._levels(ticket)[0]] += 1
        self._total = len(sites) - half
        self._up_to = self._counts.cumsum(axis=1)
        """How many tickets were at a level or below: kept as the counts are, for a ticket moves both by one."""
        self._means = (self._counts @ np.linspace(0, 1, LEVELS)) / self._total

    def take(self, tickets: Iterable[TicketTraits]) -> WatchState:
        """Watch more tickets. A site that comes again says nothing new, and is left out."""
        for ticket in tickets:
            if (ticket.mission, ticket.site) not in self._sites:
                self._sites.add((ticket.mission, ticket.site))
                self._bet(ticket)
        evidence = float(self._peak.max() / self._bar) if len(self._peak) else 0.0
        return WatchState(len(self._names), self._seen, min(1.0, evidence), tuple(self._alarms.values()))

    def _chosen(self, sites: Sequence[TicketTraits]) -> tuple[str, ...]:
        """The traits that vary in the half of the reference that serves for nothing else."""
        told = [self._all(ticket) for ticket in sites]
        names = sorted({name for shares in told for name in shares})
        least = max(2.0, 0.02 * len(told))
        return tuple(
            name
            for name in names
            if sum(shares.get(name, 0.0) > 0 for shares in told) >= least
            and len({round(shares.get(name, 0.0), 3) for shares in told}) > 1
        )

    def _all(self, ticket: TicketTraits) -> dict[str, float]:
        return {**ticket.shares, **self._lexicon.shares(ticket)}

    def _levels(self, ticket: TicketTraits) -> tuple[Any, Any]:
        """On the grid, and as it is: most traits of a ticket are 0, so only those that it has are looked at."""
        levels, values, places = [0] * len(self._names), [0.0] * len(self._names), self._places
        for name, share in self._all(ticket).items():
            if (at := places.get(name)) is not None:
                levels[at], values[at] = min(max(round(share * (LEVELS - 1)), 0), LEVELS - 1), share
        return np.array(levels, np.intp), np.array(values)

    def _bet(self, ticket: TicketTraits) -> None:
        levels, values = self._levels(ticket)
        at = (self._rows, levels)
        above, beside = self._total - self._up_to[at], self._counts[at] + 1
        lot = np.random.default_rng(seed_for("groupqc", "watch", self._seen) % 2**63).random(len(levels))
        self._counts[at] = beside
        self._up_to += levels[:, None] <= _GRID
        self._total += 1
        rank = (above + lot * beside) / self._total
        stake = (self._seen + _LATE) ** -_SLOW / self._reserve
        self._left -= stake
        self._capital += stake / len(STAKES)
        self._capital *= 1.0 + STAKES[None, :] * (rank - 0.5)[:, None]
        self._seen += 1
        self._recent = [*self._recent[-49:], values]
        total = self._capital.sum(axis=1) + max(0.0, self._left)
        self._peak = np.maximum(self._peak, total)
        for row in np.flatnonzero(total >= self._bar):
            if int(row) not in self._alarms:
                since = float(np.mean([recent[row] for recent in self._recent]))
                self._alarms[int(row)] = WatchAlarm(self._names[row], self._seen, float(self._means[row]), since)
