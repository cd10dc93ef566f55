"""`whet runs`: what was run here, and how it stands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(name="runs", help="List runs, or show one.", invoke_without_command=True, rich_markup_mode=None)

RunsFolder = Annotated[Path, typer.Option("--runs", help="Folder that runs are kept in.")]


@app.callback()
def listing(context: typer.Context, runs: RunsFolder = Path("runs")) -> None:
    """List runs, newest first."""
    if context.invoked_subcommand is not None:
        return
    from whet.run.catalog import list_runs, runs_table
    from whet.terminal import console

    found = list_runs(runs)
    if not found:
        console().print(f"no runs in {runs}; start one with: whet eval ENV -m MODEL")
        return
    console().print(runs_table(found))


@app.command("show", no_args_is_help=True)
def show(
    run: Annotated[str, typer.Argument(help="Run to show: a name or a folder.")],
    task: Annotated[str | None, typer.Option(help="Print the transcript of this task, such as select/3.")] = None,
    failed: Annotated[bool, typer.Option("--failed", help="List the tasks that were not always solved.")] = False,
    reason: Annotated[str, typer.Option(help="List the tasks with an attempt that ended so, such as wrong.")] = "",
    kind: Annotated[str, typer.Option(help="List the tasks of this kind.")] = "",
    runs: RunsFolder = Path("runs"),
) -> None:
    """Show one run: its table, what it spent, what happened; or one transcript; or some of its tasks."""
    from whet.run.catalog import show_run, show_transcripts
    from whet.terminal import console

    if failed or reason or kind:
        from whet.report.task_list import TaskChoice, task_table

        console().print(task_table(run, TaskChoice(failed, reason, kind), runs))
        return
    console().print(show_transcripts(run, task, runs) if task else show_run(run, runs))


@app.command("table")
def table(
    env: Annotated[str, typer.Option(help="Only runs on this environment.")] = "",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Also write it here: .md or .json.")] = None,
    runs: RunsFolder = Path("runs"),
) -> None:
    """A dated record: which model came to what, on which environment."""
    from whet.report.run_table import run_table, write_run_table
    from whet.terminal import console, print_lines

    found = run_table(runs, env)
    console().print(found.renderable())
    if out is not None:
        write_run_table(found, out)
        print_lines(f"written: {out}")
