"""The terminal: one console, a progress line with solve rate, cost and time left, and what Ctrl-C does."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from whet.errors import Interrupted
from whet.evals.estimate import wilson
from whet.outside import shown, shown_json, shown_line
from whet.screen import Screen, screen_for
from whet.types import Fault, Rollout, Split, Ticket, Usage

INTERRUPTED = 3
"""Exit code of a run that somebody stopped; a budget stops it with the same one: it goes on where it was."""

LAST: Split = "test"
"""The split that a run comes to when everything else is done."""

if TYPE_CHECKING:
    from whet.run.kinds import RunPage


def console() -> Screen:
    """Standard output; a pipe gets plain text of a fixed width."""
    return screen_for("stdout")


def print_page(page: RunPage, out: Screen) -> None:
    """Print the end of a run and exit with its code where that is not 0."""
    for part in page.parts:
        out.print(part, soft_wrap=isinstance(part, str))
    if page.exit_code:
        raise SystemExit(page.exit_code)


def print_lines(*lines: str) -> None:
    """Print lines as they are: nothing in them acts, is taken for markup or broken in two."""
    out = console()
    for line in lines:
        out.print(line, soft_wrap=True)


def print_plain(text: str) -> None:
    """Print a text of our own byte by byte, for a program that reads it."""
    sys.stdout.write(text)


def print_json(written: bytes) -> None:
    """Print JSON that stays JSON."""
    console().print(shown_json(written), soft_wrap=True)


def complain(line: str) -> None:
    """One line on standard error, whatever it quotes; where that is closed or full, none."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(f"whet: {shown_line(line)}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        return


class TerminalProgress:
    """Shows one plan after another on standard error: a live bar in a terminal, else a line now and then.

    The time left is that of the whole run where `expect` was told what lies ahead, else that of the plan. The trivial
    policies at the end of a run take next to no time and are not counted.
    """

    def __init__(self, interval: float = 10.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = screen_for("stderr")
        self._interval = interval
        self._clock = clock
        self._bar: Bar | None = None
        self._ahead: dict[Split, int] = {}
        self._split: Split | None = None
        self._asked = 0
        self._opened: float | None = None
        self._spent = Usage()
        self._start(0, "")

    def expect(self, ahead: Mapping[Split, int]) -> None:
        """How many rollouts the run may still take, at most, on each split."""
        self._ahead = dict(ahead)

    def _start(self, total: int, what: str) -> None:
        self._total, self._what = total, what
        self._seen = self._solved = self._scored = self._faults = 0
        self._printed = self._clock()

    def began(self, total: int, what: str) -> None:
        self._start(total, shown(what))
        self._opened = self._printed if self._opened is None else self._opened
        if self._console.is_terminal:
            self._bar = Bar(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=24),
                MofNCompleteColumn(),
                TextColumn("{task.fields[state]}", markup=False),
                TimeElapsedColumn(),
                TextColumn("{task.fields[left]}", markup=False),
                console=self._console,
                transient=True,
            )
            self._line = self._bar.add_task(self._what, total=total, state="", left="")
            self._bar.start()

    def replayed(self, ticket: Ticket) -> None:
        self._seen += 1
        if not self._asked:  # what an earlier session of the run has done; later replays are of this session
            self._pass(ticket)
        self._show()

    def finished(self, rollout: Rollout) -> None:
        self._seen += 1
        self._asked += 1
        self._pass(rollout.ticket)
        self._spent += rollout.usage
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

    def left(self) -> str:
        """The time left in words, at the pace of the run so far; '' before anything was asked."""
        if not self._asked or self._opened is None:
            return ""
        rollouts = max(self._rollouts_ahead(), self._total - self._seen)
        words = in_words(rollouts * (self._clock() - self._opened) / self._asked)
        return f"{'about' if self._counted else 'at most about'} {words} left"

    @property
    def _counted(self) -> bool:
        """Whether it is known how many rollouts are left, and not only how many there are at most."""
        return not self._ahead or self._split == LAST

    def _rollouts_ahead(self) -> int:
        return self._ahead.get(LAST, 0) if self._split == LAST else sum(self._ahead.values())

    def _pass(self, ticket: Ticket) -> None:
        self._split = ticket.split
        if ticket.split in self._ahead:
            self._ahead[ticket.split] = max(0, self._ahead[ticket.split] - 1)

    def _show(self) -> None:
        if self._bar is not None:
            self._bar.update(self._line, completed=self._seen, state=self._state(), left=self.left())
        elif self._clock() - self._printed > self._interval:
            self._printed = self._clock()
            parts = [part for part in (self._state(), self.left()) if part]
            line = f"{self._what}: {self._seen}/{self._total} {', '.join(parts)}"
            self._console.print(line, soft_wrap=True)

    def _state(self) -> str:
        parts = []
        if self._scored:
            held = wilson(min(round(self._solved), self._scored), self._scored)
            ends = f" [{held.low:.2f}, {held.high:.2f}]" if held else ""
            parts.append(f"solved {self._solved / self._scored:.2f}{ends}")
        if self._faults:
            parts.append(f"{self._faults} faults")
        if self._spent.usd:
            parts.append(f"${self._spent.usd:.2f} so far")
        return ", ".join(parts)


def in_words(seconds: float) -> str:
    """A length of time as exactly as an estimate deserves."""
    if seconds < 100.0:
        return f"{seconds:.0f} s" if seconds < 20.0 else f"{round(seconds / 10.0) * 10} s"
    minutes = seconds / 60.0
    return f"{minutes:.0f} min" if minutes < 100.0 else f"{minutes / 60.0:.0f} h"


@contextmanager
def interruptible() -> Iterator[None]:
    """Ctrl-C and a polite kill end a run in the same way: what is done is kept, and the user is told how to go on."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except Interrupted as interrupt:
        complain(str(interrupt))
        raise SystemExit(INTERRUPTED) from None
