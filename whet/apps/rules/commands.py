"""`whet rules`: show, diff, rollback, approve."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from whet.apps.rules import APP

app = typer.Typer(name="rules", no_args_is_help=True, help=APP.about, rich_markup_mode=None)

RunArgument = Annotated[str, typer.Argument(help="Run of rule search: a name or a folder.")]
RunsFolder = Annotated[Path, typer.Option("--runs", help="Folder that runs are kept in.")]


@app.command("show", no_args_is_help=True)
def show(
    run: RunArgument,
    step: Annotated[int | None, typer.Option(help="Book after so many edits. [the last]")] = None,
    every: Annotated[bool, typer.Option("--all", help="Retired rules, too.")] = False,
    runs: RunsFolder = Path("runs"),
) -> None:
    """Print the rule book of a run."""
    from whet.apps.rules.history import awaiting, book_at, book_lines, steps_of
    from whet.terminal import print_lines

    folder, number, book = book_at(run, step, runs)
    waiting = [f"waits for a person: {purpose}: {what}" for purpose, what in awaiting(folder).items()]
    print_lines(f"step {number} of {steps_of(folder)[-1]}", *book_lines(book, every), *waiting)


@app.command("diff", no_args_is_help=True)
def diff(
    run: RunArgument,
    before: Annotated[int, typer.Argument(help="Step to compare from.")] = 0,
    after: Annotated[int | None, typer.Argument(help="Step to compare with. [the last]")] = None,
    runs: RunsFolder = Path("runs"),
) -> None:
    """Print what changed in a rule book between two steps."""
    from whet.apps.rules.history import book_at, diff_lines
    from whet.terminal import print_lines

    _, first, old = book_at(run, before, runs)
    _, second, new = book_at(run, after, runs)
    print_lines(f"step {first} to step {second}", *(diff_lines(old, new) or ["nothing changed"]))


@app.command("rollback", no_args_is_help=True)
def rollback(
    run: RunArgument,
    step: Annotated[int, typer.Argument(help="Step whose book is wanted again.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File to write. [in the run's folder]")] = None,
    runs: RunsFolder = Path("runs"),
) -> None:
    """Write a playbook with the rule book of an earlier step. What came since is retired in it, and the run stays."""
    from whet.apps.rules.history import roll_back
    from whet.terminal import print_lines

    written = roll_back(run, step, out, runs)
    print_lines(f"written: {written}; use it with --playbook, or as train.playbook")


@app.command("approve", no_args_is_help=True)
def approve(
    run: RunArgument,
    purpose: Annotated[str, typer.Argument(help="Change, as 'whet rules show' names it. [the one that waits]")] = "",
    decline: Annotated[bool, typer.Option("--decline", help="Say no.")] = False,
    by: Annotated[str, typer.Option(help="Who says so.")] = "",
    why: Annotated[str, typer.Option(help="Why.")] = "",
    runs: RunsFolder = Path("runs"),
) -> None:
    """Say yes or no to a change that passed the gate and waits for a person."""
    from whet.apps.rules.history import approve as say
    from whet.learn.rules.approval import PersonsWord
    from whet.terminal import print_lines

    print_lines(say(run, purpose, PersonsWord(not decline, by, why), runs))
