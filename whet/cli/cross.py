"""`whet cross`: base or trained weights, each with the plain and with the evolved playbook."""

from __future__ import annotations

from pathlib import Path

from whet.run.cross import cross_config, run_cross
from whet.terminal import TerminalProgress, console, interruptible, print_page


def cross_command(
    weights: str, playbook: str, overrides: tuple[str, ...], *, tasks: int | None, runs: Path, run: str | None
) -> None:
    config = cross_config(weights, playbook, runs, tasks, overrides)
    with interruptible():
        result = run_cross(config, runs=runs, name=run, progress=TerminalProgress())
    print_page(result.page(), console())
