"""Evaluations at once over one model in memory.

Each waits at its end for the longest of its plays, while the model draws for a few rows alone; at once they wait for
one such tail instead of one each, and its passes are shared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any


def together(jobs: Mapping[str, Callable[[], Any]], at_once: int = 16) -> Iterator[tuple[str, Any]]:
    """Jobs in threads, told as they end: evaluations over one model share its passes, and wait for one tail only."""
    with ThreadPoolExecutor(max(1, min(at_once, len(jobs)))) as pool:
        under_way = {pool.submit(job): name for name, job in jobs.items()}
        for done in as_completed(under_way):
            yield under_way[done], done.result()
