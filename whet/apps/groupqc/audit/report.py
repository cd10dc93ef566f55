"""An audit for a person: the table on the terminal, and `report.md` with the wrong tickets beside their evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whet.release.threshold import needed

if TYPE_CHECKING:
    from rich.console import RenderableType

REPORT = "report.md"

SHOWN = 20
"""Wrong tickets of each kind that the report shows; the files have them all."""

RATES = {
    "false_release_rate": "false releases, of the truly failing",
    "release_precision": "release precision",
    "false_block_rate": "false blocks, of the truly passing",
    "invalid_rate": "without a valid verdict",
    "accuracy": "accuracy",
}

KINDS = {"ng": "False releases (NG)", "np": "False blocks (NP)", "invalid": "Without a valid verdict"}

ReportRow = Mapping[str, Any]


def report_text(metrics: ReportRow, wrong: Sequence[ReportRow]) -> str:
    """The report as Markdown."""
    parts = [
        f"# Audit: {metrics['model']} on {metrics['environment']}",
        "\n".join(f"* {line}" for line in summary_lines(metrics)),
        _matrix(metrics["confusion"]),
        _rates(metrics),
    ]
    parts.append(_by_mission(metrics["by_mission"]))
    parts.append(_calibration(metrics))
    for error, title in KINDS.items():
        rows = [row for row in wrong if row["error"] == error]
        if rows:
            parts.append(_cases(title, rows))
    return "\n\n".join(part for part in parts if part) + "\n"


def page_parts(folder: Path, metrics: ReportRow) -> list[str | RenderableType]:
    """An audit on the terminal: the matrix, the figures, what was looked at, and where the report lies."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    matrix = Table(box=SIMPLE_HEAD)
    for heading in ("label", "verdict pass", "verdict fail", "invalid"):
        matrix.add_column(heading, justify="left" if heading == "label" else "right")
    for label, row in metrics["confusion"].items():
        matrix.add_row(label, *(str(row[call]) for call in ("pass", "fail", "invalid")))
    table = Table(box=SIMPLE_HEAD, show_header=False)
    for name, value in figure_lines(metrics):
        table.add_row(Text(name), Text(value))
    lines = summary_lines(metrics)
    if metrics["risk_coverage"] is not None:
        lines.append(cut_line(metrics["risk_coverage"]))
    return [matrix, table, *lines, f"report: {folder / REPORT}"]


def summary_lines(metrics: ReportRow) -> list[str]:
    """What was looked at, and what was not."""
    lines = [f"{metrics['n_used']} of {metrics['n_total']} tickets judged"]
    for name, said in (
        ("n_dropped_overlength", "over length, left out"),
        ("n_rejected", "lines that are no ticket, see rejects.jsonl"),
        ("n_excluded", "excluded by the ticket filter"),
        ("n_unfinished", "not finished: the same command continues"),
    ):
        if metrics[name]:
            lines.append(f"{metrics[name]} {said}")
    draws = metrics["draws"]
    saved = draws["planned"] - draws["taken"]
    if saved:
        lines.append(f"{draws['taken']} of {draws['planned']} draws taken; {saved} could not change a majority")
    if draws["faults"]:
        lines.append(f"{draws['faults']} draws ended in a fault: redo them with --retry-faults")
    return lines


def figure_lines(metrics: ReportRow) -> list[tuple[str, str]]:
    """Each figure with its name and interval."""
    lines = [(said, ranged(metrics["rates"][name])) for name, said in RATES.items()]
    for name, said in (("balanced_accuracy", "balanced accuracy"), ("mcc", "MCC"), ("kappa", "kappa")):
        lines.append((said, ranged(metrics[name])))
    return lines


def ranged(figure: ReportRow | None) -> str:
    if figure is None or figure["value"] is None:
        return "–"
    counted = f" ({figure['part']} of {figure['of']})" if "of" in figure else ""
    return f"{figure['value']:.3f} [{figure['low']:.3f}, {figure['high']:.3f}]{counted}"


def _matrix(confusion: ReportRow) -> str:
    rows = ["| label | verdict pass | verdict fail | invalid |", "|---|---:|---:|---:|"]
    rows += [f"| {label} | {row['pass']} | {row['fail']} | {row['invalid']} |" for label, row in confusion.items()]
    return "\n".join(rows)


