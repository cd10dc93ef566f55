"""Champions for a person: the list of them, and one with its evidence and history."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from whet.errors import WhetError
from whet.learn.documents import document
from whet.ledger.store import FILE as LEDGER
from whet.release.champion import PROMOTED, Champion, Champions, ReleaseEvent, parse_title
from whet.release.skill import evidence_lines
from whet.run.workspace import RUNS, run_folder

if TYPE_CHECKING:
    from rich.console import RenderableType


def champions_table(champions: Champions) -> RenderableType:
    """Every champion: which version it is now, where it was measured, what the sealed test showed, since when."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("champion", "of", "environment", "model", "test", "since", "by"):
        table.add_column(column, overflow="fold", no_wrap=column in ("champion", "since"))
    for name in champions.names():
        event = champions.events(name)[-1]
        versions = str(len(champions.versions(name)))
        try:
            found = champions.get(name)
        except WhetError as problem:
            table.add_row(f"{name}@v{event.version}", versions, str(problem))
            continue
        value = found.claim.get("value")
        shown = "none" if value is None else f"{found.claim['metric']} {value:.3f}"
        mark = " (overridden)" if found.override else ""
        row = (found.title, versions, found.environment, str(found.target["model"]), shown + mark, _when(event))
        table.add_row(*row, event.by)
    return table


def champion_lines(champions: Champions, title: str, runs: Path = RUNS) -> Iterator[str]:
    """One version: its evidence, whether its run is still there, what became of it, and its playbook."""
    found = champions.get(*parse_title(title))
    current = champions.current(found.name)
    state = "the champion now" if current == found.version else f"not current: {found.name}@v{current} is"
    yield f"{found.title}: {state}"
    yield from (line.removeprefix("* ") for line in evidence_lines(found) if line.startswith("* "))
    if not (run_folder(found.run, runs) / LEDGER).is_file():
        yield f"its run {found.run} is not here any more: what is shown is what was kept when it was promoted"
    yield "history:"
    yield from (f"  {_told(event)}" for event in champions.events(found.name))
    yield from _playbook(found)


def _told(event: ReleaseEvent) -> str:
    what = "promoted" if event.kind == PROMOTED else "rolled back to"
    by = f" by {event.by}" if event.by else ""
    passed = f" against: {'; '.join(event.passed_over)}" if event.passed_over else ""
    why = f" ({event.why})" if event.why else ""
    return f"{_when(event)} {what} v{event.version}{by}{why}{passed}"


def _playbook(champion: Champion) -> Iterator[str]:
    if champion.playbook.blank:
        yield "playbook: blank"
        return
    yield "playbook:"
    yield from (f"  {line}" for line in document(champion.playbook).splitlines())


def _when(event: ReleaseEvent) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(event.at))
