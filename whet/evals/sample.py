"""Which tasks to take when not all are taken: a sample in which every kind and difficulty has its share."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from whet.envs.base import Environment, stratify
from whet.errors import WhetError
from whet.keys import seed_for
from whet.types import Split

Stratum = tuple[str, str]


def stratified_sample(env: Environment, split: Split, n: int | None, seed: int) -> tuple[int, ...]:
    """`n` task indices of a split, or all of them (None), in an order fixed by `seed`.

    Each kind and difficulty gets its share of `n`, rounded by largest remainder; the order spreads every stratum
    evenly, so that a prefix is a sample of its own. A larger `n` keeps the tasks of a smaller one, up to the rounding.
    From an unbounded split the tasks are drawn from its first `window(n)`.
    """
    population = _population(env, split, n)
    strata = stratify((index, env.label(split, index)) for index in range(population))
    for stratum, indices in strata.items():
        _random("tasks", seed, env, split, stratum).shuffle(indices)
    # Sorted, so that neither the order of the labels nor a hash decides anything.
    ranks = {stratum: _random("rank", seed, env, split, stratum).random() for stratum in sorted(strata)}
    shares = _shares({stratum: len(strata[stratum]) for stratum in ranks}, n if n is not None else population, ranks)
    placed = [
        ((position + ranks[stratum]) / share, stratum, strata[stratum][position])
        for stratum, share in shares.items()
        for position in range(share)
    ]
    return tuple(index for _, _, index in sorted(placed))


def size_of(env: Environment, split: Split) -> int | None:
    """How many tasks a split has, as the environment says it; what is no number of tasks is refused."""
    size: Any = env.size(split)
    if size is not None and (not isinstance(size, int) or size < 0):
        raise WhetError(f"the size of the {split} split of {env.name} is {size!r}: it must be a whole number, or None")
    return size


def window(n: int) -> int:
    """How many tasks of an unbounded split a sample of `n` is drawn from."""
    return max(10 * n, 1000)


def _population(env: Environment, split: Split, n: int | None) -> int:
    size = size_of(env, split)
    if n is not None and n <= 0:
        raise WhetError(f"a sample of {n} tasks of {env.name} is empty: ask for at least 1")
    if size is None:
        if n is None:
            raise WhetError(f"the {split} split of {env.name} is unbounded, so 'all' has no end: say how many tasks")
        return window(n)
    if size == 0:
        raise WhetError(f"the {split} split of {env.name} has no tasks: choose another split")
    if n is not None and n > size:
        raise WhetError(
            f"the {split} split of {env.name} has {size} tasks, not {n}: ask for at most {size}, or for all"
        )
    return size


def _shares(sizes: Mapping[Stratum, int], n: int, ranks: Mapping[Stratum, float]) -> dict[Stratum, int]:
    """Largest remainder, in whole numbers; equal remainders are decided by rank."""
    total = sum(sizes.values())
    shares = {stratum: size * n // total for stratum, size in sizes.items()}
    left = n - sum(shares.values())
    by_remainder = sorted(sizes, key=lambda stratum: (-(sizes[stratum] * n % total), ranks[stratum]))
    for stratum in by_remainder[:left]:
        shares[stratum] += 1
    return shares


def _random(what: str, seed: int, env: Environment, split: Split, stratum: Stratum) -> random.Random:
    return random.Random(seed_for("sample", what, seed, env.name, split, *stratum))
