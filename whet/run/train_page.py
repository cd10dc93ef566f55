"""The end of a training run for a person: the sealed test, what was accepted and why, what it cost, where it lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from whet.errors import typed
from whet.evals.compare import Comparison
from whet.evals.estimate import Estimate
from whet.evals.metric import HARD
from whet.run.sealed_test import BEST, FINAL, INITIAL, NONE, SealedResult
from whet.run.train_summary import SELECTION

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from whet.run.train import TrainResult

HISTORY = "history.json"

SHOWN = 160
"""Characters of a change in the list."""


def result_parts(result: TrainResult) -> list[str | RenderableType]:
    parts: list[str | RenderableType] = [*_tested(result), _accepted(result)]
    by_stage = result.summary["token_summary"]
    used = by_stage["_total"]
    calls = used["calls"] - by_stage.get("floor", {}).get("calls", 0)  # trivial policies ask nobody
    tokens = used["prompt_tokens"] + used["completion_tokens"]
    cost = f", ${used['usd']:.2f}" if used["usd"] else ""
    parts.append(f"{calls:,} calls, {tokens:,} tokens{cost}, {result.seconds:.0f} s")
    if result.training.spent:
        parts.append(f"learning ended: {result.training.spent}")
    if result.stopped:
        parts.append(f"stopped: {result.stopped}\ncontinue with: whet resume {typed(result.folder)}")
    steps = result.folder / HISTORY  # a learner writes it, or does not
    parts.append(
        f"best playbook: {result.folder}/best_skill.md (to use: --playbook {result.folder}/best_playbook.json)\n"
        f"report: {result.folder}/summary.json"
        + (f", step by step: {steps}" if steps.is_file() else "")
        + f"\nlook at it: whet report {typed(result.folder)}, or whet view"
    )
    return parts


def _tested(result: TrainResult) -> list[str | RenderableType]:
    tested = result.tested
    if tested is None:
        return []
    parts: list[str | RenderableType] = [tested_table(tested)]
    parts += [f"note: {line}" for line in (*tested.caveats.notes, *warnings(tested))]
    for name in (BEST, FINAL):
        gain = tested.gains[name]
        if name == BEST or result.judge.best.policy != result.judge.current.policy:
            parts.append(gain.words(INITIAL, name) if isinstance(gain, Comparison) else f"{name}: {gain}")
            if isinstance(gain, Comparison):
                parts += [*filter(None, [gain.hard_words()]), *gain.missing_words(INITIAL, name)]
    return parts


def _accepted(result: TrainResult) -> str:
    judgements = result.judge.judgements
    accepted = [judgement for judgement in judgements if judgement.accepted]
    expected = result.summary["expected_false_accepts"]
    false = "" if expected is None else f"; were none of them better, at most {expected:.2f} of them would be expected"
    lines = [f"\naccepted: {len(accepted)} of {len(judgements)} candidates{false}"]
    for judgement in accepted:
        lines += [f"  {change[:SHOWN]}" for change in judgement.candidate.words()]
        lines.append(f"    {judgement.decision}")
    if accepted:
        lines.append(f"  ({SELECTION})")
    lines += leak_lines(result.summary["leaks"])
    return "\n".join(lines)


def leak_lines(leaks: Sequence[Mapping[str, str]]) -> list[str]:
    """What was dropped because it held text of select or test tasks."""
    dropped = [f"  {leak['purpose']}: {leak['span'][:SHOWN]!r}" for leak in leaks]
    return [f"dropped for text of held-out tasks: {len(leaks)}", *dropped] if leaks else []


def tested_table(tested: SealedResult) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(title="sealed test", title_justify="left", box=SIMPLE_HEAD, collapse_padding=True)
    metric = tested.summaries[BEST].metric
    level = f"[{100 * tested.caveats.level:.4g} %]"
    claim = [] if metric == HARD else [f"{metric} {level}"]
    for heading in ("", "tasks", *claim, f"pass rate {level}", "soft"):
        table.add_column(heading, justify="left" if not heading else "right", no_wrap=True)
    for name in (NONE, INITIAL, BEST, FINAL):
        figures = tested.summaries[name].overall
        rates = [*(_ranged(figures.mean_metric) for _ in claim), _ranged(figures.pass_rate)]
        table.add_row(name, str(figures.tasks), *rates, _plain(figures.mean_soft))
    if tested.floor is not None:
        best = tested.floor.best
        rates = [*(_ranged(best.mean_metric) for _ in claim), _ranged(best.pass_rate)]
        table.add_row(f"floor: {best.name}", str(best.pass_rate.tasks), *rates, "", style="dim")
        for known in tested.floor.references[:1]:
            rates = [*(_ranged(known.mean_metric) for _ in claim), _ranged(known.pass_rate)]
            table.add_row(f"reference: {known.name}", str(known.pass_rate.tasks), *rates, "", style="dim")
    return table


def warnings(tested: SealedResult) -> list[str]:
    """What a reader of the table must know."""
    found = []
    best = tested.summaries[BEST].overall.mean_metric
    floor = tested.floor
    trivial = floor.best.mean_metric if floor is not None else None
    if floor is not None and trivial is not None and best is not None and trivial.value >= best.value:
        found.append(
            f"the floor is not below the best playbook: a policy without any skill ({floor.best.name}) does as well"
        )
    faults = sum(summary.overall.faults for summary in tested.summaries.values())
    if faults:
        found.append(f"{faults} test rollouts met a fault and are missing; rates are of the others")
    return found


def _ranged(estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    return f"{estimate.value:.3f} [{estimate.interval.low:.3f}, {estimate.interval.high:.3f}]"


def _plain(estimate: Estimate | None) -> str:
    return "" if estimate is None else f"{estimate.value:.3f}"
