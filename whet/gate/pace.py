"""How a trial goes through the tasks: a race that drops what falls behind, or rounds in which both get every task.

Both decide on evidence that is symmetric between the arms. Their constants were chosen on the tuned half of the laws of
`whet.gate.laws`; `docs/decisions/0002-the-gate.md` has the figures of both halves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from whet.gate.statistic import clean_statistic, clean_wins

CONFIRMED = (4, 2)
"""Draws of the incumbent and of the candidate on a task whose draws do not all agree, whichever is ahead."""

JUST_BELOW = -0.012
"""From the statistic of so many clean wins to a bar that they reach."""


@dataclass(frozen=True, slots=True)
class RacePace:
    """Tasks that the incumbent failed first, in small pieces; a candidate that falls behind is dropped.

    After `first` tasks with something to gain, then after every further `gain` of them and `risk` of the others, the
    net gain in whole flips must be at least `slope` for each task with something to gain, less `slack`, but no more
    than `most`; at the end of a prefix the statistic must be at least `floor`.
    """

    name: str
    alpha: float
    """The error that this pace is meant for."""
    first: int
    gain: int
    risk: int
    slope: float
    slack: float
    most: float = math.inf
    floor: float = 0.8
    above: float = JUST_BELOW
    """How far the bar stands from the statistic of so many clean wins, at the alpha of the pace and above it."""
    pairs: float = 0.9
    """The statistic of the first draws alone, one of either arm on each task, from which nothing is drawn again before
    an acceptance: whatever the tasks are like, their mean difference is unbiased, and losses that vanish when they are
    drawn again still count in it."""
    pairs_of_many: float = 1.1
    """The same from 60 tasks on, rising from 25: among many tasks, losses that vanish can outnumber the gains."""
    twice: float = 1.0
    """The least statistic of the first two draws of either arm on each task, where those of one do not suffice."""
    shaded: float = 0.1
    """How much higher the bar stands for a metric with shades, whose statistic takes more values."""
    early: float = 1.15
    """How much higher the bar stands at a prefix that is not the last."""

    def bar(self, alpha: float, binary: bool = True) -> float:
        above = self.above if alpha >= self.alpha else JUST_BELOW
        return clean_statistic(clean_wins(alpha)) + above + (0.0 if binary else self.shaded)

    @property
    def draws(self) -> int:
        """Draws of both arms on a task on which they differ."""
        return sum(CONFIRMED)

    def pairs_for(self, tasks: int, alpha: float) -> float:
        """The bar for the first draws."""
        share = min(1.0, max(0.0, (tasks - 25) / 35))
        return self._stricter(alpha) * (self.pairs + (self.pairs_of_many - self.pairs) * share)

    def twice_for(self, alpha: float) -> float:
        """The bar for the first two draws."""
        return self._stricter(alpha) * self.twice

    def _stricter(self, alpha: float) -> float:
        """How much higher such a bar stands for an alpha below the one that the pace is meant for."""
        return max(1.0, NormalDist().inv_cdf(1.0 - alpha) / NormalDist().inv_cdf(1.0 - self.alpha))

    def least_tasks(self, alpha: float) -> int:
        return clean_wins(alpha) + 1


@dataclass(frozen=True, slots=True)
class RoundsPace:
    """Both arms get a draw on every task, round after round; looks at the ends of rounds accept, stop or go on.

    In the first round there are looks at `sizes` tasks too, which only accept. Bars are those of the last look plus
    what stands in `above`; a statistic below `floors` at the end of a round that is not the last ends the trial.
    """

    name: str
    alpha: float
    sizes: tuple[int, ...] = (12, 24, 48, 96)
    rounds: tuple[int, ...] = (1, 2, 4, 6)
    last: float = 0.275
    """How far the bar of the last look stands above the normal quantile."""
    above: tuple[float, ...] = (0.9, 0.5, 0.5, 0.0)
    floors: tuple[float, ...] = (0.0, 0.6, 0.6)
    above_early: float = 1.3
    margin: float = 0.1
    """What the net gain must exceed `least_gain` by, in whole tasks."""
    keeps: bool = False
    """Whether the draws of an accepted candidate stand for it when it is the incumbent. It was chosen for them, so they
    flatter it, and the next candidate has more to beat: fewer acceptances of any kind, for fewer draws."""

    @property
    def draws(self) -> int:
        """The most draws of both arms on a task."""
        return 2 * max(self.rounds)

    def bar(self, alpha: float) -> float:
        return NormalDist().inv_cdf(1.0 - alpha) + self.last

    def least_tasks(self, alpha: float) -> int:
        return max(5, clean_wins(alpha) + 2)


EAGER = RacePace(
    "eager",
    0.10,
    first=1,
    gain=2,
    risk=3,
    slope=0.08,
    slack=0.0,
    floor=0.6,
    above=-0.4,
    pairs=1.0,
    pairs_of_many=1.15,
    twice=1.1,
)
"""Drops most candidates after a call or two, good ones among them: for proposals that cost next to nothing.

It rarely comes to an acceptance of a null that wins a few tasks, so its bar can stand below that of two clean wins."""

STEADY = RacePace(
    "steady",
    0.10,
    first=2,
    gain=2,
    risk=4,
    slope=0.125,
    slack=0.0,
    most=1.5,
    floor=0.6,
    above=-0.2,
    pairs=1.4,
    pairs_of_many=1.4,
    twice=1.0,
)
"""Looks at two tasks before it drops anything: for a learner whose proposals each cost a train batch."""

PATIENT = RoundsPace("patient", 0.05)
"""Every task, nothing dropped for a slow start: for the one candidate of a person, who has no other to try next."""

BRIEF = RoundsPace("brief", 0.05, rounds=(1, 2), above=(0.9, 0.0), floors=(0.6,), keeps=True)
"""Every task, and of each no more than two draws of either side: for votes, which are steadier than single draws.

The first two rounds of `patient`, the second being the last: fewer looks, and no lower a bar for the last of them."""

Pace = RacePace | RoundsPace
PACES: dict[str, Pace] = {pace.name: pace for pace in (EAGER, STEADY, PATIENT, BRIEF)}
