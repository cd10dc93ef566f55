"""Environment `ordebug`: problems and certificates, the panel of adversaries for every cell, policies, pace, imports.

`--quick` takes a few problems of each cell; `--pace` measures steps a second alone, `--panel` the panel alone,
`--workers N` of its problems at a time; `--only NAME ...` takes the groups whose names begin so; `--model ADDRESS` asks
a language model alone. `--write FILE` keeps the figures, `--render FILE` puts them into docs/ordebug.md without
measuring. What the panel has seen is kept problem by problem under `--notebook DIR` (default: the user's cache):
started again, it goes on where it stopped. `--within SECONDS` ends it early, with the problems that there are. Needs
the extra `ordebug-bench` (scikit-learn, PuLP with CBC); runs from the repository's root with PYTHONPATH=. where the
package is not installed.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from statistics import fmean

import ordebug_cbc as cbc
import ordebug_model
import orjson
from ordebug_model import ModelRow, model_rows
from ordebug_notebook import Notebook, gathered
from ordebug_opinion import Group
from ordebug_panel import COMPILED, MARGIN, PanelRow, markdown, panel_row
from ordebug_play import iis_milliseconds, pace, repaired, two_against_one
from rows import Row, arguments, report

from whet.envs.ordebug.cache import default_folder, generator_digest
from whet.envs.ordebug.certificate import REMOVAL_ROWS, verify
from whet.envs.ordebug.directory import load_directory
from whet.envs.ordebug.edits import apply_all
from whet.envs.ordebug.families import HELD_OUT
from whet.envs.ordebug.generate import generate_all
from whet.envs.ordebug.iis import find_iis, is_irreducible
from whet.envs.ordebug.instance import Instance
from whet.envs.ordebug.ladder import CELLS, OMISSIONS, RUNGS, SIZES, SUBTLETIES, Cell, rung
from whet.envs.ordebug.maker import make
from whet.envs.ordebug.solver import feasible, solve
from whet.types import SPLITS, Split

SEED = 2026
HELD_OUT_SEED = 81_306_427
"""Problems of this seed are looked at by the panel alone: nothing was tuned on them.

