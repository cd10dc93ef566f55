"""`whet report`: what happened in a run, as one file that opens without a network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from whet.report.write import write_report
from whet.terminal import print_lines


def report_command(names: Sequence[str], out: Path | None, *, runs: Path) -> None:
    place = write_report(names, out, runs)
    size = place.stat().st_size
    print_lines(f"report: {place} ({size / 1e6:.1f} MB)" if size > 1e5 else f"report: {place} ({size / 1e3:.0f} kB)")
