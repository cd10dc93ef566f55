"""Which archetype stands at which index: modes, difficulties and weights, dealt so that every prefix is balanced.

An index leads to an archetype and an ordinal, the how-manieth task of that archetype it is. Tasks are drawn from those
two: another mode deals the same tasks in another order, and a new archetype disturbs none of the old.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from whet.envs.soup1.archetype import Archetype, Difficulty
from whet.errors import WhetError, nearest

Mode = Literal["all", "mvp", "tiered", "bootstrap", "hard_only", "phase2"]
Level = Literal["mixed", "primer", "easy", "medium", "hard"]
DIFFICULTIES: tuple[Difficulty, ...] = get_args(Difficulty)
TIERED: Mapping[str, float] = {"primer": 0.0, "easy": 0.2, "medium": 0.4, "hard": 0.4}

_FINEST = 1000
"""Weights count in steps of one in a thousand."""


class Deck:
    """An endless deal: tiers take turns by their weight, and the archetypes of a tier one after the other."""

    def __init__(self, tiers: Sequence[tuple[Fraction, Sequence[Archetype]]]) -> None:
        filled = [(share, tuple(members)) for share, members in tiers if share and members]
        total = sum((share for share, _ in filled), Fraction(0))
        shares = [(share / total).limit_denominator(_FINEST) for share, _ in filled]
        length = math.lcm(*(share.denominator for share in shares))
        self._tiers = [spread(members) for _, members in filled]
        self._counts = [int(share * length) for share in shares]
        places = sorted(
            ((turn + 0.5) / count, tier) for tier, count in enumerate(self._counts) for turn in range(count)
        )
        self._cycle = [tier for _, tier in places]
        seen = [0] * len(self._counts)
        self._before: list[int] = []
        for tier in self._cycle:
            self._before.append(seen[tier])
            seen[tier] += 1

    def at(self, index: int) -> tuple[Archetype, int]:
        """The archetype at an index, and its ordinal."""
        turn, place = divmod(index, len(self._cycle))
        tier = self._cycle[place]
        ordinal, position = divmod(turn * self._counts[tier] + self._before[place], len(self._tiers[tier]))
        return self._tiers[tier][position], ordinal


def spread(members: Sequence[Archetype]) -> tuple[Archetype, ...]:
    """The archetypes in an order in which difficulties are mixed evenly from the first to the last."""
    groups = [[archetype for archetype in members if archetype.difficulty == level] for level in DIFFICULTIES]
    places = [
        ((turn + 0.5) / len(group), number, archetype)
        for number, group in enumerate(groups)
        for turn, archetype in enumerate(group)
    ]
    return tuple(archetype for _, _, archetype in sorted(places, key=lambda place: place[:2]))


@dataclass(frozen=True, slots=True)
class ArchetypeChoice:
    """Which archetypes are dealt, and how often those of each difficulty."""

    mode: Mode = "all"
    difficulty: Level = "mixed"
    names: tuple[str, ...] = ()
    weights: Mapping[str, float] | None = None

    def members(self, every: Mapping[str, Archetype]) -> tuple[Archetype, ...]:
        """The archetypes chosen; a `WhetError` where there are none."""
        for name in self.names:
            if name not in every:
                raise WhetError(f"soup@1 has no archetype {name!r}.{nearest(name, every)}")
        chosen = tuple(
            archetype
            for archetype in every.values()
            if _in_mode(archetype, self.mode)
            and self.difficulty in ("mixed", archetype.difficulty)
            and (not self.names or archetype.name in self.names)
        )
        if not chosen:
            what = f"mode {self.mode!r} with difficulty {self.difficulty!r}"
            raise WhetError(f"soup@1: no archetype is in {what}{' and among those named' if self.names else ''}")
        return chosen

    def deck(self, every: Mapping[str, Archetype]) -> Deck:
        """What train and select are dealt from."""
        chosen = self.members(every)
        weights = self.weights if self.weights is not None else TIERED if self.mode == "tiered" else None
        if weights is None:
            return Deck([(Fraction(1), chosen)])
        tiers = [
            (_share(weights, level), [archetype for archetype in chosen if archetype.difficulty == level])
            for level in DIFFICULTIES
        ]
        if not any(share and members for share, members in tiers):
            raise WhetError("soup@1: the weights leave no archetype to deal; give one of those chosen a weight above 0")
        return Deck(tiers)


def _share(weights: Mapping[str, float], level: str) -> Fraction:
    return Fraction(weights.get(level, 0.0)).limit_denominator(_FINEST)


def checked_weights(weights: Mapping[str, object]) -> dict[str, float]:
    """Weights by difficulty, or a `WhetError` that says what is wrong with them."""
    sound: dict[str, float] = {}
    for level, weight in weights.items():
        if level not in DIFFICULTIES:
            raise WhetError(f"soup@1: weights has no difficulty {level!r}.{nearest(level, DIFFICULTIES)}")
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight <= 1000:
            raise WhetError(f"soup@1: the weight of {level!r} must be a number from 0 to 1000, not {weight!r}")
        sound[level] = float(weight)
    return sound


def _in_mode(archetype: Archetype, mode: Mode) -> bool:
    if mode == "mvp":
        return archetype.phase == 1
    if mode == "phase2":
        return archetype.phase == 2
    if mode == "hard_only":
        return archetype.difficulty == "hard"
    return mode != "bootstrap" or archetype.difficulty in ("primer", "easy")
