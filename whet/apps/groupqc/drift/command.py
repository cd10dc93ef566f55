"""`whet groupqc drift` and `whet groupqc watch`: compare with a reference once, or follow new work day by day."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from whet.apps.groupqc.options import JsonOption, PacksOption


def drift(
    reference: Annotated[Path, typer.Argument(help="Stage-A file, or folder of an audit or of decisions.")],
    new: Annotated[Path, typer.Argument(help="What may have drifted from it.")],
    alpha: Annotated[float, typer.Option(help="Chance of any false alarm in the whole report.")] = 0.015,
    least: Annotated[float, typer.Option(help="Standard deviations by which something must move to matter.")] = 0.1,
    pack: PacksOption = None,
    every: Annotated[bool, typer.Option("--all", help="Show what has not moved, too.")] = False,
    json: JsonOption = None,
) -> None:
    """Compare new tickets or verdicts with a reference, once. Exits with 1 when something drifted."""
    from whet.apps.groupqc.drift.report import find_drift
    from whet.files import write_json
    from whet.terminal import console, print_lines

    report = find_drift(reference, new, packs=pack or (), least=least, alpha=alpha)
    if json is not None:
        write_json(json, report.as_data())
    if every or any(finding.status != "ok" for finding in report.findings):
        console().print(report.renderable(every))
    compared, drifted = len(report.findings), len(report.drifted)
    sites = f"{report.sites[0]} and {report.sites[1]} sites"
    print_lines(
        f"{sites}, {compared} traits compared, {drifted} drifted; where nothing changed, a report says so with "
        f"probability {1 - alpha:g}",
        *report.warnings,
    )
    raise SystemExit(report.exit_code)


def watch(
    reference: Annotated[Path, typer.Argument(help="Stage-A file, or folder of an audit or of decisions.")],
    new: Annotated[list[Path], typer.Argument(help="What came since, in the order in which it came.")],
    alpha: Annotated[float, typer.Option(help="Chance of ever raising a false alarm, however often one looks.")] = 0.01,
    pack: PacksOption = None,
    json: JsonOption = None,
) -> None:
    """Follow new tickets against a reference: may be read every day. Exits with 1 once something has changed."""
    from whet.apps.groupqc.drift.follow import follow
    from whet.files import write_json
    from whet.terminal import print_lines

    state = follow(reference, new, packs=pack or (), alpha=alpha)
    if json is not None:
        write_json(json, state.as_data())
    print_lines(*state.lines())
    raise SystemExit(state.exit_code)
