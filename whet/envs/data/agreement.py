"""How far a judge agrees with labels that people gave: accuracy, and Cohen's kappa, which chance alone leaves at 0.

The judge plays the check `agreement` like any model; the reasons of its rollouts are the four cells of the table.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson

from whet.errors import WhetError

BOTH_PASS, BOTH_FAIL = "both_pass", "both_fail"
JUDGE_ALONE, LABEL_ALONE = "only_judge_passes", "only_label_passes"
UNREADABLE = "no_verdict"
"""Reasons of the check `agreement`."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """What `judge` made of `n` labelled replies. Intervals are of 95 %."""

    judge: str
    n: int
    accuracy: float
    accuracy_interval: tuple[float, float]
    kappa: float
    kappa_interval: tuple[float, float]

    def __str__(self) -> str:
        low, high = self.kappa_interval
        return f"{self.judge}: kappa {self.kappa:.2f} [{low:.2f}, {high:.2f}], {self.accuracy:.0%} of {self.n} labels"


def agreement(reasons: Mapping[str, int], judge: str = "the judge") -> Agreement:
    """The agreement behind counts of reasons. A verdict that cannot be read agrees with nothing."""
    n = sum(reasons.values())
    passes = reasons.get(BOTH_PASS, 0) + reasons.get(LABEL_ALONE, 0)
    fails = reasons.get(BOTH_FAIL, 0) + reasons.get(JUDGE_ALONE, 0)
    unread = n - passes - fails
    if not passes or not fails:
        raise WhetError(
            f"{judge}: the {n} labels are all the same, so agreement cannot be told from a habit; give both"
        )
    judged = reasons.get(BOTH_PASS, 0) + reasons.get(JUDGE_ALONE, 0)
    agreed = reasons.get(BOTH_PASS, 0) + reasons.get(BOTH_FAIL, 0)
    chance = (passes * judged + fails * (n - unread - judged)) / n**2
    low, high = _wilson(agreed, n)

    def beyond_chance(share: float) -> float:
        return (share - chance) / (1.0 - chance)

    interval = beyond_chance(low), beyond_chance(high)
    return Agreement(judge, n, agreed / n, (low, high), beyond_chance(agreed / n), interval)


def measured(run: Path, rubric: str) -> Agreement:
    """The agreement that a finished run of the check `agreement` measured, for the same rubric."""
    try:
        config = tomllib.loads((run / "config.toml").read_text(encoding="utf-8"))
        results = orjson.loads((run / "results.json").read_bytes())
    except (OSError, ValueError) as error:
        raise WhetError(f"agreement: {run} is not a finished run of the check 'agreement': {error}") from None
    args = config.get("env", {}).get("args", {})
    if args.get("check") != "agreement":
        raise WhetError(
            f"agreement: {run} is a run of {config.get('env', {}).get('name')}, not of the check 'agreement'"
        )
    if read_rubric(str(args.get("rubric", ""))) != rubric:
        raise WhetError(f"agreement: {run} measured another rubric; measure this one again")
    return agreement(results["reasons"], str(config["target"]["model"]))


def read_rubric(text: str) -> str:
    """A rubric as it was given, or the content of the Markdown or text file that it names."""
    if text.endswith((".md", ".txt")) and "\n" not in text:
        try:
            text = Path(text).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise WhetError(f"rubric: {text} cannot be read: {error}") from None
    if not text.strip():
        raise WhetError("rubric: is empty; say what a reply must do to pass, as text or as a .md file")
    return text.strip()


def _wilson(successes: int, n: int) -> tuple[float, float]:
    """Wilson's score interval: it does not shrink to a point when every verdict agrees."""
    z2 = 1.959964**2
    share = successes / n
    middle = share + z2 / (2 * n)
    half = math.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n)))
    return max(0.0, (middle - half) / (1 + z2 / n)), min(1.0, (middle + half) / (1 + z2 / n))
