"""A training run as it stands, read from its summary: steps, the sealed test, what was accepted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from whet.run.train_summary import SUMMARY

if TYPE_CHECKING:
    from rich.console import RenderableType

ROWS = {"no playbook": "no_playbook_test", "initial": "baseline_test", "best": "test", "final": "final_test"}


def summary_of(folder: Path) -> dict[str, Any]:
    """The summary of a run; empty while none is written."""
    file = folder / SUMMARY
    return dict(orjson.loads(file.read_bytes())) if file.is_file() else {}


def show_training(folder: Path) -> RenderableType:
    from rich.box import SIMPLE_HEAD
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    summary = summary_of(folder)
    if not summary:
        return Text(f"{folder}: no step is complete yet; continue with: whet resume {folder}")
    lines = [
        f"steps: {summary['total_steps']} of {summary['planned_steps']}, accepted {summary['total_accepts']}, "
        f"rejected {summary['total_rejects']}, skipped {summary['total_skips']}",
        f"best playbook: {folder}/best_skill.md, from {summary['best_origin']}",
    ]
    for one in summary["accepted"]:
        lines += [f"  {change[:160]}" for change in one["changes"]]
        lines.append(f"    {one['says']}")
    if summary["stopped"]:
        lines.append(f"stopped: {summary['stopped']}; continue with: whet resume {folder}")
    told = Text("\n".join(lines))
    if summary["test_hard"] is None:
        return told
    table = Table(title="sealed test", title_justify="left", box=SIMPLE_HEAD, collapse_padding=True)
    headings = {"hard": "pass rate [95 %]"}
    if summary.get("metric", "hard") != "hard":
        headings = {"metric": f"{summary['metric']} [95 %]", **headings}
    for heading in ("", *headings.values()):
        table.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    for name, key in ROWS.items():
        table.add_row(name, *(_ranged(summary, f"{key}_{column}") for column in headings))
    if summary["floor_policy"]:
        floors = (summary[f"floor_test_{column}"] for column in headings)
        cells = ("" if value is None else f"{value:.3f}" for value in floors)
        table.add_row(f"floor: {summary['floor_policy']}", *cells, style="dim")
    return Group(table, Text(str(summary["test_delta_says"])), told)


def _ranged(summary: dict[str, Any], key: str) -> str:
    if summary[key] is None:
        return "-"
    low, high = summary[f"{key}_interval"]
    return f"{summary[key]:.3f} [{low:.3f}, {high:.3f}]"
