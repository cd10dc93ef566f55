"""pass@k and pass^k: solved at least once, and solved every time, in k draws; unbiased from n draws of a task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

from whet.errors import WhetError
from whet.evals.attempts import Attempts, repeats
from whet.evals.estimate import LEVEL, Estimate, mean_estimate


@dataclass(frozen=True, slots=True)
class PassK:
    """pass@k and pass^k for one k, over the tasks with at least k scored draws."""

    k: int
    once: Estimate
    """pass@k"""
    always: Estimate
    """pass^k"""


def pass_at_k(solved: int, draws: int, k: int) -> float:
    """The chance that k of the draws, chosen without replacement, hold a solved one."""
    _check(solved, draws, k)
    return 1.0 - comb(draws - solved, k) / comb(draws, k)


def pass_hat_k(solved: int, draws: int, k: int) -> float:
    """The chance that k of the draws, chosen without replacement, are all solved."""
    _check(solved, draws, k)
    return comb(solved, k) / comb(draws, k)


def _check(solved: int, draws: int, k: int) -> None:
    if not (0 <= solved <= draws and 1 <= k <= draws):
        raise WhetError(f"pass@{k} of {solved} solved in {draws} draws is undefined: k must lie between 1 and {draws}")


def ladder(draws: int) -> tuple[int, ...]:
    """1, 2, 4, ... up to `draws`, which is always the last."""
    rungs = [1 << power for power in range(draws.bit_length())]
    return tuple(sorted({rung for rung in rungs if rung <= draws} | {draws})) if draws else ()


def pass_ladder(attempts: Sequence[Attempts], level: float = LEVEL) -> tuple[PassK, ...]:
    """pass@k and pass^k for k on the ladder up to the planned repeats."""
    rungs = (_rung(attempts, k, level) for k in ladder(repeats(attempts)))
    return tuple(rung for rung in rungs if rung is not None)


def _rung(attempts: Sequence[Attempts], k: int, level: float) -> PassK | None:
    counts = [(tried.solved, len(tried.scored)) for tried in attempts if len(tried.scored) >= k]
    once = mean_estimate([pass_at_k(solved, draws, k) for solved, draws in counts], level=level)
    always = mean_estimate([pass_hat_k(solved, draws, k) for solved, draws in counts], level=level)
    return PassK(k, once, always) if once is not None and always is not None else None
