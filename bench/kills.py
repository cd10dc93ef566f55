"""A run with every option on that dies at every event of its ledger, and is started again: do the files end the same?

    python bench/kills.py [--quick] [--json FILE] [--workers N] [--every K] [--seconds S]

The runs are those of `tests/all_on.py`: one with an optimiser (evidence and probes, credit, halves, votes, feedback and
a second try, reminders, slow update, memo, guards, spending), one with worked examples (fixed sets beside a bank). An
event is a commit of the ledger; a run dies just before it and just after it. Compared are all files of the run, what a
clock says apart. `--every` takes one event in K. With `--seconds` no kill is begun after so long; they are tried in an
order by chance, so that those which were tried are a sample of all.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

from all_on import ALL_ON
from crashes import Crash, crashing
from rows import Row, report

from whet.ledger.writer import LedgerWriter

COMMIT = LedgerWriter._commit
NEVER = 1_000_000


@contextlib.contextmanager
def dying(at: int, before: bool) -> Iterator[list[int]]:
    """Within it, a run dies at that event; the count is of the events so far."""
    setter: Any = SimpleNamespace(setattr=setattr)
    try:
        yield crashing(setter, at, before=before)
    finally:
        LedgerWriter._commit = COMMIT  # type: ignore[method-assign]


def digests(name: str, folder: Path) -> dict[str, str]:
    """The run in a folder, to its end, and what its files say."""
    return {file: hashlib.sha256(data).hexdigest() for file, data in ALL_ON[name](folder).items()}


def whole(name: str) -> tuple[dict[str, str], int]:
    """The files of a run that nothing disturbs, and how many events it has."""
    with tempfile.TemporaryDirectory() as folder, dying(NEVER, True) as count:
        return digests(name, Path(folder) / "run"), count[0]


def killed(name: str, expected: dict[str, str], stop: float, kill: tuple[int, bool]) -> list[str] | None:
    """Files that differ after a kill and a second start; None where time was up before."""
    if time.time() > stop:
        return None
    with tempfile.TemporaryDirectory() as folder:
        with dying(*kill), contextlib.suppress(Crash):
            ALL_ON[name](Path(folder) / "run")
        found = digests(name, Path(folder) / "run")
    return sorted(file for file in expected.keys() | found.keys() if expected.get(file) != found.get(file))


def rows(options: argparse.Namespace) -> Iterator[Row]:
    for at, name in enumerate(ALL_ON):
        expected, events = whole(name)
        kills = [(event, before) for event in range(1, events + 1, options.every) for before in (True, False)]
        random.Random(name).shuffle(kills)
        stop = time.time() + options.seconds / (len(ALL_ON) - at)
        began = time.time()
        with ProcessPoolExecutor(options.workers) as pool:
            found = list(pool.map(partial(killed, name, expected, stop), kills))
        options.seconds -= time.time() - began
        tried = [(kill, files) for kill, files in zip(kills, found, strict=True) if files is not None]
        differ = [(kill, files) for kill, files in tried if files]
        for (event, before), files in differ[:5]:
            print(f"{name}: {'before' if before else 'after'} event {event}: {', '.join(files[:6])}", file=sys.stderr)
        told = f"{len(tried)} of {2 * events} kills, {events} events, {len(expected)} files compared after each"
        yield Row(
            f"kills/{name}", len(differ), "kills that leave a trace", 0, not differ and bool(tried), condition=told
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one event in 200")
    parser.add_argument("--json", type=Path, help="also write the rows here")
    parser.add_argument("--workers", type=int, default=1, help="kills at a time, a process each")
    parser.add_argument("--every", type=int, default=1, help="one event in so many")
    parser.add_argument("--seconds", type=float, default=36_000.0, help="no kill is begun after so long")
    options = parser.parse_args()
    options.every = 200 if options.quick else options.every
    report(rows(options), options.json)


if __name__ == "__main__":
    main()
