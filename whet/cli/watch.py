"""`whet watch`: a run from another terminal. A pipe gets a line whenever something has changed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from whet.report.glimpse import RunGlimpse, glimpse, refuse_missing
from whet.report.sections import duration, money, rate_words
from whet.run.workspace import run_folder
from whet.terminal import console

if TYPE_CHECKING:
    from rich.console import RenderableType


def watch_command(name: str, every: float, *, once: bool, runs: Path) -> None:
    folder = run_folder(name, runs)
    refuse_missing(folder)
    out = console()
    seen = glimpse(folder)
    if once or not out.is_terminal:
        told = seen.line()
        out.print(told, soft_wrap=True)
        while seen.run.live and not once:
            time.sleep(every)
            seen = glimpse(folder)
            if seen.line() != told:
                told = seen.line()
                out.print(told, soft_wrap=True)
        return
    from rich.live import Live

    with Live(picture(seen), console=out, auto_refresh=False, transient=False) as live:
        while seen.run.live:
            time.sleep(every)
            seen = glimpse(folder)
            live.update(picture(seen), refresh=True)


def picture(seen: RunGlimpse) -> RenderableType:
    """A run as a few calm lines: how far, how well, how dear, and the latest rollouts."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    run = seen.run
    head = Table.grid(padding=(0, 2))
    head.add_row(run.name, run.state, " · ".join(filter(None, (run.kind, run.env, run.model))))
    parts: list[RenderableType] = [head]
    if run.trouble:
        return Group(head, run.trouble)
    if seen.planned:
        bar = Table.grid(padding=(0, 2))
        left = "" if seen.left is None or not run.live else f"about {duration(seen.left)} left for the whole run"
        so_far = f"{seen.done:,} of {seen.planned:,} {seen.unit}"
        bar.add_row(ProgressBar(seen.planned, min(seen.done, seen.planned), width=30), so_far, left)
        parts.append(bar)
    score = f"solved {rate_words(run.score)} on {run.on}" if run.score is not None else "no score yet"
    parts.append(f"{score}; {run.rollouts:,} rollouts, {money(run.usd)}, {duration(run.seconds)}")
    if seen.latest:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in ("latest", "", "reason", "kind", "for"):
            table.add_column(column, no_wrap=True)
        for line in seen.latest:
            solved = "solved" if line.hard == 1 else "not"
            table.add_row(f"{line.split}/{line.task}", solved, line.reason, line.kind, line.purpose)
        parts.append(table)
    return Group(*parts)
