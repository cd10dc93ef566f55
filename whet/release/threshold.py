"""From which score on a ticket is released: chosen on labelled tickets, so that false releases are bounded.

Thresholds are tried from the strictest on, and the first whose upper bound exceeds what is allowed ends the search
(fixed-sequence testing): with the stated confidence, the share of failing tickets that would be released lies below it.

Such a threshold uses up what is allowed: its true share may lie just below, and whoever measures it on new tickets then
finds an upper bound above. So a threshold may have to stand a *check* as well. A check is `check` new failing tickets
of which at most so many are released that their own bound is within what is allowed. Of two samples of one unknown
share p, the chance that the first is good enough and the second is not is at most the mean of P(first | p) over the
density by which P(check fails | p) grows, whatever p belongs to each threshold: a beta-binomial probability.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from whet.errors import WhetError
from whet.evals.estimate import exact_upper
from whet.files import write_json

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class ScoredTicket:
    """A labelled ticket: whether the votes would pass it, how surely, and whether it truly fails."""

    site: str
    passes: bool
    score: float
    failing: bool


@dataclass(frozen=True, slots=True)
class ReleaseRule:
    """A ticket whose votes pass it is released from `threshold` on; None: nothing is released.

    `upper` is the upper confidence bound of the false-release rate among failing tickets at that threshold.
    """

    threshold: float | None
    upper: float
    allowed: float
    confidence: float
    failing: int
    false_releases: int
    released: int
    tickets: int
    voter: str = ""
    sites: tuple[str, ...] = ()
    """The sites it was chosen on: none of them may be decided by it."""
    check: int = 0
    """Failing tickets of a check that it will stand with this confidence; 0: none was asked for."""

    def said(self) -> str:
        share, sure = f"{100 * self.allowed:g} %", f"{100 * self.confidence:g} %"
        again = f", and so it is on {self.check} new failing ones" if self.check else ""
        if self.threshold is None:
            most = most_released(self.failing, self.allowed, self.confidence, self.check)
            if self.false_releases > most >= 0:
                return (
                    f"Nothing is released: even at the highest score {self.false_releases} of {self.failing} failing "
                    f"tickets would be, and {most} may (allowed: {share} with {sure} confidence{again})"
                )
            return (
                f"Nothing is released: on {self.failing} failing tickets no threshold keeps false releases below "
                f"{share} with {sure} confidence{again}; that takes at least "
                f"{needed(self.allowed, self.confidence, self.check)} failing tickets with none released"
            )
        return (
            f"Released from a score of {self.threshold:.4f} on: {self.false_releases} of {self.failing} failing "
            f"tickets would be, so with {sure} confidence at most {100 * self.upper:.1f} % (allowed: {share}){again}; "
            f"{self.released} of {self.tickets} tickets are released"
        )


def needed(allowed: float, confidence: float = CONFIDENCE, check: int = 0) -> int:
    """The fewest failing tickets, none of them released, that bound the rate by `allowed` and stand a check."""
    count = 1
    while not bounded(0, count, allowed, confidence, check):
        count += 1
    return count


@functools.cache
def most_released(failing: int, allowed: float, confidence: float = CONFIDENCE, check: int = 0) -> int:
    """The most of so many failing tickets that may be released while their rate is bounded; -1: not even none."""
    count = 0
    while count < failing and bounded(count, failing, allowed, confidence, check):
        count += 1
    return count - 1


def bounded(wrong: int, failing: int, allowed: float, confidence: float = CONFIDENCE, check: int = 0) -> bool:
    """Whether so few false releases keep the upper bound within `allowed`, and lead to a failed check seldom enough."""
    if exact_upper(wrong, failing, confidence) > allowed:
        return False
    if not check:
        return True
    most = most_released(check, allowed, confidence)
    return most >= 0 and _beta_binomial(wrong, failing, most + 1, check - most) <= 1.0 - confidence


def _beta_binomial(most: int, n: int, first: int, second: int) -> float:
    """The chance of at most `most` of `n` where their share is drawn from Beta(first, second)."""

    def beta(a: float, b: float) -> float:
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)

    at_most = min(most, n)
    ways = (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) for k in range(at_most + 1))
    return sum(math.exp(way + beta(k + first, n - k + second) - beta(first, second)) for k, way in enumerate(ways))


def choose(
    tickets: Sequence[ScoredTicket], allowed: float, confidence: float = CONFIDENCE, check: int = 0
) -> ReleaseRule:
    """The loosest threshold that every stricter one leads to. `check` is so many new tickets like these: their own
    upper bound must be within `allowed` too, but for a chance that the confidence leaves."""
    if not 0.0 < allowed < 1.0 or not 0.5 <= confidence < 1.0:
        raise WhetError(
            f"{allowed:g} false releases at {confidence:g}: the first lies between 0 and 1, the second from 0.5"
        )
    failing = sum(ticket.failing for ticket in tickets)
    again = round(check * failing / max(1, len(tickets)))
    if failing and check and most_released(again, allowed, confidence) < 0:
        raise WhetError(
            f"--check {check}: {again} of so many tickets fail, which shows no rate below {allowed:g}; ask for at "
            f"least {math.ceil(needed(allowed, confidence) * len(tickets) / failing)}"
        )
    chosen: tuple[float, float, int] | None = None
    wrong_at: dict[float, int] = {}
    for ticket in tickets:
        if ticket.passes:
            wrong_at[ticket.score] = wrong_at.get(ticket.score, 0) + ticket.failing
    wrong = 0
    for threshold in sorted(wrong_at, reverse=True):
        wrong += wrong_at[threshold]
        if not bounded(wrong, failing, allowed, confidence, again):
            break
        chosen = (threshold, exact_upper(wrong, failing, confidence), wrong)
    sites = tuple(sorted({ticket.site for ticket in tickets}))
    if chosen is None:
        upper = exact_upper(0, failing, confidence)
        return ReleaseRule(None, upper, allowed, confidence, failing, wrong, 0, len(tickets), sites=sites, check=again)
    threshold, upper, wrong = chosen
    released = sum(ticket.passes and ticket.score >= threshold for ticket in tickets)
    found = (failing, wrong, released, len(tickets))
    return ReleaseRule(threshold, upper, allowed, confidence, *found, sites=sites, check=again)


def write_rule(path: Path, rule: ReleaseRule) -> None:
    write_json(path, {"kind": "release_rule", **asdict(rule)})


def read_rule(path: Path) -> ReleaseRule:
    """A rule from its file."""
    try:
        data: dict[str, Any] = orjson.loads(path.read_bytes())
        if data.pop("kind") != "release_rule":
            raise KeyError("kind")
        return ReleaseRule(**{**data, "sites": tuple(data["sites"])})
    except OSError as problem:
        raise WhetError(f"{path}: cannot be read ({problem.strerror}); make it with: whet groupqc calibrate") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise WhetError(f"{path}: no threshold file; make it with: whet groupqc calibrate LABELLED -o FILE") from None
