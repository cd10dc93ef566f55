"""The rollouts of a run as a table of columns: JSON lines, Parquet, or a dataset of Hugging Face."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from whet.errors import WhetError
from whet.evals.frame import aligned_rows
from whet.extras import install
from whet.files import atomic_file, write_atomically
from whet.ledger.store import Ledger
from whet.run.workspace import RUNS, find_run, records_of

FORMS = ("jsonl", "parquet", "hf")


def export_rows(run: str | Path, out: Path | None = None, form: str = "", runs: Path = RUNS) -> tuple[Path, int]:
    """Write a row for each rollout, faults included. The form is what the name of the file ends in, or `form`."""
    folder = find_run(run, runs)
    named = form or (out.suffix.lstrip(".") if out is not None and out.suffix else "jsonl")
    if named not in FORMS:
        raise WhetError(f"there is no form {named!r}; known: {', '.join(FORMS)}")
    with records_of(folder), Ledger.read(folder) as ledger:
        rows = aligned_rows(ledger.outcomes())
    place = out or folder / ("rollouts" if named == "hf" else f"rollouts.{named}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        {"jsonl": _jsonl, "parquet": _parquet, "hf": _dataset}[named](place, rows)
    except OSError as problem:
        raise WhetError(f"{place}: cannot be written ({problem.strerror or problem})") from None
    return place, len(rows)


def _jsonl(place: Path, rows: list[dict[str, Any]]) -> None:
    write_atomically(place, b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))


def _parquet(place: Path, rows: list[dict[str, Any]]) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise WhetError(f"Parquet needs the extra data: {install('data')}") from None
    with atomic_file(place) as file:
        parquet.write_table(pyarrow.Table.from_pylist(rows), file)


def _dataset(place: Path, rows: list[dict[str, Any]]) -> None:
    try:
        from datasets import Dataset, disable_progress_bars
    except ImportError:
        raise WhetError("a dataset needs the package datasets: pip install datasets") from None
    disable_progress_bars()
    Dataset.from_list(rows).save_to_disk(str(place))
