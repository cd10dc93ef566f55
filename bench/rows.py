"""The form in which every benchmark reports: one row for each bar, as a table and as JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Row:
    """One measured figure. `holds` is None where there is no bar, or where the condition for it is not met."""

    name: str
    value: float
    unit: str
    bar: float | None = None
    holds: bool | None = None
    peer: str | None = None
    peer_value: float | None = None
    ratio: float | None = None
    condition: str = ""


def arguments(about: str | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(about or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="under a minute: the same rows, wider intervals")
    parser.add_argument("--json", type=Path, help="also write the rows here")
    parser.add_argument("--peer-python", type=Path, help="interpreter of a virtual environment that holds the peer")
    return parser.parse_args()


def report(rows: Iterable[Row], file: Path | None) -> None:
    """Print rows as they come; write them when all are in."""
    kept = []
    for row in rows:
        kept.append(row)
        bar = "" if row.bar is None else f"  bar {row.bar:g}"
        verdict = "" if row.holds is None else ("  holds" if row.holds else "  MISSED")
        peer = "" if row.peer is None else f"  {row.peer} {row.peer_value:.4g} (ratio {row.ratio:.3g})"
        print(f"{row.name:42} {row.value:12.4g} {row.unit:12}{bar}{verdict}{peer}  {row.condition}", flush=True)
    if file is not None:
        file.write_text(json.dumps({"rows": [asdict(row) for row in kept]}, indent=2) + "\n")
