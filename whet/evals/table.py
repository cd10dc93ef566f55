"""Summaries and comparisons for a terminal or a pipe. `rich` is loaded when something is rendered, not before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from whet.evals.compare import Comparison, Contrast, Flip, p_words, signed
from whet.evals.estimate import Estimate, ranged
from whet.evals.floor import Floor, FloorPolicy
from whet.evals.metric import HARD
from whet.evals.summary import Figures, Summary

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

FLIPS_SHOWN = 8
REASONS_SHOWN = 6
COLOURS = {"better": "bold green", "worse": "bold red", "unclear": "bold yellow"}


def summary_table(
    summary: Summary,
    *,
    title: str = "",
    floor: Floor | None = None,
    wall_seconds: float | None = None,
    notes: Sequence[str] = (),
) -> RenderableType:
    """Rates by kind and difficulty with a total and the floor below, then a line for everything worth a word.

    `notes` are what the rates must be read with.
    """
    from rich.console import Group

    level = f"[{100 * summary.level:.4g} %]"
    headings = ["tasks", f"pass rate {level}", f"reward {level}", f"perfect {level}"]
    if _apart(summary):
        headings.insert(1, f"{summary.metric} {level}")
    table = _table(title, *headings, *(["faults"] if summary.faults else []))
    digits = _digits(summary.overall.pass_rate)
    sections = [summary.by_kind, *([summary.by_difficulty] if len(summary.by_difficulty) > 1 else [])]
    for named in sections:
        for name, figures in named.items():
            table.add_row(_text(name or "(none)"), *_cells(summary, figures, digits))
        table.add_section()
    table.add_row(
        _text("total", "bold"),
        *(_text(cell, "bold") for cell in _cells(summary, summary.overall, digits)),
    )
    for what, policy in _beside(floor):
        table.add_row(
            _text(f"{what}: {policy.name}", "dim"),
            _text(str(policy.pass_rate.tasks), "dim"),
            *(_text(ranged(policy.mean_metric, digits), "dim") for _ in range(_apart(summary))),
            *(_text(ranged(rate, digits), "dim") for rate in (policy.pass_rate, policy.mean_reward)),
        )
    return Group(table, _listing({"note": notes, **_summary_lines(summary, floor, wall_seconds)}))


def _beside(floor: Floor | None) -> list[tuple[str, FloorPolicy]]:
    """The best policy without skill, and the best of the environment's own rules."""
    if floor is None:
        return []
    return [("floor", floor.best), *(("reference", policy) for policy in floor.references[:1])]


def comparison_table(comparison: Comparison, *, a: str = "A", b: str = "B", title: str = "") -> RenderableType:
    """The verdict, the contrasts by kind, `hard` beside any other metric, and the tasks that changed hands."""
    from rich.console import Group

    level = comparison.overall.difference.interval.level
    several = len(comparison.by_kind) > 1
    table = _table(title, "tasks", "A", "B", f"difference [{100 * level:.4g} %]", "p (Holm)" if several else "p")
    if several:
        for kind, contrast in comparison.by_kind.items():
            table.add_row(_text(kind), *_contrast_cells(contrast))
        table.add_section()
    table.add_row(_text("total", "bold"), *(_text(cell, "bold") for cell in _contrast_cells(comparison.overall)))
    if comparison.metric != HARD:
        table.add_row(_text("solved (hard)"), *_contrast_cells(comparison.hard))
    verdict = _text(comparison.words(a, b), COLOURS[comparison.verdict])
    return Group(verdict, table, _listing({"note": comparison.notes, **_comparison_lines(comparison, a, b)}))


