"""`whet train`: the plan, a line for each step, then the sealed test, the accepted changes and where all lies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from whet.cli.terminal import TerminalProgress, console, interruptible
from whet.config.load import load_config, write_config
from whet.config.playbooks import read_playbook
from whet.config.train import TrainConfig
from whet.evals.compare import Comparison
from whet.evals.intervals import Estimate
from whet.gate.trial import CONFIRMED
from whet.learn.reflact.standing import FORCING
from whet.learn.reflact.training import Training
from whet.run.compose import Given
from whet.run.testing import BEST, FINAL, INITIAL, NONE, Tested
from whet.run.train import TrainPlan, TrainResult, plan_training
from whet.run.training_api import resume_training, train
from whet.run.workspace import CONFIG, PLAYBOOK, find_run
from whet.types import Split

SHOWN = 160
"""Characters of a change in the list."""


def train_command(
    config: Path,
    overrides: tuple[str, ...],
    *,
    base: dict[str, Any],
    runs: Path,
    run: str | None,
    dry_run: bool,
) -> None:
    settled = load_config(TrainConfig, config, base, overrides)
    plan = plan_training(settled)
    out = console()
    if dry_run:
        out.print(write_config(settled).decode(), markup=False, highlight=False)
    out.print(planned(plan), markup=False, highlight=False)
    if dry_run:
        return
    progress = TerminalProgress()
    with interruptible():
        result = train(settled, runs=runs, name=run, progress=progress, watch=Narrator(out, plan, progress))
    show(result, out)


def resume_train_command(run: str, overrides: tuple[str, ...], *, runs: Path) -> None:
    folder = find_run(run, runs)
    given = Given(playbook=read_playbook(str(folder / PLAYBOOK)))
    plan = plan_training(load_config(TrainConfig, folder / CONFIG), given)
    out, progress = console(), TerminalProgress()
    with interruptible():
        result = resume_training(
            run, overrides=overrides, runs=runs, progress=progress, watch=Narrator(out, plan, progress)
        )
    show(result, out)


def planned(plan: TrainPlan) -> str:
    section = plan.config.train
    per_step = section.batch_size * section.accumulation
    short = f" (fewer than a batch of {per_step}: every step is short)" if len(plan.tasks) < per_step else ""
    who = f"optimizer {plan.optimizer.name}" if plan.optimizer else "no optimizer: worked examples"
    return (
        f"{plan.env.name}: {len(plan.tasks)} train tasks{short}, {len(plan.select)} for the gate, "
        f"{len(plan.test)} sealed for the test\n"
        f"target {plan.model.name}, {who}, gate {plan.config.gate.name}\n"
        f"{_many(section.epochs, 'epoch')}, {_many(plan.steps, 'step')}, seed {section.seed}\n"
        f"target rollouts: {_learning(plan)} to learn from, about {_gating(plan)} for the gate, "
        f"at most {_testing(plan)} for the test"
    )


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def ahead(plan: TrainPlan, steps: int) -> dict[Split, int]:
    """The rollouts that may still come after so many steps, by split."""
    return {"train": _learning(plan, steps), "select": _gating(plan, steps), "test": _testing(plan)}


def _learning(plan: TrainPlan, steps: int = 0) -> int:
    """Train rollouts after so many steps; sets of examples are tried besides, or an epoch is compared with the next."""
    config, section = plan.config, plan.config.train
    epochs, in_epoch = divmod(steps, plan.steps // section.epochs)
    done = epochs * len(plan.tasks) + in_epoch * section.batch_size * section.accumulation
    left = (section.epochs * len(plan.tasks) - done) * config.reflect.draws
    tries = (plan.steps - steps) * config.examples.tries * config.examples.probe
    return left + (tries if plan.optimizer is None else 2 * config.slow.samples * _comparisons(plan, steps))


def _gating(plan: TrainPlan, steps: int = 0) -> int:
    """Select rollouts after so many steps, if each step brings one candidate that differs on every task."""
    each = sum(CONFIRMED) if plan.config.gate.name == "paired" else 2
    advice = _comparisons(plan, steps) if plan.config.slow.use and plan.config.slow.gated else 0
    return (plan.steps - steps + advice) * each * len(plan.select)


def _comparisons(plan: TrainPlan, steps: int) -> int:
    """How often an epoch is still compared with the one before it."""
    used = plan.optimizer is not None and (plan.config.slow.use or plan.config.meta.use)
    epochs = plan.config.train.epochs
    return epochs - max(1, steps // (plan.steps // epochs)) if used else 0


def _testing(plan: TrainPlan) -> int:
    """Test rollouts, if learning finds anything. Only a change without evidence makes final and best two playbooks."""
    config = plan.config
    forced = (
        config.gate.name == FORCING
        or (config.slow.use and not config.slow.gated)
        or (config.reflect.lapses and not config.reflect.gate_notes)
    )
    playbooks = 2 + (not plan.initial.blank) + forced
    return playbooks * len(plan.test) * config.train.repeats


class Narrator:
    """Says each step and each end of an epoch once, and keeps the progress informed of what lies ahead."""

    def __init__(self, out: Console, plan: TrainPlan, progress: TerminalProgress) -> None:
        self._out = out
        self._plan = plan
        self._progress = progress
        progress.expect(ahead(plan, 0))
        self._steps = 0
        self._ends = 0

    def __call__(self, training: Training) -> None:
        for taken in training.steps[self._steps :]:
            solved = taken.evidence.mean("hard") if taken.evidence else None
            rolled = "" if solved is None else f"train {solved:.2f} solved, "
            said = [f"step {taken.step.number}/{training.total}: {rolled}{_words(taken.action)}"]
            said += [f"  {one.decision}" for one in taken.judged]
            said += [f"  {line}" for line in taken.proposal.trouble]
            self._say("\n".join(said))
        self._steps = len(training.steps)
        self._progress.expect(ahead(self._plan, self._steps))
        for end in training.ends[self._ends :]:
            if end.action not in ("not_used", "nothing_changed"):
                self._say(f"end of epoch {end.epoch}: guidance {_words(end.action)}")
        self._ends = len(training.ends)

    def _say(self, text: str) -> None:
        self._out.print(text, markup=False, highlight=False, soft_wrap=True)


def _words(action: str) -> str:
    return action.replace("_", " ")


def show(result: TrainResult, out: Console) -> None:
    """The table, the accepted changes with their evidence, and where to look further."""
    if result.tested is not None:
        out.print(tested_table(result.tested))
        for line in warnings(result.tested):
            out.print(f"note: {line}", highlight=False, soft_wrap=True)
        for name in (BEST, FINAL):
            gain = result.tested.gains[name]
            if name == BEST or result.best != result.training.judge.current.playbook:
                out.print(
                    gain.words(INITIAL, name) if isinstance(gain, Comparison) else f"{name}: {gain}", soft_wrap=True
                )
    accepted = [one for one in result.training.judge.judged if one.accepted]
    expected = result.summary["expected_false_accepts"]
    false = "" if expected is None else f"; at most {expected:.2f} of them by chance"
    out.print(f"\naccepted: {len(accepted)} of {len(result.training.judge.judged)} candidates{false}", highlight=False)
    for judged in accepted:
        for change in judged.changes:
            out.print(f"  {change[:SHOWN]}", markup=False, highlight=False, soft_wrap=True)
        out.print(f"    {judged.decision}", markup=False, highlight=False, soft_wrap=True)
    by_stage = result.summary["token_summary"]
    used = by_stage["_total"]
    calls = used["calls"] - by_stage.get("floor", {}).get("calls", 0)  # trivial policies ask nobody
    tokens = used["prompt_tokens"] + used["completion_tokens"]
    cost = f", ${used['usd']:.2f}" if used["usd"] else ""
    out.print(f"{calls:,} calls, {tokens:,} tokens{cost}, {result.seconds:.0f} s", highlight=False)
    if result.training.spent:
        out.print(f"learning ended: {result.training.spent}", highlight=False)
    if result.stopped:
        out.print(f"stopped: {result.stopped}\ncontinue with: whet resume {result.folder}", highlight=False)
    out.print(
        f"best playbook: {result.folder}/best_skill.md (to use: --playbook {result.folder}/best_playbook.json)\n"
        f"report: {result.folder}/summary.json, step by step: {result.folder}/history.json",
        highlight=False,
        soft_wrap=True,
    )


def tested_table(tested: Tested) -> Table:
    from rich.box import SIMPLE_HEAD

    table = Table(title="sealed test", title_justify="left", box=SIMPLE_HEAD, collapse_padding=True)
    for heading in ("", "tasks", "pass rate [95 %]", "soft"):
        table.add_column(heading, justify="left" if not heading else "right", no_wrap=True)
    for name in (NONE, INITIAL, BEST, FINAL):
        figures = tested.summaries[name].overall
        table.add_row(name, str(figures.tasks), _ranged(figures.pass_rate), _plain(figures.mean_soft))
    if tested.floor is not None:
        best = tested.floor.best
        table.add_row(f"floor: {best.name}", str(best.pass_rate.tasks), _ranged(best.pass_rate), "", style="dim")
    return table


def warnings(tested: Tested) -> list[str]:
    """What a reader of the table must know."""
    found = []
    best, floor = tested.summaries[BEST].overall, tested.floor
    if floor is not None and best.pass_rate is not None and floor.best.pass_rate.value >= best.pass_rate.value:
        found.append(
            f"the floor is not below the best playbook: a policy without any skill ({floor.best.name}) does as well"
        )
    faults = sum(summary.overall.faults for summary in tested.summaries.values())
    if faults:
        found.append(f"{faults} test rollouts met a fault and are missing")
    return found


def _ranged(estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    return f"{estimate.value:.3f} [{estimate.interval.low:.3f}, {estimate.interval.high:.3f}]"


def _plain(estimate: Estimate | None) -> str:
    return "" if estimate is None else f"{estimate.value:.3f}"