Not so 77, on which phrases were tuned; 20,261,115 and 60,417,283 were measured on few problems.
"""

CELL_PROBLEMS = {"easy": 400, "medium": 200, "hard": 100}
RUNG_PROBLEMS = {"tiny": 200, "small": 100, "medium": 60, "large": 20, "huge": 5}
"""Problems of a cell, and of a rung, in the panel. Some two hours of CPU time together."""

QUICK = 8
"""Problems of a group where `--quick` was given."""

HELD_OUT_PROBLEMS = 100
LARGEST = 5000
"""Rows of the largest models that the oracle is asked to repair."""

SECOND = 5
"""Problems of a cell that another engine is asked about."""

DOCS = Path(__file__).resolve().parents[1] / "docs" / "ordebug.md"
BEGIN, END = "<!-- panel: bench/ordebug.py --render -->", "<!-- end of panel -->"
PROCESSES = 2
SAMPLE = Path(__file__).resolve().parents[1] / "tests" / "envs" / "ordebug" / "data" / "sample"


def removal_holds(instance: Instance) -> bool:
    """Whether a subsystem found afresh is irreducible, by removing each member."""
    iis = find_iis(instance.sabotaged)
    return iis is not None and is_irreducible(instance.sabotaged, iis)


def content_at(wanted: tuple[Cell, Split, int]) -> str:
    return make(*wanted).content


def sound(instance: Instance) -> bool:
    return not verify(instance)


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


def panel_groups(quick: bool, only: Sequence[str]) -> list[Group]:
    """The models that take longest first; the twelve cells; the rungs, fault types in turn; missing rows; other trades.

    Classifiers need many problems, and easy ones are made fast.
    """
    huge = tuple(made for made in RUNGS if made.sizes == ("huge",) and made.subtlety == "near")
    groups = [] if quick else [Group("huge_near_5000", huge[:4], 4, rows=LARGEST, second=0)]
    for size in reversed(SIZES):
        for subtlety in SUBTLETIES:
            there = tuple(made for made in RUNGS if made.sizes == (size,) and made.subtlety == subtlety)
            name = f"{size}_{subtlety}"
            if there:
                groups.append(Group(name, there, RUNG_PROBLEMS[size], second=0 if size == "huge" else SECOND))
    groups += [Group(cell.name, (cell,), CELL_PROBLEMS[cell.difficulty]) for cell in CELLS]
    groups += [Group(made.name, (made,), RUNG_PROBLEMS[made.sizes[0]]) for made in OMISSIONS[:-1]]
    for size in ("tiny", "small"):
        there = tuple(made for made in RUNGS if made.sizes == (size,) and made.subtlety == "near")
        groups.append(Group(f"{size}_near_held_out", there, HELD_OUT_PROBLEMS, families=HELD_OUT))
    if quick:
        groups = [replace(group, problems=QUICK, second=1) for group in groups if group.name.startswith("type")]
    return [group for group in groups if not only or group.name.startswith(tuple(only))]


def panel_rows(chosen: argparse.Namespace, kept: list[PanelRow]) -> Iterator[Row]:
    """The panel; what is kept goes into a file, and from there into the documentation."""
    groups = panel_groups(chosen.quick, chosen.only)
    notebook = Notebook(chosen.notebook)
    context = multiprocessing.get_context("spawn")
    found = list(gathered(groups, chosen.seed, notebook, chosen.workers, chosen.within))
    with ProcessPoolExecutor(chosen.workers, mp_context=context) as pool:
        for told in [pool.submit(panel_row, group.name, opinions) for group, opinions in found]:
            row = told.result()
            kept.append(row)
            if chosen.write:
                write_panel(sorted(kept, key=lambda row: _place(row, groups)), chosen)
            yield from _bars(row)


def _place(row: PanelRow, groups: Sequence[Group]) -> int:
    """Where a row stands in the table: the twelve cells first, then from small to large."""
    order = [group.name for group in groups]
    named = [cell.name for cell in CELLS]
    return named.index(row.name) if row.name in named else len(named) + len(order) - order.index(row.name)


def _bars(row: PanelRow) -> Iterator[Row]:
    said = f"{row.problems} problems"
    if row.best is not None:
        name, value = row.best
        said += f", chance {row.figures['chance']:.2f}, best {name} {value:.2f} ± {row.error:.2f}"
    holds = {"yes": True, "no": False}.get(row.verdict)
    yield Row(f"panel/{row.name}/above_chance", row.above_chance, "share", MARGIN, holds, condition=said)
    if "patterns" in row.figures:
        patterns = row.figures["patterns"]
        yield Row(f"panel/{row.name}/patterns", patterns, "repaired", COMPILED, patterns < COMPILED, condition=said)
        yield Row(f"panel/{row.name}/grammar", row.figures["grammar"], "repaired", condition="knows both voices")
    for name in ("oracle", "sound", "agrees"):
        if name in row.figures:
            share = row.figures[name]
            n = row.asked if name == "agrees" else row.problems
            yield Row(f"panel/{row.name}/{name}", share, "share", 1.0, share == 1.0, condition=f"{n} problems")


def agreement_rows(instances: Sequence[Instance], pool: ProcessPoolExecutor) -> Iterator[Row]:
    """CBC on a sample of every cell."""
    for cell in CELLS:
        there = [one for one in instances if (one.kind, one.difficulty) == (cell.kind, cell.difficulty)][:SECOND]
        share = fmean(pool.map(cbc.agrees, there))
        yield Row(f"agreement/{cell.name}", share, "share", 1.0, share == 1.0, condition=f"{len(there)} problems, CBC")


def baseline_rows(instances: Sequence[Instance], pool: ProcessPoolExecutor) -> Iterator[Row]:
    dropped = fmean(pool.map(repaired, [(instance, "drop-first-iis") for instance in instances], chunksize=8))
    said = f"{len(instances)} problems of all cells, played"
    yield Row("baselines/drop_first_iis", dropped, "repaired", 0.15, dropped < 0.15, condition=said)
    known = fmean(pool.map(repaired, [(instance, "oracle") for instance in instances], chunksize=8))
    yield Row("baselines/oracle", known, "repaired", 1.0, known == 1.0, condition=said)


def pace_rows(instances: Sequence[Instance], quick: bool) -> Iterator[Row]:
    easy = [make(rung("tiny", "near", "ABCD"[place % 4]), None, place, SEED) for place in range(8 if quick else 20)]
    steps = pace(easy, 1 if quick else 5).per_cpu_second
    yield Row("pace/steps_a_core", steps, "steps/s", 500, steps >= 500, condition=f"{len(easy)} tiny problems")
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


def huge_rows(pool: ProcessPoolExecutor) -> Iterator[Row]:
    """Models of 500 rows and more: one of each type, repaired by the oracle."""
    made = list(pool.map(make, [rung("huge", "near", kind) for kind in "ABCD"], [None] * 4, range(4)))
    known = fmean(pool.map(repaired, [(instance, "oracle") for instance in made]))
    sizes = [len(instance.sabotaged.rows) for instance in made]
    yield Row("huge/oracle", known, "repaired", 1.0, known == 1.0, condition=f"{min(sizes)} to {max(sizes)} rows")


def measured(chosen: argparse.Namespace, kept: list[PanelRow]) -> Iterator[Row]:
    if chosen.pace or chosen.model:
        yield from asked_model(chosen) if chosen.model else pace_rows([], chosen.quick)
        return
    n = 1 if chosen.quick else 20
    yield from panel_rows(chosen, kept)
    if chosen.panel:
        return
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as name, ProcessPoolExecutor(PROCESSES, mp_context=context) as pool:
        yield from generation_rows(Path(name), n)
        instances = load_directory(Path(name) / "first").instances
        yield from certificate_rows(instances, n, pool)
        yield from agreement_rows(instances, pool)
        yield from split_rows(1 if chosen.quick else 4, pool)
        yield from baseline_rows(instances, pool)
        yield from pace_rows(instances, chosen.quick)
        if not chosen.quick:
            yield from huge_rows(pool)
    yield from import_rows()


def asked_model(chosen: argparse.Namespace) -> Iterator[Row]:
    """A model on the rungs that it could climb; its rows stand beside the panel's in the file."""
    rows = []
    asked = (QUICK // 2, 1) if chosen.quick else (4 * QUICK, 3)
    for row in model_rows(chosen.model, asked[0], chosen.notebook / "runs", asked[1]):
        rows.append(row)
        said = f"{row.problems} problems, {row.submitted:.0%} submitted, {row.malformed:.0%} of steps malformed"
        yield Row(f"model/{row.rung}/{row.form}", row.repaired, "repaired", condition=said)
    if chosen.write:
        keep(chosen.write, models=[asdict(row) for row in rows])


def write_panel(rows: Sequence[PanelRow], chosen: argparse.Namespace) -> None:
    """The figures so far, in a file."""
    keep(chosen.write, seed=chosen.seed, generator=generator_digest(), rows=[asdict(row) for row in rows])


def keep(file: Path, **parts: object) -> None:
    """Put parts into a file of figures, the others left as they are."""
    held = orjson.loads(file.read_bytes()) if file.exists() else {}
    file.write_bytes(orjson.dumps(held | parts, option=orjson.OPT_INDENT_2) + b"\n")


def render(file: Path) -> None:
    """Put the figures of a file between the panel's marks in the documentation."""
    held = orjson.loads(file.read_bytes())
    tables = markdown([PanelRow(**row) for row in held["rows"]])
    if "seed" in held:
        tables += f"\n\nSeed {held['seed']:,}."
    if "models" in held:
        tables += "\n\n" + ordebug_model.markdown([ModelRow(**row) for row in held["models"]])
    text = DOCS.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    DOCS.write_text(f"{before}{BEGIN}\n{tables}\n{END}{after}", encoding="utf-8")


def own_arguments() -> argparse.Namespace:
    """The flags of this bench, and the common ones."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--panel", action="store_true")
    parser.add_argument("--pace", action="store_true")
    parser.add_argument("--model")
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--workers", type=int, default=PROCESSES)
    parser.add_argument("--within", type=float, default=math.inf)
    parser.add_argument("--seed", type=int, default=HELD_OUT_SEED)
    parser.add_argument("--notebook", type=Path, default=default_folder().parent / "ordebug-panel")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--render", type=Path)
    chosen, rest = parser.parse_known_args()
    sys.argv[1:] = rest
    return argparse.Namespace(**vars(chosen), **vars(arguments(__doc__)))


if __name__ == "__main__":
    chosen = own_arguments()
    if chosen.render:
        render(chosen.render)
    else:
        report(measured(chosen, []), chosen.json)
