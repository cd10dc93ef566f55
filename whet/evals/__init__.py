"""Numbers with intervals from outcomes, paired comparison, and their tables. Nothing here decides.

Import `compare` from `whet.evals.compare`: here, the name is that of the module.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whet.evals.compare import Comparison
    from whet.evals.estimate import Estimate, Interval, wilson
    from whet.evals.floor import Floor, floor_of
    from whet.evals.metric import Metric
    from whet.evals.results import comparison_json, results_json
    from whet.evals.sample import stratified_sample
    from whet.evals.summary import Summary, summarize
    from whet.evals.table import comparison_table, summary_table

__all__ = [
    "Comparison",
    "Estimate",
    "Floor",
    "Interval",
    "Metric",
    "Summary",
    "comparison_json",
    "comparison_table",
    "floor_of",
    "results_json",
    "stratified_sample",
    "summarize",
    "summary_table",
    "wilson",
]

_HOMES = {
    "compare": ("Comparison",),
    "estimate": ("Estimate", "Interval", "wilson"),
    "floor": ("Floor", "floor_of"),
    "metric": ("Metric",),
    "results": ("comparison_json", "results_json"),
    "sample": ("stratified_sample",),
    "summary": ("Summary", "summarize"),
    "table": ("comparison_table", "summary_table"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"whet.evals.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
