"""How much of the host's memory an act takes at its worst, looked at every few milliseconds."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path


def available() -> int:
    """Bytes that programs could still have."""
    line = next(line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemAvailable"))
    return int(line.split()[1]) * 1024


def most_taken(act: Callable[[], object]) -> int:
    """By how many bytes the memory of the host fell while `act` ran."""
    before = lowest = available()
    done = threading.Event()

    def look() -> None:
        nonlocal lowest
        while not done.is_set():
            lowest = min(lowest, available())
            time.sleep(0.004)

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        act()
    finally:
        done.set()
        watcher.join()
    return before - lowest


def fell_by(act: Callable[[], object], bound: float) -> int:
    """The fall, where need be of the best of several tries: what else happens on a machine can only add to it."""
    fell = most_taken(act)
    for _ in range(5):
        if fell <= bound:
            break
        time.sleep(0.5)
        fell = min(fell, most_taken(act))
    return fell
