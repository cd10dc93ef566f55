"""A dated record of what was measured: model by result, for every run of a folder that has a score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whet.errors import WhetError
from whet.files import write_atomically, write_json
from whet.report.fold import RunFacts, list_records
from whet.report.sections import moment, money, rate_words
from whet.report.text import plain_text

if TYPE_CHECKING:
    from rich.console import RenderableType

HEADS = ("date", "environment", "model", "kind", "on", "solved", "tasks", "cost", "run")


@dataclass(frozen=True, slots=True)
class RunTable:
    """The runs of the record, by environment and date."""

    runs: Sequence[RunFacts]

    def rows(self) -> list[tuple[str, ...]]:
        return [
            (
                *(moment(run.changed)[:10], run.env, run.model, run.kind, run.on, rate_words(run.score)),
                *(f"{run.score.tasks:,}" if run.score else "", money(run.usd), run.name),
            )
            for run in self.runs
        ]

    def renderable(self) -> RenderableType:
        from rich.table import Table

        if not self.runs:
            return "no run here has a score yet"
        table = Table(box=None, pad_edge=False, header_style="bold")
        for head in HEADS:
            table.add_column(head, no_wrap=head in ("date", "model", "solved", "run"), overflow="fold")
        for row in self.rows():
            table.add_row(*row)
        return table

    def markdown(self) -> str:
        body = ["| " + " | ".join(map(plain_text, row)) + " |" for row in self.rows()]
        return "\n".join(["| " + " | ".join(HEADS) + " |", "|" + "---|" * len(HEADS), *body]) + "\n"

    def data(self) -> list[dict[str, Any]]:
        ends = [run.score.interval for run in self.runs if run.score is not None]
        return [
            {**dict(zip(HEADS, row, strict=True)), "solved": run.score.value, "interval": [held.low, held.high]}
            for run, row, held in zip(self.runs, self.rows(), ends, strict=True)
            if run.score is not None
        ]


def run_table(runs: Path, env: str = "") -> RunTable:
    """The runs under a folder that have a score, on one environment or on all."""
    known = [run for run in list_records(runs) if run.score is not None]
    named = [run for run in known if not env or run.env == env]
    if env and not named:
        offered = ", ".join(sorted({run.env for run in known})) or "none"
        raise WhetError(f"no run on {env!r} has a score; environments of these runs: {offered}")
    return RunTable(sorted(named, key=lambda run: (run.env, run.changed)))


def write_run_table(table: RunTable, out: Path) -> None:
    if out.suffix == ".json":
        write_json(out, table.data())
    elif out.suffix == ".md":
        write_atomically(out, table.markdown().encode())
    else:
        raise WhetError(f"{out}: the record is written as .md or .json; name the file so")
