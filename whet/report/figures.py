"""Figures for a paper: one house style, told apart in grey and by the colour-blind, from runs or files of results.

Colours are Okabe and Ito's. Every series also has a marker or a hatch of its own, and every rate its interval.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any

from whet.errors import WhetError
from whet.evals.estimate import Estimate, mean_estimate
from whet.extras import install
from whet.files import write_atomically
from whet.ledger.store import glance
from whet.outside import shown_line
from whet.report.fold import RunFacts, fold_run
from whet.report.results_file import results_records
from whet.report.sections import weight_series
from whet.run.workspace import run_folder

FORMATS = ("png", "svg", "pdf")

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++", "oo")
DASHES = ("-", "--", "-.", ":")

STYLE: dict[Any, Any] = {
    "figure.dpi": 110,
    "savefig.dpi": 300,
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "svg.hashsalt": "whet",
    "pdf.fonttype": 42,
    "text.usetex": False,
    "text.parse_math": False,
}

WIDE = ("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "WenQuanYi Zen Hei", "PingFang SC", "Microsoft YaHei")
"""Fonts with the letters of Chinese, Japanese and Korean."""

_UNDATED: dict[str, dict[str, None]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
"""The same runs give the same bytes."""

STEPS = (1, 5, 10, 15, 20)
"""The k of the figures `@k`: steps of a play."""


def draw_figures(names: Sequence[str | Path], out: Path, formats: Sequence[str], runs: Path) -> list[Path]:
    """Draw every figure that the runs hold something for. Returns the files."""
    unknown = [form for form in formats if form not in FORMATS]
    if unknown or not formats:
        raise WhetError(f"there is no format {', '.join(unknown) or 'given'}; known: {', '.join(FORMATS)}")
    try:
        import matplotlib
    except ImportError:
        raise WhetError(f"figures need the extra report: {install('report')}") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    records = [record for name in names for record in _records(name, runs)]
    broken = next((run for run in records if run.trouble), None)
    if broken is not None:
        raise WhetError(f"{broken.name}: {broken.trouble}")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise WhetError(f"{out}: cannot be made ({problem.strerror}); name another place with -o") from None
    made: list[Path] = []
    boxes = False
    with pyplot.rc_context({**STYLE, "font.family": _fonts()}):
        for name, draw in FIGURES.items():
            figure = draw(records, pyplot)
            if figure is None:
                continue
            for form in formats:
                place = out / f"{name}.{form}"
                drawn = BytesIO()
                with warnings.catch_warnings(record=True) as heard:
                    warnings.simplefilter("always")
                    figure.savefig(drawn, format=form, bbox_inches="tight", metadata=_UNDATED[form])
                boxes = boxes or any("missing from" in str(line.message) for line in heard)
                write_atomically(place, drawn.getvalue())
                made.append(place)
            pyplot.close(figure)
    if not made:
        raise WhetError("there is nothing to draw: the runs hold no scores yet")
    if boxes:
        warnings.warn(
            "some letters have no font here and are drawn as boxes; install one, such as Noto Sans CJK", stacklevel=2
        )
    return made


def _fonts() -> list[str]:
    """The house's font, and behind it whichever is here for letters that it lacks."""
    from matplotlib import font_manager

    known = set(font_manager.get_font_names())
    return ["DejaVu Sans", *(name for name in WIDE if name in known)]


def _records(name: str | Path, runs: Path) -> list[RunFacts]:
    path = Path(name)
    return results_records(path) if path.suffix == ".json" else [fold_run(run_folder(name, runs))]


def _named(text: str) -> str:
    return shown_line(text, 60)


def _ends(estimate: Estimate) -> tuple[float, float]:
    return estimate.value - estimate.interval.low, estimate.interval.high - estimate.value


# --------------------------------------------------------------------------------------------- the figures


def learning_curves(runs: Sequence[RunFacts], plt: Any) -> Any:
    """The score of the current policy over decisions of the gate, with what was accepted and what was not."""
    shown = [run for run in runs if any(decision.candidate for decision in run.decisions)]
    if not shown:
        return None
    figure, axes = plt.subplots(figsize=(5.2, 3.2))
    for at, run in enumerate(shown):
        colour, judged = COLOURS[at % 7], [decision for decision in run.decisions if decision.candidate]
        start = next((decision.incumbent.value for decision in judged if decision.incumbent), None)
        apart = 0.05 * at  # so that the intervals of several runs are seen beside each other
        xs, ys = ([apart], [start]) if start is not None else ([], [])
        for place, decision in enumerate(judged, 1):
            number = place + apart
            assert decision.candidate is not None
            if decision.accepted:
                xs, ys = [*xs, number], [*ys, decision.candidate.value]
                below, above = _ends(decision.candidate)
                axes.errorbar(
                    number, decision.candidate.value, [[below], [above]], fmt=MARKERS[at % 7], color=colour, capsize=3
                )
            else:
                axes.plot(number, decision.candidate.value, "x", color=colour, alpha=0.6)
        axes.step(
            [*xs, len(judged)],
            [*ys, ys[-1]] if ys else [],
            where="post",
            color=colour,
            ls=DASHES[at % 4],
            label=_named(run.name),
        )
    axes.set(xlabel="decision of the gate", ylabel=f"score on select ({shown[0].metric})", ylim=(-0.02, 1.02))
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend()
    return figure


