"""`whet ablate`: a line for each arm, then the table and the best preset."""

from __future__ import annotations

from pathlib import Path

from whet.run.ablate import run_ablation
from whet.terminal import console, interruptible


def ablate_command(
    config: Path, presets: tuple[str, ...], seeds: int, overrides: tuple[str, ...], *, runs: Path, run: str | None
) -> None:
    out = console()

    def tell(line: str) -> None:
        out.print(line, markup=False, highlight=False)

    with interruptible():
        result = run_ablation(config, presets, seeds, overrides=overrides, runs=runs, name=run, tell=tell)
    for line in result.lines():
        tell(line)
