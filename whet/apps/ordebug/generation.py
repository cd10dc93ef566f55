"""The benchmark written to a folder, with a line a cell for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from whet.envs.ordebug.directory import ImportResult, load_directory
from whet.envs.ordebug.family import CELL_NAMES
from whet.envs.ordebug.generate import DirectorySummary, generate_all
from whet.envs.ordebug.gurobi import disagreement
from whet.envs.ordebug.ladder import CELLS
from whet.errors import WhetError, nearest


def cells_named(names: Sequence[str]) -> tuple[str, ...]:
    """The cells of those names in their order; all of them without a name."""
    for name in names:
        if name not in CELL_NAMES:
            raise WhetError(f"there is no cell {name!r}.{nearest(name, CELL_NAMES)}")
    return tuple(name for name in CELL_NAMES if not names or name in names)


def generate_cells(
    out: Path,
    *,
    n: int,
    seed: int,
    processes: int,
    cells: Sequence[str],
    every: bool,
    tick: Callable[[int, int], None] | None = None,
) -> str:
    """Write the cells; says what was written."""
    if bool(cells) == every:
        raise WhetError("say which cells to generate: --all, or --cell type_A_easy (once for each)")
    wanted = cells_named(cells)
    chosen = tuple(cell for cell in CELLS if cell.name in wanted)
    written = generate_all(out, n, seed, cells=chosen, processes=processes, progress=tick)
    return "\n".join(
        [*(_line(cell) for cell in written), f"{sum(cell.problems for cell in written)} problems in {out}"]
    )


def _line(cell: DirectorySummary) -> str:
    low, high = cell.rows
    return (
        f"{cell.cell.name:<15} {cell.problems:>5} problems, {low} to {high} rows, "
        f"{cell.suspects:.1f} suspects, repaired by dropping {100 * cell.drop_first_rate:.0f} %"
    )


def inspect(folder: Path, *, gurobi: bool = False) -> str:
    """What `ordebug:FOLDER` would hold, what is left out and why, and where Gurobi disagrees if it is asked."""
    found: ImportResult = load_directory(folder)
    lines = [
        f"{instance.id}  type {instance.kind} {instance.difficulty:<6}  {len(instance.sabotaged.rows):>3} rows "
        f"{len(instance.sabotaged.columns):>3} variables, subsystem of {instance.certificate.subsystem.size}"
        for instance in found.instances
    ]
    lines += [f"refused: {problem}" for problem in found.refused]
    if gurobi:
        told = [(instance.id, disagreement(instance)) for instance in found.instances]
        lines += [f"{name}: {why}" for name, why in told if why]
        lines.append(f"Gurobi agrees on {sum(not why for _, why in told)} of {len(told)}")
    return "\n".join([*lines, f"{len(found.instances)} problems can be used, {len(found.refused)} are refused"])
