"""What pages are drawn on: a rich console on which outside text is text, and nothing of it acts."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from whet.outside import harmless, shown

WIDTH = 110
"""Columns of a page that no terminal shows."""

LEAST_WIDTH = 20
"""A terminal that claims fewer columns is given these: a table needs some."""


class Screen(Console):
    """Draws texts and tables. Square brackets are no markup, words between colons no emoji, numbers not coloured."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)
        if self.width < LEAST_WIDTH:
            self.width = LEAST_WIDTH

    def render_str(self, text: str, **options: Any) -> Text:
        """Every text that is not styled already comes by here, before it is measured: a table stays in line."""
        return super().render_str(shown(text), **{**options, "markup": False, "emoji": False, "highlight": False})

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Every part of a page comes by here, styled texts too. A line end is the page's own."""
        for segment in super().render(renderable, options):
            if segment.control or not segment.text or segment.text == "\n":
                yield segment
            else:
                yield Segment(harmless(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        """Whoever read has gone: the command ends as others do then (`whet.cli.exits`)."""
        raise BrokenPipeError


def plain(page: RenderableType) -> str:
    """A page as text without colours."""
    screen = Screen(width=WIDTH, no_color=True, file=StringIO())
    with screen.capture() as captured:
        screen.print(page)
    return captured.get().rstrip()


def html_of(*pages: RenderableType) -> str:
    """Pages as HTML for a notebook: what is outside text stays text."""
    screen = Screen(width=WIDTH, record=True, file=StringIO(), force_terminal=True, color_system="truecolor")
    for page in pages:
        screen.print(page, soft_wrap=isinstance(page, str))
    frame = "<pre style='line-height:1.25;overflow-x:auto;font-family:monospace'>{code}</pre>"
    return screen.export_html(inline_styles=True, code_format=frame)


def screen_for(stream: str) -> Screen:
    """The screen of standard output (`stdout`) or standard error; a pipe gets plain text of a fixed width."""
    error = stream == "stderr"
    file = sys.stderr if error else sys.stdout
    if file is None:  # closed before we began
        return Screen(file=StringIO(), width=WIDTH)
    return Screen(stderr=error) if file.isatty() else Screen(stderr=error, width=WIDTH, no_color=True)


@contextmanager
def libraries_hushed(*names: str) -> Iterator[None]:
    """Within this, libraries log errors alone and no warning is shown: the terminal is the run's."""
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
