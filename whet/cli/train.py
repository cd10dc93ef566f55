"""`whet train`: the plan, a line for each step, then the sealed test, the accepted changes and where all lies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from whet.config.load import write_config
from whet.errors import WhetError
from whet.learn.learner import Training
from whet.run.compose import Given
from whet.run.continuation import continued
from whet.run.train import TrainPlan, load_train_config, plan_training, run_training
from whet.screen import Screen
from whet.terminal import TerminalProgress, console, interruptible, print_page


def train_command(
    config: Path | None,
    overrides: tuple[str, ...],
    *,
    base: dict[str, Any],
    runs: Path,
    run: str | None,
    dry_run: bool,
    continues: str | None = None,
) -> None:
    out, given = console(), Given()
    if continues is not None:
        if base["train"].get("playbook") is not None:
            raise WhetError("--playbook: a run that is continued goes on from its own; leave the option out")
        going_on = continued(continues, config, base, overrides, runs)
        settled, given, runs = going_on.config, Given(playbook=going_on.initial), going_on.folder.parent
        for line in going_on.lines():
            out.print(line, soft_wrap=True)
    elif config is None:
        raise WhetError("name a config file, or a run to continue: whet train --continue RUN")
    else:
        settled = load_train_config(config, base, overrides)
    plan = plan_training(settled, given)
    if dry_run:
        out.print(write_config(settled).decode())
    out.print(planned(plan))
    if dry_run:
        for line in plan.rehearse(runs / f"{plan.folder(runs, run).name}.dry"):
            out.print(line, soft_wrap=True)
        return
    with interruptible():
        result = run_training(settled, given, runs=runs, name=run, progress=TerminalProgress(), watch=Narrator(out))
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
