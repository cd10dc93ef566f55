"""Many draws of one ticket and what they say together: the majority of the valid ones, and a tie means fail.

Draws are planned: draw `k` uses the decode `k mod |grid|`, so every prefix of the plan is spread over the grid. Voting
may stop once the majority is settled, and looks only at prefixes of the plan; the majority is then that of all draws.
"""

from __future__ import annotations

from dataclasses import dataclass

from whet.envs.groupqc.pack.schema import TicketVerdict
from whet.errors import WhetError


@dataclass(frozen=True, slots=True)
class DecodeSettings:
    """How one draw is decoded; None leaves a value to the policy."""

    temperature: float | None = None
    top_p: float | None = None

    @classmethod
    def parse(cls, text: str) -> DecodeSettings:
        """`0.3` or `0.3/0.9`: a temperature, and after a slash the top_p."""
        first, _, second = text.partition("/")
        try:
            made = cls(float(first), float(second) if second else None)
        except ValueError:
            raise WhetError(f"decode {text!r}: write a temperature, or temperature/top_p, such as 0.3/0.9") from None
        if not 0.0 <= (made.temperature or 0.0) <= 5.0 or not 0.0 < (1.0 if made.top_p is None else made.top_p) <= 1.0:
            raise WhetError(f"decode {text!r}: the temperature must be in [0, 5] and top_p in (0, 1]")
        return made


@dataclass(frozen=True, slots=True)
class Ballot:
    """The plan of a vote: each decode of the grid is drawn `samples` times."""

    grid: tuple[DecodeSettings, ...] = (DecodeSettings(),)
    samples: int = 1

    def __post_init__(self) -> None:
        if not self.grid or self.samples < 1:
            raise WhetError("a vote needs at least one decode and one draw of each")

    @property
    def draws(self) -> int:
        return len(self.grid) * self.samples

    def decode(self, draw: int) -> DecodeSettings:
        return self.grid[draw % len(self.grid)]


@dataclass(frozen=True, slots=True)
class Votes:
    """The draws of one ticket in the order of the plan; None is an invalid reply."""

    calls: tuple[TicketVerdict | None, ...] = ()

    @property
    def passes(self) -> int:
        return self.calls.count("pass")

    @property
    def fails(self) -> int:
        return self.calls.count("fail")

    @property
    def invalid(self) -> int:
        return self.calls.count(None)

    @property
    def valid(self) -> int:
        return len(self.calls) - self.invalid

    @property
    def majority(self) -> TicketVerdict | None:
        """The larger of pass and fail; a tie is fail; None when no draw is valid."""
        if not self.valid:
            return None
        return "pass" if self.passes > self.fails else "fail"

    @property
    def agreement(self) -> float:
        """The larger share among the valid draws; 0 where there is none."""
        return max(self.passes, self.fails) / self.valid if self.valid else 0.0

    @property
    def difficulty(self) -> float:
        return 1.0 - self.agreement if self.valid else 0.5

    @property
    def confidence(self) -> float:
        """The share of all draws, invalid ones included, that say what the majority says."""
        majority = self.majority
        return self.calls.count(majority) / len(self.calls) if majority is not None else 0.0

    def hard_wrong(self, label: TicketVerdict) -> float:
        """How firmly a ticket is misjudged: the agreement where the majority is wrong, else 0."""
        majority = self.majority
        return self.agreement if majority is not None and majority != label else 0.0


def settled(votes: Votes, planned: int) -> bool:
    """Whether no outcome of the draws still planned can change the majority."""
    left = planned - len(votes.calls)
    if left <= 0:
        return True
    return votes.passes > votes.fails + left or (votes.fails > 0 and votes.fails >= votes.passes + left)


def still_needed(votes: Votes, planned: int) -> int:
    """The fewest further draws after which the majority could be settled: they must be taken whatever they say."""
    for more in range(planned - len(votes.calls)):
        both = (Votes(votes.calls + (call,) * more) for call in ("pass", "fail"))
        if any(settled(outcome, planned) for outcome in both):
            return more
    return max(planned - len(votes.calls), 0)


def draws_wanted(votes: Votes, planned: int, *, sequential: bool) -> int:
    """How many draws to take next: all that are left, or with `sequential` only those that cannot be superfluous."""
    return still_needed(votes, planned) if sequential else max(planned - len(votes.calls), 0)
