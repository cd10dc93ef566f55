"""`whet groupqc smoke`: does everything between photos and figures work here?"""

from __future__ import annotations

from typing import Annotated

import typer

from whet.apps.groupqc.options import MaxPixelsOption, PacksOption


def smoke(
    pack: PacksOption = None,
    photos: Annotated[bool, typer.Option("--photos/--no-photos", help="Also draw and read two groups.")] = True,
    max_pixels: MaxPixelsOption = None,
) -> None:
    """Try the whole path with no model. Exits with 1 when a step fails."""
    from whet.apps.groupqc.smoke.steps import run_smoke
    from whet.terminal import print_lines

    steps = run_smoke(tuple(pack or ()), photos=photos, max_pixels=max_pixels)
    print_lines(
        *(f"{'ok  ' if step.ok else 'fail'}  {step.name:<9} {step.said} ({step.seconds:.1f} s)" for step in steps)
    )
    raise SystemExit(0 if all(step.ok for step in steps) else 1)
