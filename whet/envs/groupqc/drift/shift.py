"""Whether two sets of tickets differ: every trait at once, with one probability of a false alarm for the whole report.

Sites change sides at random, inside their mission; the largest standardised difference over all traits that comes about
this way is what each trait is measured by (Westfall and Young). That is exact at any number of tickets, whatever the
traits have to do with each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from whet.envs.groupqc.drift.traits import VALUE, TicketTraits
from whet.keys import seed_for

PERMUTATIONS = 1999
"""Random changes of sides: the smallest p is 1 in 2,000."""

READING_PART, INDEX_PART, TRAITS_PART, FAMILIES_PART, MIX_PART, LINES_PART = 0.35, 0.21, 0.2, 0.14, 0.05, 0.05
"""How the probability of a false alarm is divided: signs of wrong readings, other indices over a whole ticket, single
traits (`value/…`), families of them taken together, the mix of missions, and lines that are no tickets."""

READING = ("values out of place", "rare label formats")
"""Signs of wrong readings: whatever is misread shows here, a little of it in every ticket and nowhere much."""

MIX = "mission"

Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class TraitShift:
    """How far one trait moved. `adjusted` is the chance of any such difference in the whole report where none is."""

    about: str
    reference: float
    new: float
    effect: float
    """The difference of the means in standard deviations of a site."""
    adjusted: float


@dataclass(frozen=True, slots=True)
class SiteTable:
    """Sites as rows, traits as columns: the tickets of one site are one row, the mean of them."""

    missions: tuple[str, ...]
    names: tuple[str, ...]
    values: Matrix

    @classmethod
    def of(cls, tickets: Sequence[TicketTraits]) -> SiteTable:
        rows: dict[tuple[str, str], list[Mapping[str, float]]] = {}
        for ticket in tickets:
            rows.setdefault((ticket.mission, ticket.site), []).append(ticket.shares)
        names = tuple(sorted({name for ticket in tickets for name in ticket.shares}))
        column = {name: at for at, name in enumerate(names)}
        values = np.zeros((len(rows), len(names)), dtype=np.float32)
        for row, shares in enumerate(rows.values()):
            for share in shares:
                for name, value in share.items():
                    values[row, column[name]] += value / len(shares)
        missions = tuple(mission for mission, _ in rows)
        _fill(values, names, missions)
        return cls(missions, names, values)


def _fill(values: Matrix, names: Sequence[str], missions: Sequence[str]) -> None:
    """A value says something only where its object is shown: elsewhere it stands at the mean of its mission."""
    slots: dict[str, list[int]] = {}
    for at, name in enumerate(names):
        if name.startswith(VALUE):
            slots.setdefault(name.rpartition("=")[0], []).append(at)
    kinds = np.array(missions, dtype=object)
    for mission in set(missions):
        rows = np.flatnonzero(kinds == mission)
        for slot in slots.values():
            place = rows[:, None], np.array(slot)[None, :]
            inner = values[place]
            told = inner.sum(axis=1) > 0
            if told.any() and not told.all():
                inner[~told] = inner[told].mean(axis=0)
                values[place] = inner


def compare_tickets(
    reference: Sequence[TicketTraits], new: Sequence[TicketTraits], permutations: int = PERMUTATIONS
) -> tuple[TraitShift, ...]:
    """Every trait that varies, with its adjusted p; the mix of missions where there are several."""
    table = SiteTable.of([*_sided(reference, "r"), *_sided(new, "n")])
    first = len({(ticket.mission, ticket.site) for ticket in reference})
    is_new = np.arange(len(table.values)) >= first
    strata = np.unique(np.array(table.missions, dtype=object).astype(str), return_inverse=True)[1]
    shifts = _tested(table.names, table.values, is_new, strata, permutations)
    kinds = sorted(set(table.missions))
    if len(kinds) > 1:
        mix = np.array([[mission == kind for kind in kinds] for mission in table.missions], dtype=np.float32)
        named = tuple(f"{MIX}/{kind}" for kind in kinds)
        shifts += _tested(named, mix, is_new, np.zeros(len(mix), dtype=np.intp), permutations)
    return tuple(shifts)


def _sided(tickets: Iterable[TicketTraits], side: str) -> list[TicketTraits]:
    """A site that stands on both sides is two rows."""
    return [replace(ticket, site=f"{side}/{ticket.site}") for ticket in tickets]


def _tested(names: Sequence[str], values: Matrix, is_new: Any, strata: Any, permutations: int) -> list[TraitShift]:
    """Each trait against the largest of its part, and each family as a whole."""
    centred, scale = np.zeros_like(values), np.zeros(values.shape[1])
    groups = []
    for stratum in range(int(strata.max()) + 1 if len(strata) else 0):
        rows = np.flatnonzero(strata == stratum)
        size, newer = len(rows), int(is_new[rows].sum())
        if not 0 < newer < size:
            continue
        inner = values[rows] - values[rows].mean(axis=0)
        centred[rows] = inner
        scale += newer * (size - newer) / (size * (size - 1)) * np.square(inner, dtype=np.float64).sum(axis=0)
        groups.append((rows, newer))
    varying = np.flatnonzero(scale > 1e-9)
    if not groups or not len(varying):
        return []
    standard = (centred[:, varying] / np.sqrt(scale[varying])).astype(np.float32)
    moved = standard[is_new].sum(axis=0)
    kept = [names[int(at)] for at in varying]
    families = _families(kept)
    member = np.array([[name in family for family in families.values()] for name in kept], dtype=np.float32)
    parts = np.array([_part(name) for name in kept])
    largest, squares = _chance(standard, groups, parts, member, permutations)
    reached = np.array([(largest[part] >= seen - 1e-5).sum() for part, seen in zip(parts, np.abs(moved), strict=True)])
    adjusted = np.minimum(1.0, (1 + reached) / (permutations + 1) / parts)
    before, after = values[~is_new].mean(axis=0)[varying], values[is_new].mean(axis=0)[varying]
    effects = (after - before) / np.maximum(values.std(axis=0)[varying], 1e-9)
    shifts = [
        TraitShift(*told)
        for told in zip(kept, *(column.tolist() for column in (before, after, effects, adjusted)), strict=True)
    ]
    if families:
        rises = np.sqrt(np.square(effects) @ member / member.sum(axis=0))
        chances = _smallest(np.square(moved) @ member, squares) / FAMILIES_PART
        for family, rise, p in zip(families, rises, chances, strict=True):
            shifts.append(TraitShift(f"{family}, all together", math.nan, math.nan, float(rise), min(1.0, float(p))))
    return shifts


def _families(names: Sequence[str]) -> dict[str, frozenset[str]]:
    """Traits that are told apart by what stands after a slash, where there are several."""
    found: dict[str, set[str]] = {}
    for name in names:
        family, slash, _ = name.partition("/")
        if slash:
            found.setdefault(family, set()).add(name)
    return {family: frozenset(own) for family, own in found.items() if len(own) > 2 and family != MIX}


def _part(name: str) -> float:
    family, slash, _ = name.partition("/")
    if name in READING:
        return READING_PART
    return MIX_PART if family == MIX else TRAITS_PART if slash else INDEX_PART


def _chance(
    standard: Matrix, groups: Sequence[tuple[Any, int]], parts: Any, member: Matrix, permutations: int
) -> tuple[dict[float, npt.NDArray[np.float32]], Matrix]:
    """The largest difference of each part and each family's sum of squares, each time that sites change sides."""
    rng = np.random.default_rng(seed_for("groupqc", "drift", *standard.shape) % 2**63)
    columns = {part: np.flatnonzero(parts == part) for part in set(parts.tolist())}
    largest: dict[float, list[Any]] = {part: [] for part in columns}
    squares = []
    block = max(1, min(permutations, 40_000_000 // max(1, 4 * len(standard))))
    for begin in range(0, permutations, block):
        count = min(block, permutations - begin)
        chosen = np.zeros((count, len(standard)), dtype=np.float32)
        for rows, newer in groups:
            order = rng.random((count, len(rows)), dtype=np.float32).argpartition(newer - 1, axis=1)[:, :newer]
            np.put_along_axis(chosen, rows[order], 1.0, axis=1)
        moved = chosen @ standard
        for part, own in columns.items():
            largest[part].append(np.abs(moved[:, own]).max(axis=1))
        squares.append(np.square(moved) @ member)
    return {part: np.concatenate(found) for part, found in largest.items()}, np.concatenate(squares)


def _smallest(seen: npt.NDArray[np.float32], drawn: Matrix) -> npt.NDArray[np.float64]:
    """For each column the chance that the smallest p of all columns is as small as its own."""
    every = np.vstack([seen[None, :], drawn]) - 1e-4 * (np.arange(len(drawn) + 1) > 0)[:, None]
    ranks = np.empty(every.shape)
    for column in range(every.shape[1]):
        ordered = np.sort(every[:, column])
        ranks[:, column] = (len(every) - np.searchsorted(ordered, every[:, column], side="left")) / len(every)
    least = np.sort(ranks.min(axis=1))
    return np.asarray(np.searchsorted(least, ranks[0], side="right") / len(every), dtype=np.float64)


def lines_p(before: tuple[int, int], after: tuple[int, int]) -> float:
    """Fisher's test, two-sided, on tickets and lines that are none; adjusted to its part of the whole."""
    (kept_before, bad_before), (kept_after, bad_after) = before, after
    bad, n_before, n_after = bad_before + bad_after, kept_before + bad_before, kept_after + bad_after

    def log_ways(n: int, k: int) -> float:
        return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)

    low, high = max(0, bad - n_after), min(bad, n_before)
    logs = [log_ways(n_before, k) + log_ways(n_after, bad - k) for k in range(low, high + 1)]
    whole, seen = log_ways(n_before + n_after, bad), logs[bad_before - low]
    return min(1.0, math.fsum(math.exp(log - whole) for log in logs if log <= seen + 1e-9) / LINES_PART)
