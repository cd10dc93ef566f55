"""`whet configs`: which versions there are of which config, and whether files and registry agree."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="configs", help="Versions of configs, and their registry.", no_args_is_help=True, rich_markup_mode=None
)

Configs = Annotated[Path, typer.Option("--configs", help="Folder that configs are kept in.")]


@app.command("list")
def listing(configs: Configs = Path()) -> None:
    """List every version of every config; a star marks the one that the file holds."""
    from whet.run.configs import config_lines
    from whet.terminal import print_lines

    found = config_lines(configs)
    print_lines(*(found or [f"no configs of runs below {configs}"]))


@app.command("show", no_args_is_help=True)
def show(
    title: Annotated[str, typer.Argument(help="NAME for the file as it is, NAME@v1 for a version.")],
    configs: Configs = Path(),
) -> None:
    """Print a version of a config."""
    from whet.config.lineage import ConfigFolder
    from whet.terminal import print_lines

    print_lines(*ConfigFolder(configs).version(title).text.splitlines())


@app.command("check")
def check(configs: Configs = Path()) -> None:
    """Say whether files and registry agree; a changed key without another version is an error (exit code 1)."""
    from whet.run.configs import check_configs
    from whet.terminal import print_lines

    wrong = check_configs(configs)
    print_lines(*(wrong or ["every config is what its version says"]))
    if wrong:
        raise SystemExit(1)


@app.command("bump", no_args_is_help=True)
def bump(
    name: Annotated[str, typer.Argument(help="Config, by the name that 'whet configs list' gives.")],
    notes: Annotated[str, typer.Option("--notes", help="What changed, and why.")] = "",
    configs: Configs = Path(),
) -> None:
    """Register the file as it is, as another version; a config without a header gets its first."""
    from datetime import date

    from whet.run.configs import bump_config
    from whet.terminal import print_lines

    print_lines(f"registered {bump_config(configs, name, notes, date.today())}")


@app.command("diff", no_args_is_help=True)
def diff(
    before: Annotated[str, typer.Argument(help="NAME@v1.")],
    after: Annotated[str, typer.Argument(help="NAME@v2. [the file as it is]")] = "",
    configs: Configs = Path(),
) -> None:
    """Print the keys that differ between two versions."""
    from whet.run.configs import diff_lines
    from whet.terminal import print_lines

    print_lines(*(diff_lines(configs, before, after) or ["nothing that a result depends on differs"]))


@app.command("activate", no_args_is_help=True)
def activate(
    title: Annotated[str, typer.Argument(help="NAME@v1.")],
    configs: Configs = Path(),
) -> None:
    """Put a registered version back into its file."""
    from whet.config.lineage import ConfigFolder
    from whet.terminal import print_lines

    print_lines(f"active: {ConfigFolder(configs).activate(title)}")
