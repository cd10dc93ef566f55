"""`whet gate simulate`: what gates gain, let through and cost where the truth is known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from whet.files import write_json
from whet.gate import Gate, PairedGate, gate_named, load_world, simulate
from whet.terminal import console

PAIRED = "paired"


def simulate_command(
    world: Path,
    names: Sequence[str],
    paces: Sequence[str],
    alpha: float | None,
    *,
    runs: int,
    seed: int,
    json: Path | None,
) -> None:
    gates = [gate for name in names for gate in _gates(name, paces, alpha)]
    report = simulate(load_world(world), gates, runs, seed)
    if json is not None:
        write_json(json, report.as_data())
    console().print(report.table(), soft_wrap=True)


def _gates(name: str, paces: Sequence[str], alpha: float | None) -> list[Gate]:
    """A gate by name; the paired gate once for each pace, called after it where there are several."""
    if name != PAIRED:
        return [gate_named(name)]
    called = {pace: name if len(paces) == 1 else pace for pace in paces}
    return [PairedGate(alpha=alpha, pace=pace, name=label) for pace, label in called.items()]
