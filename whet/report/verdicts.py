"""Runs whose tasks end in a verdict, to release or to block: the confusion of verdict and truth, and risk by coverage.

The truth of a task is what its scores in the ledger say: a false release was of a task that truly fails, a false block
of one that passes, whoever made the error, a policy without skill too. A verdict that was right names the truth itself,
and is read as its environment reads it; nothing is guessed from a reply whose form is not known. Votes on a task are
counted as `whet groupqc audit` counts them, so that both say the same.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass

from whet.envs.groupqc.pack.schema import TicketVerdict
from whet.envs.groupqc.verdict.lines import read_verdict
from whet.envs.groupqc.verdict.metrics import VotedTicket, risk_coverage
from whet.envs.groupqc.verdict.votes import Votes
from whet.errors import WhetError
from whet.ledger.store import glance
from whet.report import query
from whet.report.charts import line_chart
from whet.report.fold import RunFacts
from whet.report.markup import Markup, tag
from whet.report.sections import section, table

TaskPlace = tuple[str, int]
"""Split and number of a task."""

FAMILY = "groupqc"
"""The environments whose verdicts can be read."""

TRUTHS: Mapping[str, TicketVerdict] = {"false_release": "fail", "false_block": "pass"}
"""What is true of a task that ended in an error."""

SAID: Mapping[str, TicketVerdict] = {"false_release": "pass", "false_block": "fail"}


@dataclass(frozen=True, slots=True)
class VerdictCounts:
    """Tasks by what was said and what is true; `curve` is the share of errors among the surest tasks, by their share.

    A task of several draws says what most valid ones say, and a tie means fail.
    """

    cells: Mapping[tuple[str, str], int]
    curve: tuple[tuple[float, float], ...] = ()
    draws: int = 1
    """Most draws of a task."""


def verdict_counts(run: RunFacts) -> VerdictCounts | None:
    """Counted over the rollouts that the run is judged by; None where its tasks end in no verdict, or in verdicts
    whose truth the ledger does not tell, and of a gate, which has two policies."""
    readable = run.env.partition(":")[0] == FAMILY
    if run.kind == "gate" or not (readable or set(run.reasons) & set(TRUTHS)):
        return None
    where, bound = run.headline.clause()
    by_task: dict[TaskPlace, list[tuple[int, str]]] = {}
    with closing(glance(run.folder)) as db:
        sql = f"SELECT seq, split, task, reason FROM rollouts WHERE {where} ORDER BY task, draw, seq"
        for seq, split, task, reason in db.execute(sql, bound):
            by_task.setdefault((split, task), []).append((seq, reason))
        truths = _told_by_errors(db)
        for place, draws in by_task.items():
            right = next((seq for seq, reason in draws if reason == "correct"), None)
            if place not in truths and right is not None:
                truth = _read(db, right) if readable else None
                if truth is None:
                    return None
                truths[place] = truth
    voted = {place: Votes(_calls(draws, truths.get(place))) for place, draws in by_task.items()}
    cells: Counter[tuple[str, str]] = Counter(
        (votes.majority or "none", truths.get(place) or "unknown") for place, votes in voted.items()
    )
    most = max((len(votes.calls) for votes in voted.values()), default=0)
    return VerdictCounts(cells, risk_by_coverage(voted, truths) if most > 1 else (), most) if cells else None


def _told_by_errors(db: sqlite3.Connection) -> dict[TaskPlace, TicketVerdict]:
    """The truth of every task that anything in the run got wrong."""
    sql = "SELECT DISTINCT split, task, reason FROM rollouts WHERE reason IN (?, ?)"
    return {(split, task): TRUTHS[reason] for split, task, reason in db.execute(sql, tuple(TRUTHS))}


def _read(db: sqlite3.Connection, seq: int) -> TicketVerdict | None:
    """The verdict of a reply that was right, as its environment read it."""
    rollout = query.rollout_record(db, seq)
    replies = [turn.reply for turn in rollout.turns if turn.role == "target"] if rollout else []
    return read_verdict(replies[-1].text, cut_off=replies[-1].truncated).call if replies else None


def _calls(draws: list[tuple[int, str]], truth: TicketVerdict | None) -> tuple[TicketVerdict | None, ...]:
    return tuple(truth if reason == "correct" else SAID.get(reason) for _, reason in draws)


def risk_by_coverage(
    voted: Mapping[TaskPlace, Votes], truths: Mapping[TaskPlace, TicketVerdict]
) -> tuple[tuple[float, float], ...]:
    """Of all tasks the share that is decided, and of these the share that is wrong; the surest first."""
    judged = [VotedTicket(f"{place}", truths[place], votes) for place, votes in voted.items() if place in truths]
    return tuple((cut.covered.part / len(voted), cut.wrong.value or 0.0) for cut in risk_coverage(judged))


SAYS = {"pass": "pass", "fail": "fail", "none": "nothing valid"}


def panel(run: RunFacts) -> Markup | None:
    """The verdicts of a run; None where its tasks end in none."""
    try:
        counts = verdict_counts(run)
    except (WhetError, sqlite3.Error):
        return None
    if counts is None:
        return None
    truths = [truth for truth in ("pass", "fail", "unknown") if any(cell[1] == truth for cell in counts.cells)]
    rows = [[f"said {SAYS[said]}", *(f"{counts.cells.get((said, truth), 0):,}" for truth in truths)] for said in SAYS]
    drawn = line_chart("risk by coverage", {"wrong among the surest": list(counts.curve)}) if counts.curve else None
    voted = (
        f" Tasks are counted, by what most of their up to {counts.draws} draws say. The curve: across, the share of "
        "tasks that is decided, the surest first; up, the share of these that is wrong."
        if counts.draws > 1
        else ""
    )
    heads = ("", *(f"truly {truth}#" for truth in truths))
    note = (
        "To say pass where it fails is a false release, the expensive error; to say fail where it passes a false block."
        + voted
    )
    return section("Verdicts", table(heads, rows, caption="verdict by truth"), tag("p", note, class_="quiet"), drawn)
