"""The figures of an audit with their intervals, as plain data for `baseline_metrics.json` and the table."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

from whet.envs.groupqc.verdict.metrics import (
    Confusion,
    Cut,
    Share,
    VotedTicket,
    area_under_risk,
    calibration,
    confusion,
    risk_coverage,
    shares,
)
from whet.evals.estimate import LEVEL, exact_upper, share_interval
from whet.keys import seed_for

DRAWS = 2000
"""Draws from the posterior of the matrix; the ends of an interval are then good to about 0.01 of its width."""

PRIOR = 0.5
"""Counts that stand for having seen nothing (Jeffreys): an interval keeps a width when every ticket was right."""

BUDGET = 0.05
"""The share of failing tickets that may be released, where nothing else is said."""

Figure = dict[str, Any]


def figures(judged: Sequence[VotedTicket], *, budget: float = BUDGET, level: float = LEVEL) -> Figure:
    """Everything that is said about a set of judged tickets, each number with its interval."""
    matrix = confusion(judged)
    return {
        "confusion": {
            "pass": _row(matrix.tp, matrix.fn, matrix.pass_invalid),
            "fail": _row(matrix.fp, matrix.tn, matrix.fail_invalid),
        },
        "level": level,
        "rates": {name: share_figure(share, level) for name, share in shares(matrix).items()},
        "balanced_accuracy": _balanced(matrix, level),
        "mcc": _by_posterior(matrix, lambda drawn: drawn.mcc, level),
        "kappa": _by_posterior(matrix, lambda drawn: drawn.kappa, level),
        "calibration": _calibration(judged, level),
        "risk_coverage": _risk_coverage(judged, budget, level),
    }


def share_figure(share: Share, level: float = LEVEL) -> Figure:
    """A share with its interval, and the bound that it lies below with as much confidence, for promises."""
    interval = share_interval(share.part, share.whole, level)
    ends = (None, None) if interval is None else (interval.low, interval.high)
    upper = exact_upper(share.part, share.whole, level)
    counts = {"part": share.part, "of": share.whole}
    return {"value": share.value, "low": ends[0], "high": ends[1], "upper": upper, **counts}


def _row(released: float, blocked: float, invalid: float) -> dict[str, int]:
    """A label's row of the matrix, by verdict."""
    return {"pass": int(released), "fail": int(blocked), "invalid": int(invalid)}


def _balanced(matrix: Confusion, level: float) -> Figure | None:
    """The mean of two independent shares: their intervals put together by squaring and adding."""
    value = matrix.balanced_accuracy
    passed = share_interval(int(matrix.tp), int(matrix.passing), level)
    failed = share_interval(int(matrix.tn), int(matrix.failing), level)
    if value is None or passed is None or failed is None:
        return None
    right, blocked = matrix.tp / matrix.passing, matrix.tn / matrix.failing
    below = math.hypot(right - passed.low, blocked - failed.low) / 2
    above = math.hypot(passed.high - right, failed.high - blocked) / 2
    return {"value": value, "low": max(0.0, value - below), "high": min(1.0, value + above)}


def _by_posterior(matrix: Confusion, statistic: Callable[[Confusion], float | None], level: float) -> Figure | None:
    """A statistic of the whole matrix, with the middle `level` of what it is under matrices that fit the counts."""
    value = statistic(matrix)
    if value is None:
        return None
    rng = random.Random(seed_for("groupqc", "posterior", *(int(cell) for cell in matrix.cells)))
    drawn = []
    for _ in range(DRAWS):
        made = statistic(Confusion(*(rng.gammavariate(cell + PRIOR, 1.0) for cell in matrix.cells)))
        if made is not None:
            drawn.append(made)
    drawn.sort()
    outside = int((1.0 - level) / 2.0 * len(drawn))
    return {"value": value, "low": min(value, drawn[outside]), "high": max(value, drawn[-1 - outside])}


def _calibration(judged: Sequence[VotedTicket], level: float) -> Figure | None:
    found = calibration(judged)
    if found is None:
        return None
    return {
        "expected_error": found.expected_error,
        "brier": found.brier,
        "levels": [
            {"confidence": step.confidence, "right": share_figure(step.decided, level)} for step in found.levels
        ],
    }


def _kept(cuts: Sequence[Cut], budget: float, level: float) -> Cut | None:
    """The cut that decides most while the upper bound of false releases, tried from the strictest on, stays within."""
    chosen = None
    for cut in cuts:
        if exact_upper(cut.false_releases.part, cut.false_releases.whole, level) > budget:
            break
        chosen = cut
    return chosen


def _risk_coverage(judged: Sequence[VotedTicket], budget: float, level: float) -> Figure | None:
    cuts = risk_coverage(judged)
    if not cuts:
        return None
    chosen = _kept(cuts, budget, level)
    return {
        "area": area_under_risk(cuts),
        "budget": budget,
        "threshold": None if chosen is None else chosen.threshold,
        "cuts": [
            {
                "threshold": cut.threshold,
                "coverage": share_figure(cut.covered, level),
                "risk": share_figure(cut.wrong, level),
                "false_release_rate": share_figure(cut.false_releases, level),
            }
            for cut in cuts
        ],
    }