def score_bars(runs: Sequence[RunFacts], plt: Any) -> Any:
    """Every run by its score, with its interval: base, SFT and GRPO, or the arms of an ablation. The floor beside."""
    bars: list[tuple[str, Estimate, bool]] = []
    alone = len(runs) == 1
    for run in runs:
        own = [test for test in run.tests if not test.beside]
        if alone and len(own) > 1:
            bars += [(test.name, test.rate, False) for test in own]
        elif run.score is not None:
            bars.append((run.name, run.score, False))
        floor = max((test for test in run.tests if test.beside), key=lambda test: test.rate.value, default=None)
        if alone and floor is not None:
            bars.append((floor.name, floor.rate, True))
    if not bars:
        return None
    figure, axes = plt.subplots(figsize=(max(2.6, 0.95 * len(bars) + 1), 3.2))
    for at, (_, rate, beside) in enumerate(bars):
        below, above = _ends(rate)
        axes.bar(
            at,
            rate.value,
            0.62,
            color="#bbbbbb" if beside else COLOURS[at % 7],
            hatch=HATCHES[at % 7],
            edgecolor="white",
        )
        axes.errorbar(at, rate.value, [[below], [above]], fmt="none", color="black", capsize=4, lw=1)
        axes.annotate(f"{rate.value:.2f}", (at, rate.interval.high), (0, 3), textcoords="offset points", ha="center")
    axes.set_xticks(
        range(len(bars)),
        [_named(name) for name, *_ in bars],
        rotation=20 if len(bars) > 3 else 0,
        ha="right" if len(bars) > 3 else "center",
    )
    level = bars[0][1].interval.level
    axes.set(ylabel=f"solved, {100 * level:.4g} % intervals", ylim=(0, 1.12))
    axes.grid(axis="x", visible=False)
    return figure


def difficulty_gradient(runs: Sequence[RunFacts], plt: Any) -> Any:
    """Kind by difficulty as a map of one run, with the figures in it."""
    run = next((run for run in runs if len(run.kinds) > 1 and len(run.difficulties) > 1), None)
    if run is None:
        return None
    kinds, levels = [group.name for group in run.kinds], [group.name for group in run.difficulties]
    grid = [[getattr(run.grid.get((kind, level)), "rate", None) for level in levels] for kind in kinds]
    values = [[math.nan if rate is None else rate.value for rate in row] for row in grid]
    figure, axes = plt.subplots(figsize=(1.1 * len(levels) + 2, 0.42 * len(kinds) + 1.2))
    image = axes.imshow(values, cmap="cividis", vmin=0, vmax=1, aspect="auto")
    for row, rates in enumerate(grid):
        for column, rate in enumerate(rates):
            if rate is not None:
                ink = "white" if rate.value < 0.55 else "black"
                axes.text(
                    column, row, f"{rate.value:.2f}\nn={rate.tasks}", ha="center", va="center", color=ink, fontsize=7
                )
    axes.set_xticks(range(len(levels)), map(_named, levels))
    axes.set_yticks(range(len(kinds)), map(_named, kinds))
    axes.grid(visible=False)
    figure.colorbar(image, label="solved")
    return figure


def repaired_at_k(runs: Sequence[RunFacts], plt: Any) -> Any:
    """`RR@k` as published and `repaired@k`, for runs whose scores have such parts."""
    curves = [(run, rates) for run in runs if (rates := steps_curve(run))]
    if not curves:
        return None
    figure, axes = plt.subplots(figsize=(5.2, 3.2))
    for at, (run, rates) in enumerate(curves):
        for dash, (name, points) in zip(DASHES, rates.items(), strict=False):
            ys = [rate.value for rate in points]
            ends = [*zip(*(_ends(rate) for rate in points), strict=True)]
            label = f"{_named(run.name)}, {name}"
            axes.errorbar(
                STEPS,
                ys,
                [list(ends[0]), list(ends[1])],
                color=COLOURS[at % 7],
                ls=dash,
                marker=MARKERS[at % 7],
                capsize=3,
                label=label,
            )
    axes.set(xlabel="steps k", ylabel="share of tasks", ylim=(-0.02, 1.02), xticks=STEPS)
    axes.legend()
    return figure


