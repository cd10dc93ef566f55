"""`whet export`: what a run holds, in forms that others read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="export",
    no_args_is_help=True,
    help="Write what a run holds in a form that others read.",
    rich_markup_mode=None,
)


@app.callback()
def export() -> None:
    """Write what a run holds in a form that others read."""


@app.command("chat", no_args_is_help=True)
def chat(
    run: Annotated[str, typer.Argument(help="Run of any kind: a name or a folder.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File to write. [RUN/chat.jsonl]")] = None,
    purpose: Annotated[
        str, typer.Option(help="Only rollouts made for this, such as eval or train. [all but those of the floor]")
    ] = "",
    solved: Annotated[bool, typer.Option("--solved", help="Only rollouts that solved their task.")] = False,
    split: Annotated[str, typer.Option(help="Only tasks of train, select or test. [all]")] = "",
    runs: Annotated[Path, typer.Option("--runs", help="Folder that runs are kept in.")] = Path("runs"),
) -> None:
    """Write the conversations of a run as chat messages, one JSON object a line."""
    from whet.run.export import ChatFilter, export_chat
    from whet.terminal import print_lines

    print_lines(str(export_chat(run, out, ChatFilter(purpose, split, solved), runs)))
