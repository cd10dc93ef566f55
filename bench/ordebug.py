"""Environment `ordebug`: the generated problems, their certificates and difficulty, the baselines, pace, the import.

The whole benchmark is 200 problems for each of the twelve cells; `--quick` takes 2 for each.
"""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from pathlib import Path
from statistics import fmean

from ordebug_play import iis_milliseconds, pace, two_against_one
from rows import Row, arguments, report

from whet.envs.ordebug.certificate import REMOVAL_ROWS, verify
from whet.envs.ordebug.directory import load_directory
from whet.envs.ordebug.edits import apply_all
from whet.envs.ordebug.environment import OrDebug, task_of
from whet.envs.ordebug.generate import generate_all
from whet.envs.ordebug.iis import find_iis, is_irreducible
from whet.envs.ordebug.instance import CELLS, DIFFICULTIES, FAULT_KINDS, Cell, Instance
from whet.envs.ordebug.maker import make
from whet.envs.ordebug.play import OrDebugSettings
from whet.envs.ordebug.solver import feasible, solve
from whet.rollout.drive import drive
from whet.rollout.workbench import Workbench
from whet.types import SPLITS, Label, Split

SEED = 2026
PROCESSES = 2
SAMPLE = Path(__file__).resolve().parents[1] / "tests" / "envs" / "ordebug" / "data" / "sample"
SETTINGS = OrDebugSettings(max_steps=40)


def removal_holds(instance: Instance) -> bool:
    """Whether a subsystem found afresh is irreducible, by removing each member."""
    iis = find_iis(instance.sabotaged)
    return iis is not None and is_irreducible(instance.sabotaged, iis)


def content_at(wanted: tuple[Cell, Split, int]) -> str:
    return make(*wanted).content


def sound(instance: Instance) -> bool:
    return not verify(instance)


def repaired(played: tuple[Instance, str]) -> bool:
    """Whether a reference policy repairs the model in the play."""
    instance, policy = played
    task = task_of(instance, "test", 0, Label(instance.kind, instance.difficulty), SETTINGS)
    environment = OrDebug("ordebug", SETTINGS, cells=(CELLS[0].name,))
    answer = environment.baselines()[policy]
    with Workbench() as perform:
        driven = drive(environment.play(task), lambda said, _: answer(task, said), perform)
    return driven.score.hard == 1


def generation_rows(folder: Path, n: int) -> Iterator[Row]:
    """Write the directories, and a part of them once more with another number of processes."""
    began = time.perf_counter()
    written = generate_all(folder / "first", n, SEED, processes=PROCESSES)
    seconds = time.perf_counter() - began
    total = sum(cell.problems for cell in written)
    said = f"{PROCESSES} processes, n = {n}"
    yield Row("generate/problems", total, "problems", 12.0 * n, total == 12 * n, condition=said)
    least = min(cell.problems for cell in written)
    yield Row("generate/least_full_cell", least, "problems", n, least == n, condition=said)
    yield Row("generate/minutes", seconds / 60, "minutes", condition=f"{said}, wall clock")
    few = min(n, 3)
    generate_all(folder / "second", few, SEED, processes=1)
    differ = sum(
        (folder / "first" / path.relative_to(folder / "second")).read_bytes() != path.read_bytes()
        for path in (folder / "second").rglob("*.mps")
    )
    yield Row("generate/differing_models", differ, "models", 0, differ == 0, condition=f"{12 * few} made again")


def certificate_rows(instances: Sequence[Instance], n: int, pool: ProcessPoolExecutor) -> Iterator[Row]:
    held = fmean(pool.map(sound, instances, chunksize=8))
    yield Row("certificates/verify_on_reload", held, "share", 1.0, held == 1.0 and len(instances) == 12 * n)
    small = [instance for instance in instances if len(instance.sabotaged.rows) <= REMOVAL_ROWS]
    share = fmean(pool.map(removal_holds, small, chunksize=8))
    said = f"{len(small)} problems of up to {REMOVAL_ROWS} rows"
    yield Row("subsystems/irreducible_by_removal", share, "share", 1.0, share == 1.0, condition=said)
    repeats = len(instances) - len({instance.content for instance in instances})
    yield Row("problems/repeated_contents", repeats, "contents", 0, repeats == 0)
    for name, count in (
        ("outside_subsystem", sum(instance.certificate.outside_subsystem > 0 for instance in instances)),
        ("needs_integrality", sum(instance.certificate.needs_integrality for instance in instances)),
        ("compound", sum(instance.certificate.min_edits > 1 for instance in instances)),
    ):
        yield Row(f"problems/{name}", count / len(instances), "share")


