"""`whet verify`, `backup`, `salvage`, `merge`: whether a ledger is what was written, copies, what is sound, shards."""

from __future__ import annotations

from pathlib import Path

from whet.run.merge import merge_runs
from whet.run.verify import backup_run, ledger_head, salvage_run, verify_run
from whet.terminal import print_lines


def verify_command(run: str, *, head: bool, expect: str, runs: Path) -> None:
    """Print what is wrong, a line each; exit code 1 when anything is."""
    if head:
        print_lines(ledger_head(run, runs))
        return
    wrong = verify_run(run, runs, expect=expect)
    print_lines(*(wrong or ["the ledger is whole, and the files are what it gives"]))
    if wrong:
        raise SystemExit(1)


def backup_command(run: str, target: Path, *, runs: Path) -> None:
    print_lines(backup_run(run, target, runs))


def salvage_command(run: str, out: Path, *, runs: Path) -> None:
    print_lines(salvage_run(run, out, runs))


def merge_command(shards: list[str], out: str, *, runs: Path) -> None:
    print_lines(merge_runs(shards, out, runs))
