"""`whet train`: the plan, a line for each step, then the sealed test, the accepted changes and where all lies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from whet.config.load import write_config
from whet.learn.learner import Training
from whet.run.train import TrainPlan, load_train_config, plan_training, run_training
from whet.screen import Screen
from whet.terminal import TerminalProgress, console, interruptible, print_page


def train_command(
    config: Path,
    overrides: tuple[str, ...],
    *,
    base: dict[str, Any],
    runs: Path,
    run: str | None,
    dry_run: bool,
) -> None:
    settled = load_train_config(config, base, overrides)
    plan = plan_training(settled)
    out = console()
    if dry_run:
        out.print(write_config(settled).decode())
    out.print(planned(plan))
    if dry_run:
        for line in plan.rehearse(runs / f"{plan.folder(runs, run).name}.dry"):
            out.print(line, soft_wrap=True)
        return
    with interruptible():
        result = run_training(settled, runs=runs, name=run, progress=TerminalProgress(), watch=Narrator(out))
    print_page(result.page(), out)


def planned(plan: TrainPlan) -> str:
    who = f"optimizer {plan.optimizer.name}" if plan.optimizer else "no optimizer"
    ahead = plan.ahead()
    return (
        f"{plan.env.name}: {len(plan.tasks)} train tasks, {len(plan.select)} for the gate, "
        f"{len(plan.test)} sealed for the test\n"
        f"learner {plan.learner.name}, target {plan.model.name}, {who}, gate {plan.config.gate.name}\n"
        f"{plan.learner.describe(plan.config, len(plan.tasks))}, seed {plan.config.train.seed}\n"
        f"target rollouts: {ahead['train']} to learn from, about {ahead['select']} for the gate, "
        f"at most {ahead['test']} for the test"
    )


class Narrator:
    """Says what a learner has to tell, each thing once."""

    def __init__(self, out: Screen) -> None:
        self._out = out

    def __call__(self, training: Training) -> None:
        for line in training.news():
            self._out.print(line, soft_wrap=True)
