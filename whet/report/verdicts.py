"""Runs whose tasks end in a verdict, to release or to block: the confusion of verdict and truth, and risk by coverage.

Such a score says itself what kind of error it was (`false_release`, `false_block`, `invalid`). The draws of one task
have one truth, so draws that ended alike said the same: how far they agree is how sure the policy is.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass

from whet.errors import WhetError
from whet.ledger.store import glance
from whet.report import query
from whet.report.charts import line_chart
from whet.report.fold import RunFacts
from whet.report.markup import Markup, tag
from whet.report.sections import section, table

ERRORS = ("false_release", "false_block", "invalid")

_SAID = re.compile(r"\b(pass|fail)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class VerdictCounts:
    """What was said by what is true; `curve` is the share of errors among the surest tasks, by their share."""

    cells: Mapping[tuple[str, str], int]
    curve: tuple[tuple[float, float], ...] = ()


def verdict_counts(run: RunFacts) -> VerdictCounts | None:
    """Counted over the rollouts that the run is judged by; None where its tasks end in no verdict."""
    if not set(run.reasons) & {"false_release", "false_block"}:
        return None
    where, bound = run.headline.clause()
    with closing(glance(run.folder)) as db:
        sql = f"SELECT seq, split, task, reason FROM rollouts WHERE {where}"
        rows = db.execute(sql, bound).fetchall()
        cells: Counter[tuple[str, str]] = Counter()
        for seq, _, _, reason in rows:
            said = {"false_release": "pass", "false_block": "fail"}.get(reason, "none")
            if reason == "correct":
                said = _said(db, seq)
                truth = said
            else:
                truth = {"pass": "fail", "fail": "pass"}.get(said, "unknown")
            cells[said, truth] += 1
    votes: dict[tuple[str, int], Counter[str]] = {}
    for _, split, task, reason in rows:
        votes.setdefault((split, task), Counter())[reason] += 1
    return VerdictCounts(dict(cells), risk_by_coverage(list(votes.values())))


def _said(db: sqlite3.Connection, seq: int) -> str:
    """The verdict of a reply that was right: the first that its last turn names."""
    rollout = query.rollout_record(db, seq)
    texts = [turn.reply.text for turn in rollout.turns if turn.role == "target"] if rollout else []
    found = _SAID.search(texts[-1]) if texts else None
    return found[1].lower() if found else "none"


def risk_by_coverage(votes: list[Counter[str]]) -> tuple[tuple[float, float], ...]:
    """The share of wrong majorities among the surest tasks; nothing where tasks have one draw each."""
    if not votes or max(sum(held.values()) for held in votes) < 2:
        return ()
    ranked = []
    for held in votes:
        winner, many = max(held.items(), key=lambda item: (item[1], item[0]))
        ranked.append((many / sum(held.values()), winner != "correct"))
    ranked.sort(key=lambda pair: (-pair[0], pair[1]))
    points, wrong = [], 0
    for seen, (sure, error) in enumerate(ranked, 1):
        wrong += error
        last = seen == len(ranked) or ranked[seen][0] != sure
        if last:  # tasks that are equally sure are taken together: their order is nobody's
            points.append((seen / len(ranked), wrong / seen))
    return tuple(points)


def panel(run: RunFacts) -> Markup | None:
    """The verdicts of a run; None where its tasks end in none."""
    try:
        counts = verdict_counts(run)
    except WhetError:
        return None
    if counts is None:
        return None
    truths = [truth for truth in ("pass", "fail", "none", "unknown") if any(cell[1] == truth for cell in counts.cells)]
    saids = ["pass", "fail", "none"]
    rows = [[f"said {said}", *(f"{counts.cells.get((said, truth), 0):,}" for truth in truths)] for said in saids]
    drawn = line_chart("risk by coverage", {"wrong among the surest": list(counts.curve)}) if counts.curve else None
    heads = ("", *(f"truly {truth}#" for truth in truths))
    note = (
        "To say pass where it fails is a false release, the expensive error; to say fail where it passes a false block."
    )
    return section("Verdicts", table(heads, rows, caption="verdict by truth"), tag("p", note, class_="quiet"), drawn)
