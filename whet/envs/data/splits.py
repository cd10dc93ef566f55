"""Which rows are for learning, for the gate and for the end: as the data says, or made here and then kept.

Rows that ask the same, and rows of one group, are a *unit* and stay on one side; units that are near-duplicates of one
another stay together as well, as long as that leaves enough for every side. Made splits are written into a manifest, so
that rows appended later move none of those that were there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from whet.envs.near import Ties
from whet.errors import WhetError
from whet.keys import seed_for
from whet.types import SPLITS, Split

FRACTIONS = (0.5, 0.25, 0.25)


class TiedRows(WhetError):
    """So many rows must stay together that a side is left without any."""


@dataclass(frozen=True, slots=True)
class Traits:
    """What is known about a row when sides are chosen: what it asks, its group ('' for none), and its stratum."""

    content: str
    group: str
    stratum: str


def units_of(rows: Sequence[Traits]) -> list[list[int]]:
    """Indices of rows that must stay together, in the order of their first row."""
    marks = [[("asks", row.content), *([("group", row.group)] if row.group else [])] for row in rows]
    first: dict[tuple[str, str], int] = {}
    ties = ((first.setdefault(mark, at), at) for at, mine in enumerate(marks) for mark in mine)
    return Ties(len(rows), ties).groups()


FEWEST = 5
"""So many clusters of near-duplicates a side must hold, and half of its share of the rows, to be split by them."""


def make_splits(
    rows: Sequence[Traits],
    fractions: Sequence[float],
    seed: int,
    kept: Mapping[int, Split],
    place: Callable[[int], str],
    near: Sequence[Sequence[int]] = (),
) -> list[Split]:
    """A side for every row: those in `kept` keep theirs, the rest fill up the shares, stratum by stratum.

    Rows of one cluster of `near` come to one side. Where some of them are kept on two, the new ones join the first.
    """
    units = units_of(rows)
    sides: list[Split] = ["train"] * len(rows)
    counts = dict.fromkeys(SPLITS, 0)
    free: list[list[int]] = []
    for block in _blocks(units, near, len(rows)):
        settled = [(_kept_side(unit, kept, place), unit) for unit in block]
        before = next((own for own, _ in settled if own is not None), None)
        if before is None:
            free.append([index for unit in block for index in unit])
            continue
        for own, unit in settled:
            counts[own or before] += len(unit)
            for index in unit:
                sides[index] = own or before
    for unit in sorted(free, key=lambda unit: _turn(unit, rows, seed)):
        total = sum(counts.values()) + len(unit)
        side = max(SPLITS, key=lambda split: fractions[SPLITS.index(split)] * total - counts[split])
        counts[side] += len(unit)
        for index in unit:
            sides[index] = side
    _refuse_empty(counts, fractions, units)
    return sides


def _blocks(units: list[list[int]], near: Sequence[Sequence[int]], rows: int) -> list[list[list[int]]]:
    """Units that near-duplicates tie together, in the order of their first row."""
    owner = [0] * rows
    for number, unit in enumerate(units):
        for index in unit:
            owner[index] = number
    ties = ((owner[cluster[0]], owner[index]) for cluster in near for index in cluster)
    return [[units[number] for number in numbers] for numbers in Ties(len(units), ties).groups()]


def enough(sides: Sequence[Split], fractions: Sequence[float], near: Sequence[Sequence[int]]) -> bool:
    """Whether clusters of near-duplicates could be kept together: every side has half of its share, of several."""
    for side, share in zip(SPLITS, fractions, strict=True):
        rows = sum(own == side for own in sides)
        clusters = sum(sides[cluster[0]] == side for cluster in near)
        if share > 0 and (rows < share * len(sides) / 2 or clusters < FEWEST):
            return False
    return True


def _turn(unit: list[int], rows: Sequence[Traits], seed: int) -> tuple[int, str, int]:
    """Large groups first, while there is room on every side; then stratum after stratum, in an order by chance.

    Going through the strata one by one and always filling the side that lacks most gives each stratum its shares, up
    to one row, and the whole as well.
    """
    first = rows[unit[0]]
    return -len(unit), first.stratum, seed_for("split", seed, min(rows[index].content for index in unit))


def _kept_side(unit: list[int], kept: Mapping[int, Split], place: Callable[[int], str]) -> Split | None:
    found = {kept[index]: index for index in reversed(unit) if index in kept}
    if len(found) > 1:
        (one, first), (other, second) = list(found.items())[:2]
        raise WhetError(
            f"{place(first)} is in {one} and {place(second)} in {other}, but a new row ties them together "
            "(it asks the same or is of the same group); remove one of them"
        )
    return next(iter(found), None)


def _refuse_empty(counts: Mapping[Split, int], fractions: Sequence[float], units: Sequence[Sequence[int]]) -> None:
    empty = [side for side, share in zip(SPLITS, fractions, strict=True) if share > 0 and not counts[side]]
    if empty:
        largest = max(len(unit) for unit in units)
        raise TiedRows(
            f"split: nothing is left for {empty[0]}: {sum(counts.values())} rows form {len(units)} units that must "
            f"stay together, the largest of {largest}; give more rows, a finer group, or a fraction of 0"
        )


def refuse_overlap(
    rows: Sequence[Traits], sides: Sequence[Split], group: str | None, place: Callable[[int], str]
) -> None:
    """Raise where given splits ask the same on two sides, or have one group on two."""
    owner: dict[tuple[str, str], int] = {}
    for index, row in enumerate(rows):
        for what, mark in (("ask the same", row.content), (f"have the same {group}", row.group)):
            first = owner.setdefault((what, mark), index) if mark else index
            if sides[first] != sides[index]:
                raise WhetError(
                    f"{place(first)} ({sides[first]}) and {place(index)} ({sides[index]}) {what}: splits must not "
                    "overlap; remove one, or set overlap='drop' to keep it on the side nearer the end"
                )


def drop_overlap(rows: Sequence[Traits], sides: Sequence[Split]) -> list[int]:
    """The rows to keep so that no side shares anything with another: what test has, select and train lose."""
    latest: dict[tuple[str, str], int] = {}
    ranks = [SPLITS.index(side) for side in sides]
    marks = [[("asks", row.content), *([("group", row.group)] if row.group else [])] for row in rows]
    for rank, mine in zip(ranks, marks, strict=True):
        for mark in mine:
            latest[mark] = max(latest.get(mark, 0), rank)
    return [index for index, mine in enumerate(marks) if all(latest[mark] == ranks[index] for mark in mine)]