def steps_curve(run: RunFacts) -> dict[str, list[Estimate]]:
    """The share of tasks that were repaired, or optimal at some step, within k steps; empty where no part says so."""
    named = {"repaired@k": ("repaired", "steps"), "RR@k": ("first_optimal", "first_optimal")}
    if run.state == "unreadable" or not (run.folder / "ledger.sqlite").is_file():
        return {}
    where, bound = run.headline.clause()
    found: dict[str, list[Estimate]] = {}
    with closing(glance(run.folder)) as db:
        sql = (
            f"SELECT task, json_extract(parts, ?), json_extract(parts, ?) FROM rollouts WHERE {where} AND parts LIKE ?"
        )
        for name, (part, steps) in named.items():
            rows = db.execute(sql, (f"$.{part}", f"$.{steps}", *bound, f'%"{part}"%')).fetchall()
            if not rows:
                continue
            for k in STEPS:
                tasks: dict[int, list[float]] = {}
                for task, value, at in rows:
                    tasks.setdefault(task, []).append(float(bool(value) and 0 < (at or 0) <= k))
                rate = mean_estimate([sum(draws) / len(draws) for draws in tasks.values()])
                assert rate is not None
                found.setdefault(name, []).append(rate)
    return found


def cost_against_score(runs: Sequence[RunFacts], plt: Any) -> Any:
    scored = [run for run in runs if run.score is not None and (run.usd or run.tokens)]
    if len(scored) < 2:
        return None
    priced = all(run.usd for run in scored)
    figure, axes = plt.subplots(figsize=(4.6, 3.2))
    for at, run in enumerate(scored):
        assert run.score is not None
        below, above = _ends(run.score)
        x = run.usd if priced else run.tokens
        axes.errorbar(
            x,
            run.score.value,
            [[below], [above]],
            fmt=MARKERS[at % 7],
            color=COLOURS[at % 7],
            capsize=3,
            label=_named(run.name),
        )
    axes.set(xlabel="dollars" if priced else "tokens", ylabel="solved", ylim=(-0.02, 1.02))
    axes.legend()
    return figure


def weights_monitor(runs: Sequence[RunFacts], plt: Any) -> Any:
    """Weight training over its steps: reward, solved, groups with signal, entropy, KL, lengths."""
    trained = [run for run in runs if run.weights]
    if not trained:
        return None
    shown = {
        "reward": "reward",
        "solved in training": "solved",
        "groups with signal": "signal",
        "generated per trained": "generated_per_trained",
        "entropy": "entropy",
        "KL to the base": "kl",
        "length of replies": "completions/mean_length",
        "loss": "loss",
    }
    held = {title: name for title, name in shown.items() if any(weight_series(run.weights, [name]) for run in trained)}
    across = min(4, len(held))
    down = math.ceil(len(held) / across)
    figure, grid = plt.subplots(down, across, figsize=(2.4 * across, 2.0 * down), squeeze=False, layout="constrained")
    for axes, (title, name) in zip(grid.flat, held.items(), strict=False):
        for at, run in enumerate(trained):
            for points in weight_series(run.weights, [name]).values():
                axes.plot(*zip(*points, strict=True), color=COLOURS[at % 7], ls=DASHES[at % 4], label=_named(run.name))
        axes.set_title(title, fontsize=9)
    for axes in list(grid.flat)[len(held) :]:
        axes.set_visible(False)
    if len(trained) > 1:
        grid.flat[0].legend(fontsize=7)
    return figure


def train_steps(runs: Sequence[RunFacts], plt: Any) -> Any:
    """How the train rollouts of each step did, run by run: what a curriculum or a playbook made of them."""
    shown = [run for run in runs if sum(step.train is not None for step in run.steps) > 1]
    if not shown:
        return None
    figure, axes = plt.subplots(figsize=(5.2, 3.0))
    for at, run in enumerate(shown):
        rates = [step.train for step in run.steps if step.train is not None]
        xs = range(1, len(rates) + 1)
        axes.plot(
            xs,
            [rate.value for rate in rates],
            color=COLOURS[at % 7],
            marker=MARKERS[at % 7],
            ls=DASHES[at % 4],
            label=_named(run.name),
        )
        axes.fill_between(
            xs,
            [rate.interval.low for rate in rates],
            [rate.interval.high for rate in rates],
            color=COLOURS[at % 7],
            alpha=0.15,
            lw=0,
        )
    axes.set(xlabel="step", ylabel="solved among train rollouts", ylim=(-0.02, 1.02))
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend()
    return figure


FIGURES: dict[str, Callable[[Sequence[RunFacts], Any], Any]] = {
    "learning_curves": learning_curves,
    "train_steps": train_steps,
    "scores": score_bars,
    "difficulty_gradient": difficulty_gradient,
    "repaired_at_k": repaired_at_k,
    "cost_against_score": cost_against_score,
    "weights": weights_monitor,
}
