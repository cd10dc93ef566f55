"""Means over the seeds of a training with their intervals, and a chart of them.

The interval is Student's: three seeds say as little about the next one as three can.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

STUDENT = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}
"""The quantile of 97.5 % for a mean of so many seeds; of more it is a little less than the last."""
Values = Sequence[float]
Seeds = Sequence[int]


class ResultsError(Exception):
    """A file of results that cannot be read as one."""


@dataclass(frozen=True, slots=True)
class SeedMean:
    """A mean over seeds with its interval; there is no interval of one seed."""

    value: float
    half: float
    seeds: int
    ends: tuple[float, float] | None = None
    """Of an interval that is not as wide on both sides, as that of a share near 0 or 1."""

    @property
    def low(self) -> float:
        return self.ends[0] if self.ends else self.value - self.half

    @property
    def high(self) -> float:
        return self.ends[1] if self.ends else self.value + self.half

    def __str__(self) -> str:
        if math.isnan(self.half):
            return f"{self.value:.3f}"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"

    @property
    def signed(self) -> str:
        if math.isnan(self.half):
            return f"{self.value:+.3f}"
        return f"{self.value:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart of bars with whiskers: rows of groups, each with a value for each series."""

    file: str
    title: str
    groups: tuple[str, ...]
    series: Mapping[str, Sequence[SeedMean | None]]
    top: float = 1.0
    bands: Sequence[tuple[float, float] | None] = ()
    """From where to where a group was expected, in grey behind it."""
    bands_are: str = ""
    seeded: bool = True
    """Whether values are of seeds, so that one of a single seed is to be told as such."""


def mean_of(values: Values) -> SeedMean:
    middle, n = statistics.fmean(values), len(values)
    half = STUDENT[min(n, max(STUDENT))] * statistics.stdev(values) / math.sqrt(n) if n > 1 else math.nan
    return SeedMean(middle, half, n)


def gain_of(ours: Values, theirs: Values) -> SeedMean:
    """Seed by seed; an arm without chance has one value, which stands beside every seed of the other."""
    if len(theirs) == 1:
        theirs = [theirs[0]] * len(ours)
    if len(ours) != len(theirs):
        raise ResultsError(f"{len(ours)} and {len(theirs)} seeds cannot be compared seed by seed")
    return mean_of([a - b for a, b in zip(ours, theirs, strict=True)])


def gain_where_both(ours: Values, theirs: Values, under: Seeds = (), beside: Seeds = ()) -> SeedMean | None:
    """On the seeds that both have, where `under` and `beside` say whose values these are; None where there are none.

    Values whose seeds are not told are those of the same seeds if they are as many, and of unknown ones if not.
    """
    if len(under) != len(ours) or len(beside) != len(theirs):
        return gain_of(ours, theirs) if ours and len(ours) == len(theirs) else None
    other = dict(zip(beside, theirs, strict=True))
    both = [(value, other[seed]) for seed, value in zip(under, ours, strict=True) if seed in other]
    return mean_of([a - b for a, b in both]) if both else None


def draw(picture: Picture, folder: Path) -> None:
    """A chart of bars with whiskers as SVG; the same numbers give the same bytes."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    from matplotlib.patches import Rectangle

    with plt.rc_context({"svg.hashsalt": picture.file, "svg.fonttype": "none", "font.size": 9}):
        figure, axes = plt.subplots(figsize=(8, 3.6))
        width = 0.8 / len(picture.series)
        for at, band in enumerate(picture.bands):
            if band:
                place = (at - width / 2 - 0.05, band[0]), 0.9, band[1] - band[0]
                axes.add_patch(
                    Rectangle(*place, color="lightgrey", zorder=0, label=picture.bands_are if at == 0 else "")
                )
        for number, (name, cells) in enumerate(picture.series.items()):
            known = [(at + number * width, cell) for at, cell in enumerate(cells) if cell is not None]
            several = not picture.seeded or any(cell.seeds > 1 for _, cell in known)
            label = name if several else f"{name} (one seed)"
            axes.bar([x for x, _ in known], [cell.value for _, cell in known], width, label=label)
            sure = [(x, cell) for x, cell in known if not math.isnan(cell.low)]
            if sure:  # one seed has no interval: a whisker of no length would say that it has a narrow one
                ends = [[cell.value - cell.low for _, cell in sure], [cell.high - cell.value for _, cell in sure]]
                places, values = [x for x, _ in sure], [cell.value for _, cell in sure]
                axes.errorbar(places, values, yerr=ends, fmt="none", ecolor="black", capsize=2)
        axes.set_xticks([at + 0.4 - width / 2 for at in range(len(picture.groups))], picture.groups)
        axes.set_ylim(0, picture.top)
        axes.set_title(picture.title, pad=22)
        axes.legend(fontsize=7, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
        figure.tight_layout()
        folder.mkdir(parents=True, exist_ok=True)
        figure.savefig(folder / picture.file, metadata={"Date": None})
        plt.close(figure)
