"""`whet gate simulate`: what gates gain, let through and cost where the truth is known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from whet.files import write_json
from whet.gate import gate_named, load_world, simulate
from whet.terminal import console


def simulate_command(world: Path, gates: Sequence[str], *, runs: int, seed: int, json: Path | None) -> None:
    report = simulate(load_world(world), [gate_named(name) for name in gates], runs, seed)
    if json is not None:
        write_json(json, report.as_data())
    console().print(report.table(), soft_wrap=True)
