"""`whet eval`, `whet resume`, `whet rebuild`: run, then print the table and where everything lies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from whet.config.kinds import TRAIN
from whet.config.load import load_config, parse_value, write_config
from whet.config.schema import EvalConfig
from whet.envs.registry import parse_args
from whet.ledger.projection import write_json
from whet.run.api import rebuild, resume, run_evaluation
from whet.run.estimate import describe
from whet.run.evaluate import EvalResult, plan_evaluation
from whet.run.workspace import find_run, run_kind
from whet.terminal import TerminalProgress, console, interruptible


@dataclass(frozen=True, slots=True)
class Command:
    """What the user typed."""

    base: dict[str, Any]
    config: Path | None
    overrides: tuple[str, ...]
    runs: Path
    run: str | None
    json: Path | None
    retry_faults: bool
    dry_run: bool

    def resolve(self) -> EvalConfig:
        base = self.base
        base["env"]["args"] = parse_args(base["env"]["args"])
        if base["eval"]["n"] is not None:
            base["eval"]["n"] = parse_value(base["eval"]["n"])
        return load_config(EvalConfig, self.config, base, self.overrides)


def evaluate_command(command: Command) -> None:
    config = command.resolve()
    if command.dry_run:
        out = console()
        out.print(write_config(config).decode(), markup=False, highlight=False)
        out.print(describe(plan_evaluation(config)), markup=False, highlight=False)
        return
    with interruptible():
        result = run_evaluation(
            config,
            runs=command.runs,
            name=command.run,
            progress=TerminalProgress(),
            retry_faults=command.retry_faults,
        )
    if command.json is not None:
        write_json(command.json, {**result.report.results, "seconds": result.seconds})
    show(result, console())


def resume_command(run: str, overrides: tuple[str, ...], *, retry_faults: bool, runs: Path) -> None:
    if run_kind(find_run(run, runs)) == TRAIN:
        from whet.cli.train import resume_train_command

        resume_train_command(run, overrides, runs=runs)  # an unsettled plan's faults are tried again anyway
        return
    with interruptible():
        result = resume(run, overrides=overrides, runs=runs, progress=TerminalProgress(), retry_faults=retry_faults)
    show(result, console())


def rebuild_command(run: str, *, runs: Path) -> None:
    if run_kind(find_run(run, runs)) == TRAIN:
        from whet.run.training_api import rebuild_training

        steps = len(rebuild_training(run, runs=runs).training.steps)
        console().print(f"rebuilt from {steps} steps", highlight=False)
        return
    report = rebuild(run, runs=runs)
    console().print(f"rebuilt from {report.summary.overall.rollouts} rollouts", highlight=False)


def show(result: EvalResult, out: Console) -> None:
    """The table, how the run ended, and what to do next. Exit code 1 when nothing but faults came of it."""
    out.print(result.renderable())
    tally, fault = result.tally, result.report.fault
    if fault is not None:
        out.print(f"last fault: {fault}", highlight=False, markup=False, soft_wrap=True)
    if tally.replayed and not tally.done and not tally.stopped:
        out.print(f"all {tally.replayed} rollouts replayed from {result.folder}; another --seed draws anew")
    if tally.stopped:
        out.print(f"stopped: {tally.stopped}\ncontinue with: whet resume {result.folder}", highlight=False)
    out.print(f"results: {result.folder}/results.json", highlight=False, soft_wrap=True)
    if fault is not None and not result.report.summary.overall.rollouts:
        raise SystemExit(1)
