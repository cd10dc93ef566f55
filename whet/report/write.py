"""`whet report`: the report of some runs into a file, in the form that its name asks for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from whet.errors import WhetError
from whet.files import write_atomically, write_json
from whet.report.fold import RunFacts, fold_run
from whet.report.page import report_page
from whet.report.pair import try_compare
from whet.report.text import markdown, report_data
from whet.run.workspace import RUNS, run_folder

FORMS = (".html", ".md", ".json")


def read_runs(names: Sequence[str | Path], runs: Path = RUNS) -> list[RunFacts]:
    """The records of some runs; one that is not there at all is refused, one that cannot be read says why."""
    folders = [run_folder(name, runs) for name in names]
    for name, folder in zip(names, folders, strict=True):
        if not folder.is_dir():
            raise WhetError(f"{name}: no run here; 'whet runs' lists what there is")
    return [fold_run(folder) for folder in folders]


def write_report(names: Sequence[str | Path], out: Path | None = None, runs: Path = RUNS) -> Path:
    """Write the report of one run, or of several compared with the first. Returns where it lies."""
    records = read_runs(names, runs)
    place = out or (records[0].folder / "report.html" if len(records) == 1 else Path("report.html"))
    if place.suffix not in FORMS:
        raise WhetError(f"{place}: a report is {', '.join(FORMS)}; name the file so")
    first = records[0]
    compared = [(first.name, other.name, try_compare(first, other)) for other in records[1:]]
    try:
        if place.suffix == ".json":
            write_json(place, report_data(records, compared))
        else:
            made = report_page(records, compared) if place.suffix == ".html" else markdown(records, compared)
            write_atomically(place, made.encode("utf-8", "replace"))
    except OSError as problem:
        raise WhetError(f"{place}: cannot be written ({problem.strerror}); name another place with -o") from None
    return place