def split_rows(each: int, pool: ProcessPoolExecutor) -> Iterator[Row]:
    """What the environment would draw for each split: no problem in two of them, whatever was broken in it."""
    wanted = [(cell, split, index) for split in SPLITS for cell in CELLS for index in range(each)]
    homes: dict[str, set[Split]] = {}
    for (_, split, _), content in zip(wanted, pool.map(content_at, wanted, chunksize=4), strict=True):
        homes.setdefault(content, set()).add(split)
    repeats = sum(len(there) > 1 for there in homes.values())
    yield Row("splits/contents_in_two", repeats, "contents", 0, repeats == 0, condition=f"{len(wanted)} drawn")


def difficulty_rows(instances: Sequence[Instance]) -> Iterator[Row]:
    """The least gap between neighbouring difficulties of each type, in points of the search-repair rate."""
    for kind in FAULT_KINDS:
        rates = [
            100.0
            * fmean(
                instance.certificate.search_rate
                for instance in instances
                if (instance.kind, instance.difficulty) == (kind, level)
            )
            for level in DIFFICULTIES
        ]
        gap = min(easier - harder for easier, harder in pairwise(rates))
        said = ", ".join(f"{level} {rate:.1f} %" for level, rate in zip(DIFFICULTIES, rates, strict=True))
        yield Row(f"difficulty/separation_{kind}", gap, "points", 15.0, gap >= 15.0, condition=said)


def baseline_rows(instances: Sequence[Instance], pool: ProcessPoolExecutor) -> Iterator[Row]:
    hard = [instance for instance in instances if instance.difficulty == "hard"]
    dropped = fmean(pool.map(repaired, [(instance, "drop-first-iis") for instance in hard], chunksize=8))
    said = f"{len(hard)} hard problems, played"
    yield Row("baselines/drop_first_iis_on_hard", dropped, "repaired", 0.10, dropped < 0.10, condition=said)
    known = fmean(pool.map(repaired, [(instance, "oracle") for instance in hard], chunksize=8))
    yield Row("baselines/oracle_on_hard", known, "repaired", 1.0, known == 1.0, condition=said)


def pace_rows(instances: Sequence[Instance], quick: bool) -> Iterator[Row]:
    easy = [instance for instance in instances if instance.difficulty == "easy" and not instance.sabotaged.mixed][:20]
    steps = pace(easy, 1 if quick else 5).per_cpu_second
    yield Row("pace/steps_a_core", steps, "steps/s", 300, steps >= 300, condition=f"{len(easy)} easy linear problems")
    by_wall, by_cpu = two_against_one(easy[:10], 1 if quick else 5)
    yield Row("pace/two_processes_by_cpu", by_cpu, "times one", 1.7, by_cpu >= 1.7, condition="CPU time")
    yield Row("pace/two_processes_by_wall", by_wall, "times one", condition="wall clock; an idle machine is needed")
    sized = [instance.sabotaged for instance in instances if 40 <= len(instance.sabotaged.rows) <= 60]
    mean = fmean(iis_milliseconds(sized)) if sized else 0.0
    holds = mean < 80 if sized else None
    yield Row("pace/get_iis_at_50_rows", mean, "ms", 80, holds, condition=f"{len(sized)} problems of 40 to 60 rows")


def import_rows() -> Iterator[Row]:
    found = load_directory(SAMPLE)
    total = len(found.instances) + len(found.refused)
    for name, count in (
        ("load", len(found.instances)),
        ("infeasible", sum(feasible(instance.sabotaged) is False for instance in found.instances)),
        ("irreducible", sum(map(removal_holds, found.instances))),
        ("oracle_restores_objective", sum(map(_restored, found.instances))),
    ):
        yield Row(f"import/{name}", count, "problems", total, count == total, condition=f"{total} published problems")


def _restored(instance: Instance) -> bool:
    best = solve(apply_all(instance.sabotaged, instance.repair)).objective
    recorded = instance.certificate.original_objective
    return (
        best is not None and abs(best - recorded) <= 1e-6 * max(1.0, abs(recorded)) and repaired((instance, "oracle"))
    )


def measured(quick: bool) -> Iterator[Row]:
    n = 2 if quick else 200
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as name, ProcessPoolExecutor(PROCESSES, mp_context=context) as pool:
        yield from generation_rows(Path(name), n)
        instances = load_directory(Path(name) / "first").instances
        yield from certificate_rows(instances, n, pool)
        yield from split_rows(1 if quick else 10, pool)
        yield from difficulty_rows(instances)
        yield from baseline_rows(instances, pool)
        yield from pace_rows(instances, quick)
    yield from import_rows()


if __name__ == "__main__":
    chosen = arguments(__doc__)
    report(measured(chosen.quick), chosen.json)
