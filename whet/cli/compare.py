"""`whet compare`: two runs, task by task."""

from __future__ import annotations

from pathlib import Path

from whet.evals.results import comparison_json
from whet.evals.table import comparison_table
from whet.files import write_json
from whet.run.api import compare
from whet.terminal import console


def compare_command(a: str, b: str, *, metric: str, json: Path | None, runs: Path) -> None:
    comparison = compare(a, b, metric=metric, runs=runs)
    if json is not None:
        write_json(json, comparison_json(comparison, a=a, b=b))
    console().print(comparison_table(comparison, a=a, b=b))
