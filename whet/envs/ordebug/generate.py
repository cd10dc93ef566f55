"""The benchmark as files: twelve directories of problems, each with `dataset.json` and its models as MPS.

The same number and seed give the same bytes, whatever the number of processes.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from whet.envs import splits
from whet.envs.ordebug.cache import generator_digest
from whet.envs.ordebug.edits import SetBounds, SetType
from whet.envs.ordebug.instance import Instance, certificate_to_data, fault_to_data, specification_to_data
from whet.envs.ordebug.ladder import CELLS, Cell
from whet.envs.ordebug.maker import make
from whet.envs.ordebug.mps import write_mps
from whet.errors import WhetError

SUMMARY = "generation_summary.json"

Progress = Callable[[int, int], None]
"""Told after each problem: how many are done, of how many."""


@dataclass(frozen=True, slots=True)
class DirectorySummary:
    """The figures of one written directory of problems."""

    cell: Cell
    problems: int
    suspects: float
    """How many elements could be the wrong one, on average over problems."""
    drop_first_rate: float
    rows: tuple[int, int]
    """The fewest and the most rows of a problem."""


def generate_all(
    out: Path,
    n: int = 200,
    seed: int = 2026,
    *,
    cells: Sequence[Cell] = CELLS,
    processes: int = 2,
    progress: Progress | None = None,
) -> tuple[DirectorySummary, ...]:
    """Write `n` problems for each cell under `out`, which must be empty or new."""
    if n < 1:
        raise WhetError(f"ordebug generate: --n {n} is no number of problems; take 1 or more")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise WhetError(f"ordebug generate: {out} is not empty; choose another --out, or delete it first")
    jobs = [(cell, index, seed) for cell in cells for index in range(n)]
    made: dict[Cell, list[Instance]] = {cell: [] for cell in cells}
    seen: set[str] = set()
    for done, ((cell, _, _), instance) in enumerate(zip(jobs, _made(jobs, processes), strict=True), start=1):
        made[cell].append(_unseen(instance, cell, len(made[cell]), n, seed, seen))
        if progress is not None:
            progress(done, len(jobs))
    written = tuple(write_cell(out / cell.name, cell, instances, seed) for cell, instances in made.items())
    _write_summary(out, written, seed)
    return written


def write_cell(folder: Path, cell: Cell, instances: Sequence[Instance], seed: int) -> DirectorySummary:
    """One directory: a record for each problem, and its model as it is shown."""
    models = folder / "models"
    models.mkdir(parents=True, exist_ok=True)
    for instance in instances:
        (models / f"{instance.id}.mps").write_text(write_mps(instance.sabotaged), encoding="utf-8")
    dataset = {
        "dataset_name": cell.name,
        "description": "infeasible optimisation models, each with its specification, faults and certificate",
        "format": "whet-ordebug-2",
        "generator": generator_digest(),
        "seed": seed,
        "num_problems": len(instances),
        "error_types": [cell.kind],
        "difficulty_level": cell.difficulty,
        "problems": [record(instance) for instance in instances],
    }
    (folder / "dataset.json").write_bytes(orjson.dumps(dataset, option=orjson.OPT_INDENT_2) + b"\n")
    told = [instance.certificate for instance in instances]
    sizes = [len(instance.sabotaged.rows) for instance in instances]
    return DirectorySummary(
        cell,
        len(instances),
        sum(min(map(len, certificate.suspects)) for certificate in told) / len(told),
        sum(certificate.drop_first for certificate in told) / len(told),
        (min(sizes), max(sizes)),
    )


def record(instance: Instance) -> dict[str, Any]:
    """A problem in the published form, with what that form cannot say beside it."""
    told = instance.certificate
    wrong = [edit.column if isinstance(edit, SetBounds | SetType) else edit.row for edit in instance.repair]
    shown = told.subsystem
    return {
        "problem_id": instance.id,
        "model_file": f"models/{instance.id}.mps",
        "problem_nl": instance.prose.text,
        "content": instance.content,
        "prose": specification_to_data(instance.prose),
        "table": specification_to_data(instance.table),
        "error_type": instance.kind,
        "ground_truth_fix": ". ".join(fault.text for fault in instance.faults),
        "target_name": ",".join(wrong),
        "initial_status": "INFEASIBLE",
        "original_status": "OPTIMAL",
        "original_objective": told.original_objective,
        "n_variables": len(instance.sabotaged.columns),
        "n_constraints": len(instance.sabotaged.rows),
        "iis_constraints": list(shown.row_names),
        "iis_bounds": list(shown.column_names),
        "iis_size": shown.size,
        "difficulty": instance.difficulty,
        "problem_type": "mip" if instance.original.mixed else "lp",
        "family": instance.family,
        "split": splits.split_of(instance.content),
        "min_edits": told.min_edits,
        "faults": [fault_to_data(fault) for fault in instance.faults],
        "certificate": certificate_to_data(told),
    }


def _made(jobs: Sequence[tuple[Cell, int, int]], processes: int) -> Iterator[Instance]:
    if processes <= 1:
        yield from map(_make, jobs)
        return
    # Spawned, not forked: the caller may hold threads of its own.
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(_make, jobs, chunksize=4)


def _make(job: tuple[Cell, int, int]) -> Instance:
    cell, index, seed = job
    return make(cell, None, index, seed)


def _unseen(instance: Instance, cell: Cell, index: int, n: int, seed: int, seen: set[str]) -> Instance:
    """The instance, or where its problem has been used already, the first further one that has not."""
    further = index
    while instance.content in seen:
        further += n
        instance = make(cell, None, further, seed)
    seen.add(instance.content)
    return instance


def _write_summary(out: Path, written: Sequence[DirectorySummary], seed: int) -> None:
    summary = {
        "seed": seed,
        "generator": generator_digest(),
        "problems": sum(summary.problems for summary in written),
        "cells": {
            summary.cell.name: {
                "problems": summary.problems,
                "suspects": round(summary.suspects, 4),
                "drop_first_rate": round(summary.drop_first_rate, 4),
                "rows": list(summary.rows),
            }
            for summary in written
        },
    }
    (out / SUMMARY).write_bytes(orjson.dumps(summary, option=orjson.OPT_INDENT_2) + b"\n")
