"""Opinions on disk, and how they are gathered in many processes: a panel that was interrupted goes on where it stopped.

Functions for `bench/ordebug.py`.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

import orjson
from ordebug_opinion import Group, Job, Opinion, opinion, ordered

from whet.envs.ordebug import maker
from whet.keys import digest

SAYS = 10.0
"""Seconds between two lines about how far the panel is."""

GRACE = 60.0
"""Seconds that problems in hand are given once time is up."""

Held = dict[int, Opinion]
"""Opinions by the place of the problem in its group."""


@dataclass(frozen=True, slots=True)
class Notebook:
    """A file for each group, a line for each problem, in the order in which they came in."""

    folder: Path

    @property
    def _digest(self) -> str:
        """The code that problems and opinions come from; with another one, everything is looked at anew."""
        room, bench = Path(maker.__file__).parent, Path(__file__).parent
        files = [*(room / "prose").rglob("*.py"), *(room / "families").glob("*.py"), *(room / "faults").glob("*.py")]
        files += [room / "maker.py", room / "omission.py", *bench.glob("ordebug_[aco]*.py")]
        return digest(*(path.read_text(encoding="utf-8") for path in sorted(files)))[:12]

    def _path(self, name: str, seed: int) -> Path:
        return self.folder / f"{name}-{seed}-{self._digest}.jsonl"

    def held(self, name: str, seed: int) -> Held:
        path = self._path(name, seed)
        lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
        found = [orjson.loads(line) for line in lines if line.endswith(b"\n")]
        return {place: Opinion(**said) for place, said in found}

    def keep(self, name: str, seed: int, place: int, made: Opinion) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._path(name, seed).open("ab") as file:
            file.write(orjson.dumps((place, made)) + b"\n")


def gathered(
    groups: Sequence[Group], seed: int, notebook: Notebook, workers: int, within: float
) -> Iterator[tuple[Group, list[Opinion]]]:
    """Each group with what was said about its problems: as soon as it is complete, the others when time is up.

    `within`: seconds by the clock after which no further problem is begun. Those begun are waited for, so what there is
    does not depend on how long a problem took; after `GRACE` seconds the rest is given up, by name.
    """
    began = time.monotonic()
    held = {group.name: notebook.held(group.name, seed) for group in groups}
    jobs = [job for job in ordered(groups, seed) if job.place not in held[job.group.name]]
    print(f"{len(jobs)} problems to look at, {workers} at a time", file=sys.stderr, flush=True)
    told: set[str] = set()
    said = began
    for done, (job, made) in enumerate(_looked_at(jobs, workers, began + within), start=1):
        there, now = held[job.group.name], time.monotonic()
        notebook.keep(job.group.name, seed, job.place, made)
        there[job.place] = made
        if now - said > SAYS:
            said = now
            print(f"{done} of {len(jobs)} after {now - began:.0f} s, {job.group.name}", file=sys.stderr, flush=True)
        if job.group.name not in told and all(place in there for place in range(job.group.problems)):
            told.add(job.group.name)
            yield job.group, _in_order(there, job.group)
    for group in groups:
        if group.name not in told and held[group.name]:
            yield group, _in_order(held[group.name], group)


def _in_order(held: Held, group: Group) -> list[Opinion]:
    return [held[place] for place in sorted(held) if place < group.problems]


def _looked_at(jobs: Sequence[Job], workers: int, until: float) -> Iterator[tuple[Job, Opinion]]:
    """Jobs with their opinions, as they come in."""
    if workers <= 1:
        for job in jobs:
            if time.monotonic() > until:
                return
            yield job, opinion(job)
        return
    # Spawned, not forked: scikit-learn and HiGHS may hold threads.
    pool = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))
    left, begun = iter(jobs), dict[Future[Opinion], Job]()
    try:
        while time.monotonic() < until + GRACE:
            while len(begun) < workers + 2 and time.monotonic() < until and (job := next(left, None)) is not None:
                begun[pool.submit(opinion, job)] = job
            if not begun:
                return
            for future in wait(begun, timeout=SAYS, return_when=FIRST_COMPLETED).done:
                job, failed = begun.pop(future), future.exception()
                if failed is None:
                    yield job, future.result()
                else:
                    print(f"FAILED {job.group.name} {job.place}: {failed!r}", file=sys.stderr, flush=True)
        names = ", ".join(f"{job.group.name} {job.place}" for job in begun.values())
        print(f"time is up, not waited for: {names}", file=sys.stderr, flush=True)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in multiprocessing.active_children():
            child.terminate()