def _table(title: str, *headings: str) -> Table:
    """An empty table: names on the left, numbers on the right."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(title=_text(title) if title else None, title_justify="left", box=SIMPLE_HEAD, collapse_padding=True)
    table.add_column("", overflow="fold", min_width=12)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _text(words: str, style: str = "") -> Text:
    """Text as it is: names of kinds and models may hold square brackets, which rich would read as markup."""
    from rich.text import Text

    return Text(words, style=style)


def _listing(lines: Mapping[str, Iterable[str]]) -> Table:
    """Labelled lines; long ones wrap under themselves."""
    from rich.table import Table

    listing = Table.grid(padding=(0, 2))
    listing.add_column(no_wrap=True)
    listing.add_column(overflow="fold")
    for label, texts in lines.items():
        for position, text in enumerate(texts):
            listing.add_row(_text("" if position else label, "bold"), _text(text))
    return listing


def _apart(summary: Summary) -> bool:
    """Whether the metric of the summary needs a column of its own."""
    return summary.metric.name not in ("hard", "reward")


def _cells(summary: Summary, figures: Figures, digits: int) -> list[str]:
    rates = [figures.pass_rate, figures.mean_reward, figures.perfect_rate]
    if _apart(summary):
        rates.insert(0, figures.mean_metric)
    cells = [str(figures.tasks), *(ranged(rate, digits) for rate in rates)]
    return [*cells, str(figures.faults or "")] if summary.faults else cells


def _contrast_cells(contrast: Contrast) -> list[str]:
    digits = _digits(contrast.difference)
    sides = [f"{side.value:.{digits}f}" for side in (contrast.a, contrast.b)]
    return [str(contrast.tasks), *sides, signed(contrast.difference), p_words(contrast.adjusted).removeprefix("p = ")]


def _digits(estimate: Estimate | None) -> int:
    """A third digit where the interval is narrow enough for it to mean something."""
    return 3 if estimate is not None and estimate.interval.high - estimate.interval.low < 0.06 else 2


def _summary_lines(summary: Summary, floor: Floor | None, wall_seconds: float | None) -> dict[str, list[str]]:
    repeated = f", {summary.repeats} a task" if summary.repeats > 1 else ""
    lines = {"rollouts": [f"{summary.overall.rollouts:,} scored{repeated}"]}
    lines["repeats"] = [
        f"pass@{rung.k} {ranged(rung.once, 2)}   pass^{rung.k} {ranged(rung.always, 2)}"
        for rung in summary.passes
        if rung.k > 1
    ]
    if floor is not None and len(floor.policies) > 1:
        lines["floor"] = [", ".join(f"{policy.name} {policy.pass_rate.value:.2f}" for policy in floor.policies)]
    if floor is not None and len(floor.references) > 1:
        lines["reference"] = [", ".join(f"{known.name} {known.pass_rate.value:.2f}" for known in floor.references)]
    lines["reasons"] = [_counts(summary.reasons, REASONS_SHOWN)]
    if summary.truncated:
        lines["truncated"] = [f"{summary.truncated:,} rollouts"]
    if summary.malformed:
        lines["malformed"] = [f"{_counts(summary.malformed)}; in {summary.malformed_rollouts:,} rollouts"]
    if summary.faults:
        lines["faults"] = [f"{_counts(summary.faults)}; {100 * summary.missing:.1f} % missing"]
    lines["used"] = _used(summary, wall_seconds)
    lines["advice"] = list(summary.advice)
    return {label: texts for label, texts in lines.items() if any(texts)}


def _used(summary: Summary, wall_seconds: float | None) -> list[str]:
    usage = summary.usage
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    tokens = f"{usage.prompt_tokens:,}{cached} tokens in, {usage.completion_tokens:,} out"
    took = "" if wall_seconds is None else f", {_duration(wall_seconds)}"
    return [f"{usage.calls:,} calls, {tokens}", f"{_dollars(usage.usd)}{took}"]


def _dollars(usd: float | None) -> str:
    if usd is None:
        return "price unknown"
    return "$0" if usd == 0 else f"${usd:,.4f}" if usd < 1 else f"${usd:,.2f}"


def _comparison_lines(comparison: Comparison, a: str, b: str) -> dict[str, list[str]]:
    lines = {"A": [a] if a != "A" else [], "B": [b] if b != "B" else []}
    lines["gained"] = _flips(comparison.gained, "only B solves")
    lines["lost"] = _flips(comparison.lost, "only A solves")
    lines["missing"] = list(comparison.missing_words())
    return {label: texts for label, texts in lines.items() if texts}


def _flips(flips: tuple[Flip, ...], what: str) -> list[str]:
    more = [f"and {len(flips) - FLIPS_SHOWN} more"] if len(flips) > FLIPS_SHOWN else []
    tasks = f"{len(flips)} task{'' if len(flips) == 1 else 's'} that {what}"
    return [tasks, *(_flip(flip) for flip in flips[:FLIPS_SHOWN]), *more]


def _flip(flip: Flip) -> str:
    solved = "" if {flip.a, flip.b} == {0.0, 1.0} else f" ({flip.a:.2f} -> {flip.b:.2f})"
    return f"{flip.split}/{flip.index} {flip.kind}: {flip.reason_a} -> {flip.reason_b}{solved}"


def _counts(counts: Mapping[str, int], most: int | None = None) -> str:
    named = [f"{word or '(none)'} {count:,}" for word, count in counts.items()]
    rest = [f"{len(named) - most} more"] if most is not None and len(named) > most else []
    return ", ".join([*named[:most], *rest])


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"
