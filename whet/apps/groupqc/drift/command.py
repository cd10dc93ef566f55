"""`whet groupqc drift`: compare new tickets or verdicts with a reference, and exit with whether something drifted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from whet.apps.groupqc.options import JsonOption, PacksOption


def drift(
    reference: Annotated[Path, typer.Argument(help="Stage-A file, or folder of an audit.")],
    new: Annotated[Path, typer.Argument(help="What may have drifted from it.")],
    psi: Annotated[float, typer.Option(help="Stability index from which something has moved.")] = 0.1,
    alpha: Annotated[float, typer.Option(help="How often chance alone may raise an alarm.")] = 0.01,
    pack: PacksOption = None,
    every: Annotated[bool, typer.Option("--all", help="Show what has not moved, too.")] = False,
    json: JsonOption = None,
) -> None:
    """Compare new tickets or verdicts with a reference. Exits with 1 when something drifted."""
    from whet.apps.groupqc.drift.report import find_drift
    from whet.files import write_json
    from whet.terminal import console, print_lines

    report = find_drift(reference, new, packs=pack or (), psi=psi, alpha=alpha)
    if json is not None:
        write_json(json, report.as_data())
    if every or any(finding.status != "ok" for finding in report.findings):
        console().print(report.renderable(every))
    compared, drifted = len(report.findings), len(report.drifted)
    print_lines(f"{compared} things compared, {drifted} drifted (PSI from {psi:g}, p up to {alpha:g})")
    raise SystemExit(report.exit_code)