def _rates(metrics: ReportRow) -> str:
    level = f"{100 * metrics['level']:g} %"
    rows = [f"| figure | value [{level}] |", "|---|---|"]
    return "\n".join(rows + [f"| {said} | {value} |" for said, value in figure_lines(metrics)])


def _by_mission(missions: ReportRow) -> str:
    if not missions:
        return ""
    names = ("false_release_rate", "false_block_rate", "invalid_rate", "accuracy")
    rows = ["| mission | false releases | false blocks | invalid | accuracy |", "|---|---|---|---|---|"]
    for mission, figures in missions.items():
        rows.append(f"| {_cell(mission)} | {' | '.join(ranged(figures['rates'][name]) for name in names)} |")
    return "\n".join(rows)


def _calibration(metrics: ReportRow) -> str:
    found, risk = metrics["calibration"], metrics["risk_coverage"]
    if found is None or risk is None:
        return ""
    levels = ["| share of votes | right [interval] |", "|---:|---|"]
    levels += [f"| {level['confidence']:.3f} | {ranged(level['right'])} |" for level in found["levels"]]
    cuts = ["| decide from | coverage | wrong | false releases | at most |", "|---:|---|---|---|---|"]
    cuts += [
        f"| {cut['threshold']:.3f} | {ranged(cut['coverage'])} | {ranged(cut['risk'])} | "
        f"{ranged(cut['false_release_rate'])} | {_bound(cut['false_release_rate'])} |"
        for cut in risk["cuts"]
    ]
    return "\n".join(
        [
            "## Confidence",
            "",
            f"Expected calibration error {found['expected_error']:.3f}, Brier score {found['brier']:.3f}.",
            "",
            *levels,
            "",
            cut_line(risk),
            "",
            *cuts,
        ]
    )


def cut_line(risk: ReportRow) -> str:
    """What a budget of false releases allows."""
    budget = f"{100 * risk['budget']:g} %"
    if not risk["cuts"][0]["false_release_rate"]["of"]:
        return "No ticket is labelled fail, so nothing is known about false releases."
    if risk["threshold"] is None:
        seen = risk["cuts"][0]["false_release_rate"]
        return (
            f"Nothing is promised about false releases: even at the strictest share of votes, {seen['part']} of "
            f"{seen['of']} failing tickets were released, and the rate may be {100 * seen['upper']:.0f} % (bound); "
            f"{budget} needs at least {needed(risk['budget'])} failing tickets with none released."
        )
    cut = next(cut for cut in risk["cuts"] if cut["threshold"] == risk["threshold"])["false_release_rate"]
    return (
        f"Where only tickets with a share of votes of at least {risk['threshold']:.3f} are decided, {cut['part']} of "
        f"{cut['of']} failing tickets are released; the upper bound of that rate is {100 * cut['upper']:.1f} % "
        f"(allowed: {budget}). These tickets chose it: confirm it on others with whet groupqc calibrate."
    )


def _bound(figure: ReportRow) -> str:
    return f"{figure['upper']:.3f}" if figure["of"] else "unknown"


def _cases(title: str, rows: Sequence[ReportRow]) -> str:
    lines = [f"## {title}: {len(rows)}"]
    for row in rows[:SHOWN]:
        votes = ", ".join(call or "invalid" for call in row["verdict_samples"])
        lines.append(f"\n### {row['ticket_key']}\n\n{row['mission']}; votes: {votes}")
        if row["gt_fail_reason_text"]:
            lines.append(f"\nreviewer: {_cell(row['gt_fail_reason_text'])}")
        lines += [f"\nsaid: {_cell(reason)}" for reason in row["reason_samples"]]
        lines.append("\n| image | summary |\n|---|---|")
        lines += [f"| {name} | {_cell(text)} |" for name, text in row["per_image"].items()]
    if len(rows) > SHOWN:
        lines.append(f"\n… and {len(rows) - SHOWN} more in the file.")
    return "\n".join(lines)


def _cell(text: str) -> str:
    """Untrusted text inside a table: one line, and nothing that Markdown or HTML would act on."""
    flat = " ".join(text.split())
    return flat.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "\\`")
