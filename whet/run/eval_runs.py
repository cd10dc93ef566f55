"""Evaluations among the runs: their line in the list, their page, continuing and rebuilding them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from whet.config.schema import EvalConfig
from whet.evals.table import summary_table
from whet.ledger.store import Ledger
from whet.rollout.claim import CONFIG
from whet.rollout.session import ENDED, SESSION
from whet.run.caveats import read_caveats, since_lines
from whet.run.compose import Given
from whet.run.evaluate import KIND, EvalResult, run_evaluation
from whet.run.kinds import Continuation, RunEntry, entry_of, planned_rollouts
from whet.run.project import project, report
from whet.run.workspace import open_run

if TYPE_CHECKING:
    from rich.console import RenderableType


class EvalRuns:
    """The kind of run that `whet eval` makes."""

    name = KIND

    def entry(self, folder: Path, changed: float) -> RunEntry:
        run = open_run(folder)
        outcomes = run.outcomes()
        scored = [outcome.hard for outcome in outcomes if not outcome.fault]
        planned = planned_rollouts(run)
        state = "complete" if len(outcomes) >= planned else f"{len(scored)} of {planned}"
        solved = sum(scored) / len(scored) if scored else None
        with run.ledger() as ledger:
            mark = read_caveats(ledger).mark
        split = run.config.eval.split
        entry = entry_of(run, self.name, changed, state, solved, len(outcomes) - len(scored))
        return replace(entry, on=f"{split}, {mark}" if mark else split)

    def show(self, folder: Path) -> RenderableType:
        """The table of a run, what it spent, and its sessions."""
        from rich.console import Group

        run = open_run(folder)
        with Ledger.read(run.folder) as ledger:
            made = report(run.config, ledger)
            ended, began = ledger.events(ENDED), ledger.events(SESSION)
        ends = ", ".join(event.body["why"] for event in ended) or "none ended cleanly"
        return Group(
            summary_table(
                made.summary,
                title=f"{run.config.target.model} on {run.config.env.name}",
                floor=made.floor,
                wall_seconds=sum(event.body["seconds"] for event in ended),
                notes=made.caveats.notes,
            ),
            *since_lines(folder, made.caveats.opening),
            f"sessions: {len(began)} ({ends}); config: {run.folder / CONFIG}",
        )

    def resume(self, folder: Path, continuation: Continuation) -> EvalResult:
        config = continuation.config(EvalConfig, folder)
        given = replace(continuation.given, playbook=open_run(folder).playbook)
        return run_evaluation(
            config,
            given,
            runs=folder.parent,
            name=folder.name,
            progress=continuation.progress,
            retry_faults=continuation.retry_faults,
        )

    def rebuild(self, folder: Path, given: Given) -> str:
        run = open_run(folder)
        with Ledger.read(folder) as ledger:
            made = project(folder, run.config, ledger)
        return f"rebuilt from {made.summary.overall.rollouts} rollouts"


RUNS_KIND = EvalRuns()
