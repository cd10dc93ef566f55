"""The terminal: one console, a progress line with solve rate, cost and time left, and what Ctrl-C does."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from whet.errors import Interrupted
from whet.types import Fault, Rollout, Ticket, Usage

if TYPE_CHECKING:
    from whet.run.kinds import RunPage


def console() -> Console:
    """Standard output; a pipe gets plain text of a fixed width."""
    return Console() if sys.stdout.isatty() else Console(width=110, no_color=True, highlight=False)


def print_page(page: RunPage, out: Console) -> None:
    """Print the end of a run and exit with its code where that is not 0."""
    for part in page.parts:
        if isinstance(part, str):
            out.print(part, markup=False, highlight=False, soft_wrap=True)
        else:
            out.print(part)
    if page.exit_code:
        raise SystemExit(page.exit_code)


def print_lines(*lines: str) -> None:
    """Print lines as they are: nothing in them is coloured, taken for markup or broken in two."""
    out = console()
    for line in lines:
        out.print(line, highlight=False, markup=False, soft_wrap=True)


class TerminalProgress:
    """Shows one plan after another on standard error: a live bar in a terminal, else a line now and then."""

    def __init__(self, interval: float = 10.0) -> None:
        self._console = Console(stderr=True)
        self._interval = interval
        self._bar: Bar | None = None
        self._start(0, "")

    def _start(self, total: int, what: str) -> None:
        self._total, self._what = total, what
        self._seen = self._solved = self._scored = self._faults = 0
        self._usage = Usage()
        self._printed = self._began = time.monotonic()

    def began(self, total: int, what: str) -> None:
        self._start(total, what)
        if self._console.is_terminal:
            self._bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(bar_width=24),
                MofNCompleteColumn(),
                TextColumn("{task.fields[state]}"),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                console=self._console,
                transient=True,
            )
            self._line = self._bar.add_task(what, total=total, state="")
            self._bar.start()

    def replayed(self, ticket: Ticket) -> None:
        self._seen += 1
        self._show()

    def finished(self, rollout: Rollout) -> None:
        self._seen += 1
        self._usage += rollout.usage
        if isinstance(rollout.outcome, Fault):
            self._faults += 1
        else:
            self._scored += 1
            self._solved += rollout.outcome.hard
        self._show()

    def ended(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _show(self) -> None:
        if self._bar is not None:
            self._bar.update(self._line, completed=self._seen, state=self._state())
        elif time.monotonic() - self._printed > self._interval:
            self._printed = time.monotonic()
            left = (self._total - self._seen) * (self._printed - self._began) / max(1, self._seen)
            self._console.print(
                f"{self._what}: {self._seen}/{self._total} {self._state()}, {left:.0f} s left", highlight=False
            )

    def _state(self) -> str:
        parts = [f"solved {self._solved / self._scored:.2f}"] if self._scored else []
        if self._faults:
            parts.append(f"{self._faults} faults")
        if self._usage.usd:
            parts.append(f"${self._usage.usd:.2f}")
        return ", ".join(parts)


@contextmanager
def interruptible() -> Iterator[None]:
    """Ctrl-C and a polite kill end a run in the same way: what is done is kept, and the user is told how to go on."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except Interrupted as interrupt:
        Console(stderr=True).print(f"whet: {interrupt}", highlight=False, markup=False, soft_wrap=True)
        raise SystemExit(130) from None
