"""`whet groupqc lint`: what is wrong with a Stage-A file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from whet.apps.groupqc.options import PacksOption


def lint(
    file: Annotated[Path, typer.Argument(help="Stage-A file.")],
    pack: PacksOption = None,
) -> None:
    """Say what is wrong with a Stage-A file, and what is odd. Exits with 1 when a line cannot be used."""
    from whet.envs.groupqc.pack.file import load_packs
    from whet.envs.groupqc.tickets.lint import lint_file
    from whet.terminal import print_lines

    report = lint_file(file, load_packs(pack or ()))
    print_lines(*report.lines())
    raise SystemExit(0 if report.clean else 1)
