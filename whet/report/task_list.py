"""Tasks of a run by how their attempts ended, for a terminal: which are wrong, and where to read on."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from whet.errors import WhetError, nearest
from whet.ledger.store import glance
from whet.report.fold import fold_run
from whet.report.query import RolloutFilter
from whet.run.workspace import run_folder

if TYPE_CHECKING:
    from rich.console import RenderableType

MOST = 200


@dataclass(frozen=True, slots=True)
class TaskChoice:
    """Which tasks are wanted: not always solved, with an attempt that ended so, of a kind."""

    failed: bool = False
    reason: str = ""
    kind: str = ""


class TaskLine(NamedTuple):
    """A task and what became of its attempts."""

    task: str
    kind: str
    difficulty: str
    solved: int
    attempts: int
    reasons: str


def task_lines(folder: Path, chosen: TaskChoice) -> list[TaskLine]:
    """The tasks that a run is judged by, those that are wanted, the worst first."""
    record = fold_run(folder)
    if record.trouble:
        raise WhetError(f"{folder}: {record.trouble}")
    headline = record.headline
    _refuse_unknown("reason", chosen.reason, list(record.reasons))
    _refuse_unknown("kind", chosen.kind, [group.name for group in record.kinds])
    where, bound = RolloutFilter(headline.purpose, policy=headline.policy, kind=chosen.kind).clause()
    sql = f"""SELECT split, task, kind, difficulty, sum(hard = 1), count(*), group_concat(DISTINCT reason),
        max(reason = ?) AS ended FROM rollouts WHERE {where} GROUP BY split, task
        ORDER BY 1.0 * sum(hard = 1) / count(*), split, task"""
    with closing(glance(folder)) as db:
        rows = db.execute(sql, (chosen.reason, *bound)).fetchall()
    return [
        TaskLine(f"{split}/{task}", kind, difficulty, solved, attempts, reasons or "")
        for split, task, kind, difficulty, solved, attempts, reasons, ended in rows
        if (not chosen.failed or solved < attempts) and (not chosen.reason or ended)
    ]


def _refuse_unknown(what: str, given: str, known: Sequence[str]) -> None:
    if given and given not in known:
        raise WhetError(
            f"no attempt has the {what} {given!r}.{nearest(given, known)} Known: {', '.join(known) or 'none'}."
        )


def task_table(run: str, chosen: TaskChoice, runs: Path) -> RenderableType:
    from rich.console import Group
    from rich.table import Table

    folder = run_folder(run, runs)
    lines = task_lines(folder, chosen)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("task", "kind", "difficulty", "solved", "ended with"):
        table.add_column(column, no_wrap=column == "task", overflow="fold")
    for line in lines[:MOST]:
        solved = f"{line.solved} of {line.attempts}"
        table.add_row(line.task, line.kind, line.difficulty, solved, line.reasons.replace(",", ", "))
    many = f"{len(lines)} task" + ("" if len(lines) == 1 else "s")
    cut = f", the first {MOST} shown" if len(lines) > MOST else ""
    return Group(table, f"{many}{cut}; read one with: whet runs show {run} --task {lines[0].task}" if lines else many)
