"""How fast the ledger remembers and reads: single-record commits, commits of a batch, and a scan of a large run.

CPU seconds, since nothing here waits: a commit in WAL mode does not wait for the disk.

python bench/ledger.py [--quick] [--json FILE]
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from rows import Row, arguments, report

from whet.ledger.writer import LedgerWriter
from whet.types import Label, Reply, Rollout, Ticket, Turn, Usage, solved, user


def rollout(index: int) -> Rollout:
    """A record of about 1.5 kB."""
    turn = Turn("target", (user("q" * 560),), Reply("a" * 300, usage=Usage(1, 200, 80, 0, 0.0)))
    ticket = Ticket("eval", "select", index)
    return Rollout(
        ticket, Label("add", "easy"), f"{index:032x}", "r" * 32, "p" * 32, (turn,), solved(), Usage(1, 200, 80)
    )


def write(ledger: LedgerWriter, count: int, batch: int, start: int) -> float:
    """Records a CPU second, record building included."""
    began = time.process_time()
    for first in range(start, start + count, batch):
        ledger.add_rollouts([rollout(first + offset) for offset in range(batch)])
    return count / (time.process_time() - began)


def rows(quick: bool) -> Iterator[Row]:
    large = 100_000 if quick else 1_000_000
    with tempfile.TemporaryDirectory() as folder, LedgerWriter.create(Path(folder) / "run") as ledger:
        each = 5_000 if quick else 20_000
        single = max(write(ledger, each, 1, first) for first in (0, each, 2 * each))
        size = ledger._db.execute("SELECT avg(length(body)) FROM transcripts").fetchone()[0]
        condition = f"one commit a record of {size:.0f} bytes, the best of 3 rounds"
        yield Row("ledger_single_commits", single, "records/CPU s", 10_000, single >= 10_000, condition=condition)
        done = ledger.counts()["rollouts"]
        batch = write(ledger, (large - done) // 16 * 16, 16, done)
        yield Row(
            "ledger_batched_commits", batch, "records/CPU s", 10_000, batch >= 10_000, condition="16 records a commit"
        )
        began = time.process_time()
        scanned = sum(1 for _ in ledger.outcomes())
        seconds = time.process_time() - began
        scaled = seconds * 1_000_000 / scanned
        condition = f"{scanned:,} outcomes in {seconds:.2f} CPU s, scaled to 10^6"
        yield Row("ledger_replay_scan", scaled, "CPU s per 10^6", 10.0, scaled <= 10.0, condition=condition)
        began = time.process_time()
        looked = sum(ledger.has_rollout(f"{index:032x}", "r" * 32, "bench") for index in range(20_000))
        rate = looked / (time.process_time() - began)
        yield Row("ledger_lookups", rate, "keys/CPU s", None, None, condition="has_rollout by key, request compared")


if __name__ == "__main__":
    options = arguments(__doc__)
    report(rows(options.quick), options.json)
