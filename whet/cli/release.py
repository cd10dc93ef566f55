"""`whet release`: promote what a run came to, roll it back, hand it on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="release",
    help="Champions: promote, list, show, roll back, package, install.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Releases = Annotated[Path, typer.Option("--releases", help="Folder that champions are kept in.")]
Runs = Annotated[Path, typer.Option("--runs", help="Folder that runs are kept in.")]
Skills = "codex, claude, or the folder that holds skills."
Title = Annotated[str, typer.Argument(help="Champion: NAME, or NAME@v2 for a version.")]


@app.command("promote", no_args_is_help=True)
def promote(
    run: Annotated[str, typer.Argument(help="Training, or decision of the gate (RUN/gates/ID): a name or a folder.")],
    name: Annotated[str, typer.Option("--as", help="The champion's name: small letters, digits and hyphens.")],
    test: Annotated[
        str, typer.Option("--test", help="Evaluation of the same policy with --split test, where RUN has none.")
    ] = "",
    override: Annotated[
        str, typer.Option("--override", help="Promote against objections; the reason is recorded.")
    ] = "",
    runs: Runs = Path("runs"),
    releases: Releases = Path("releases"),
) -> None:
    """Make a run's policy the champion: it needs an accepted decision of the gate and a result on sealed tasks."""
    from whet.release.promotion import promote_run
    from whet.terminal import print_lines

    print_lines(*promote_run(run, name, runs=runs, releases=releases, test=test, override=override).lines())


@app.command("list")
def listing(releases: Releases = Path("releases")) -> None:
    """List champions."""
    from whet.release.champion import Champions
    from whet.release.page import champions_table
    from whet.terminal import console

    champions = Champions(releases)
    if not champions.names():
        console().print(f"no champions in {releases}; promote a run: whet release promote RUN --as NAME")
        return
    console().print(champions_table(champions))


@app.command("show", no_args_is_help=True)
def show(title: Title, runs: Runs = Path("runs"), releases: Releases = Path("releases")) -> None:
    """Show a champion: its evidence, its history, its playbook."""
    from whet.release.champion import Champions
    from whet.release.page import champion_lines
    from whet.terminal import print_lines

    print_lines(*champion_lines(Champions(releases), title, runs))


@app.command("rollback", no_args_is_help=True)
def rollback(
    name: Annotated[str, typer.Argument(help="Champion.")],
    to: Annotated[str, typer.Option("--to", help="Version to go back to. [the one before]")] = "",
    why: Annotated[str, typer.Option("--why", help="The reason, for the record.")] = "",
    releases: Releases = Path("releases"),
) -> None:
    """Make an earlier version the champion again; servers of it switch over."""
    from whet.release.champion import Champions, parse_title
    from whet.terminal import print_lines

    version = parse_title(f"{name}@{to}")[1] if to else None
    print_lines(f"rolled back: {Champions(releases).rollback(name, version, why).title} is the champion")


@app.command("package", no_args_is_help=True)
def package(
    title: Title,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File to make. [NAME-v1.zip]")] = None,
    releases: Releases = Path("releases"),
) -> None:
    """Write a champion to one file: skill, rule book or weights, its evidence, checksums."""
    from whet.release.champion import Champions, parse_title
    from whet.release.package import write_package
    from whet.terminal import print_lines

    champions = Champions(releases)
    champion = champions.get(*parse_title(title))
    print_lines(f"{write_package(champions, champion, out)}: {champion.title}, digest {champion.digest}")


@app.command("install", no_args_is_help=True)
def install(
    source: Annotated[str, typer.Argument(help="Champion (NAME or NAME@v2), or the file of a package.")],
    into: Annotated[str, typer.Option("--into", help=Skills)],
    description: Annotated[
        str, typer.Option("--description", help="When an agent is to use it. [what the environment says]")
    ] = "",
    releases: Releases = Path("releases"),
) -> None:
    """Put a champion's playbook where an agent loads skills from, with its evidence."""
    from whet.release.source import install_source
    from whet.terminal import print_lines

    print_lines(*install_source(source, into, releases=releases, description=description))


@app.command("uninstall", no_args_is_help=True)
def uninstall(
    name: Annotated[str, typer.Argument(help="Champion.")],
    source: Annotated[str, typer.Option("--from", help=Skills)],
    releases: Releases = Path("releases"),
) -> None:
    """Take an installed skill away again."""
    from whet.release.install import uninstall as take_away
    from whet.terminal import print_lines

    print_lines(f"{take_away(name, source, releases=releases)}: taken away")
