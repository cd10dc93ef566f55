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
    runs: RunsFolder = Path("runs"),
) -> None:
    """Show one run: its table, what it spent, what happened; or one transcript."""
    from whet.run.catalog import show_run, show_transcripts
    from whet.terminal import console

    console().print(show_transcripts(run, task, runs) if task else show_run(run, runs))
