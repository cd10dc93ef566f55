"""`whet figures`: the figures of a paper, from runs or files of results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from whet.report.figures import draw_figures
from whet.terminal import print_lines


def figures_command(names: Sequence[str], out: Path, form: str, *, runs: Path) -> None:
    formats = [word.strip().lower() for word in form.split(",") if word.strip()]
    made = draw_figures(names, out, formats, runs)
    print_lines(*(str(place) for place in made))
