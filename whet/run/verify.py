"""Whether a run is what its ledger says: every row as written, columns those of transcripts, files made of it."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from whet import wire
from whet.errors import WhetError, typed
from whet.ledger.copies import backup_ledger, salvage_ledger
from whet.ledger.proof import anchor_line, ledger_findings
from whet.ledger.rows import rollout_columns
from whet.ledger.store import FILE, Ledger, existing
from whet.run.compose import Given
from whet.run.kinds import kind_of
from whet.run.workspace import RUNS, find_run, run_folder

CLOCK = frozenset({"timing", "wall_time_s", "time_s", "total_wall_time_s"})
"""Keys that a clock writes: they differ each time a run is worked off."""

SCORED = frozenset({"hard", "soft", "reward", "reason"})

STOPPED = "stopped"
"""Why the last session ended: a rebuild ends where the ledger does."""

HEAD = "ledger.head"

TENSORS = ("*.safetensors", "*.pt", "*.pth", "*.bin")
"""Files of checkpoints, which no rebuild reads or writes: they can be many gigabytes."""

BY_THE_CLOCK = frozenset({"timing.json"})
"""Files that hold nothing else."""


def verify_run(run: str | Path, runs: Path = RUNS, given: Given = Given(), expect: str = "") -> list[str]:
    """What is wrong with a run of any kind, a line each; empty when all of it agrees.

    `expect` is a head of the ledger that was kept elsewhere: what was written by then must still be there.
    """
    folder = run_folder(run, runs)
    wrong = ledger_findings(existing(folder), expect)
    try:
        with Ledger.unproved(folder) as ledger:
            wrong += _columns(ledger)
    except (WhetError, sqlite3.DatabaseError) as error:
        wrong = wrong or [str(error)]
    return wrong or list(_files(folder, given))


def ledger_head(run: str | Path, runs: Path = RUNS) -> str:
    """The head of a run's ledger as a line to keep elsewhere."""
    folder = find_run(run, runs)
    return anchor_line(existing(folder))


def backup_run(run: str | Path, target: Path, runs: Path = RUNS) -> str:
    """Copy the ledger of a run, under way or not; says what the copy holds."""
    folder = run_folder(run, runs)
    head = backup_ledger(folder, target)
    return f"{target}: {head.link} commits, proved to be what was written; head {head.head}"


def salvage_run(run: str | Path, out: Path, runs: Path = RUNS) -> str:
    """Keep what is sound of a run whose ledger is not; says what that is."""
    found = salvage_ledger(run_folder(run, runs), out)
    if not found.kept["meta"]:
        return f"{out}: {found}; what the run was is lost too: start its command again"
    return f"{out}: {found}; continue with: whet resume {typed(out)}"


def _columns(ledger: Ledger) -> Iterator[str]:
    """Rollouts whose columns, which figures are made of, say something else than their transcripts."""
    policies = ledger.policies()
    for row, body in ledger.rows():
        where = f"{row['split']}/{row['task']} draw {row['draw']} of {row['purpose']}"
        try:
            told = rollout_columns(row["seq"], wire.rollout_in(orjson.loads(body or b"")))
        except (ValueError, LookupError, TypeError, AssertionError):
            yield f"{where}: its transcript cannot be read, or holds no score"
            continue
        apart = [name for name, value in row.items() if told[name] != value]
        if apart:
            name = apart[0]
            graded = "graded " if name in SCORED else ""
            yield f"{where}: {graded}{name} {told[name]!r} in its transcript, listed as {row[name]!r}"
        elif row["policy"] not in policies:
            yield f"{where}: the policy that answered is not on record"


def _files(folder: Path, given: Given) -> Iterator[str]:
    """Readable files that the ledger does not give again, by a rebuild of a copy."""
    with tempfile.TemporaryDirectory(prefix="whet-verify-") as place:
        copy = Path(place) / folder.name
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("*.lock", "gates", *TENSORS))
        moved = str(copy.resolve()).encode(), str(folder.resolve()).encode()
        kind_of(copy).rebuild(copy, replace(given, run=copy))
        for file in sorted(copy.rglob("*")):
            name = file.relative_to(copy)
            if (
                not file.is_file()
                or file.name.startswith((FILE, HEAD, "."))
                or file.name in BY_THE_CLOCK
                or file.suffix == ".lock"
            ):
                continue
            if not (folder / name).is_file():
                yield f"{name}: is missing; 'whet rebuild' writes it"
            elif _content(file, *moved) != _content(folder / name):
                yield f"{name}: is not what the ledger gives; 'whet rebuild' writes it again"


def _content(file: Path, place: bytes = b"", named: bytes = b"") -> Any:
    """What a file says; in a copy, what names the copy's place names the run's."""
    data = file.read_bytes().replace(place, named) if place else file.read_bytes()
    if file.suffix != ".json":
        return data
    try:
        return _without_clock(orjson.loads(data))
    except orjson.JSONDecodeError:
        return data


def _without_clock(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_clock(part) for key, part in value.items() if key not in CLOCK and key != STOPPED}
    return [_without_clock(part) for part in value] if isinstance(value, list) else value
