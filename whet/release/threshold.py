"""From which score on a ticket is released: chosen on labelled tickets, so that false releases are bounded.

Thresholds are tried from the strictest on, and the first whose upper bound exceeds what is allowed ends the search
(fixed-sequence testing): with the stated confidence, the share of failing tickets that would be released lies below it.
"""

from __future__ import annotations

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

    def said(self) -> str:
        share, sure = f"{100 * self.allowed:g} %", f"{100 * self.confidence:g} %"
        if self.threshold is None:
            return (
                f"Nothing is released: on {self.failing} failing tickets no threshold keeps false releases below "
                f"{share} with {sure} confidence; that takes at least {needed(self.allowed, self.confidence)} failing "
                "tickets with none released"
            )
        return (
            f"Released from a score of {self.threshold:.4f} on: {self.false_releases} of {self.failing} failing "
            f"tickets would be, so with {sure} confidence at most {100 * self.upper:.1f} % (allowed: {share}); "
            f"{self.released} of {self.tickets} tickets are released"
        )


def needed(allowed: float, confidence: float = CONFIDENCE) -> int:
    """The fewest failing tickets, none of them released, that bound the rate by `allowed`."""
    count = 1
    while exact_upper(0, count, confidence) > allowed:
        count += 1
    return count


def choose(tickets: Sequence[ScoredTicket], allowed: float, confidence: float = CONFIDENCE) -> ReleaseRule:
    """The loosest threshold that every stricter one leads to."""
    if not 0.0 < allowed < 1.0 or not 0.5 <= confidence < 1.0:
        raise WhetError(
            f"{allowed:g} false releases at {confidence:g}: the first lies between 0 and 1, the second from 0.5"
        )
    failing = sum(ticket.failing for ticket in tickets)
    chosen: tuple[float, float, int] | None = None
    wrong_at: dict[float, int] = {}
    for ticket in tickets:
        if ticket.passes:
            wrong_at[ticket.score] = wrong_at.get(ticket.score, 0) + ticket.failing
    wrong = 0
    for threshold in sorted(wrong_at, reverse=True):
        wrong += wrong_at[threshold]
        upper = exact_upper(wrong, failing, confidence)
        if upper > allowed:
            break
        chosen = (threshold, upper, wrong)
    sites = tuple(sorted({ticket.site for ticket in tickets}))
    if chosen is None:
        upper = exact_upper(0, failing, confidence)
        return ReleaseRule(None, upper, allowed, confidence, failing, 0, 0, len(tickets), sites=sites)
    threshold, upper, wrong = chosen
    released = sum(ticket.passes and ticket.score >= threshold for ticket in tickets)
    return ReleaseRule(threshold, upper, allowed, confidence, failing, wrong, released, len(tickets), sites=sites)


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
