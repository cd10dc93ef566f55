"""Training as functions: start or continue a run, continue one by its folder, write its files again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from whet.config.load import load_config
from whet.config.playbooks import read_playbook
from whet.config.train import TrainConfig
from whet.envs.base import Environment
from whet.errors import Interrupted, WhetError
from whet.learn.reflact.training import Training
from whet.models.base import Model
from whet.rollout.engine import Progress, Quiet
from whet.run.compose import Given
from whet.run.loop import finish
from whet.run.offline import Offline
from whet.run.train import TrainResult, Watch, plan_training, train_plan
from whet.run.workspace import CONFIG, PLAYBOOK, RUNS, find_run
from whet.types import Playbook


def _nothing(training: Training) -> None:
    return


def train(
    config: str | Path | TrainConfig,
    *,
    env: Environment | None = None,
    model: Model | None = None,
    optimizer: Model | None = None,
    playbook: Playbook | None = None,
    overrides: Sequence[str] = (),
    runs: str | Path = RUNS,
    name: str | None = None,
    progress: Progress | None = None,
    watch: Watch = _nothing,
) -> TrainResult:
    """Train a playbook. The same call again continues its run, or replays it when it is complete.

    `env`, `model`, `optimizer` and `playbook` are objects instead of what the config names.
    """
    if not isinstance(config, TrainConfig):
        config = load_config(TrainConfig, Path(config), None, overrides)
    plan = plan_training(config, Given(env, model, playbook, optimizer))
    shown, folder = progress or Quiet(), Path(runs)
    try:
        return finish(lambda: train_plan(plan, progress=shown, watch=watch, runs=folder, name=name))
    except KeyboardInterrupt:
        raise Interrupted(str(plan.folder(folder, name))) from None


def resume_training(
    run: str | Path,
    *,
    overrides: Sequence[str] = (),
    runs: str | Path = RUNS,
    progress: Progress | None = None,
    watch: Watch = _nothing,
    **objects: Any,
) -> TrainResult:
    """Continue a training run where it stopped. `overrides` may change its `control` part only.

    `objects` are needed where the run was made with an environment or models that no address names: see `train`.
    """
    folder = find_run(run, Path(runs))
    foreign = [one for one in overrides if not one.startswith("control.")]
    if foreign:
        raise WhetError(f"--set {foreign[0]}: a resumed run keeps its identity; only keys of control may change")
    config = load_config(TrainConfig, folder / CONFIG, None, overrides)
    initial = read_playbook(str(folder / PLAYBOOK))
    return train(
        config, playbook=initial, runs=folder.parent, name=folder.name, progress=progress, watch=watch, **objects
    )


def rebuild_training(run: str | Path, *, runs: str | Path = RUNS, **objects: Any) -> TrainResult:
    """Write a training run's readable files again: the run is replayed as far as its ledger reaches, calling nobody."""
    folder = find_run(run, Path(runs))
    config = load_config(TrainConfig, folder / CONFIG)
    plan = plan_training(config, Given(playbook=read_playbook(str(folder / PLAYBOOK)), **objects))
    offline = Offline.of(plan)
    return finish(lambda: train_plan(offline, progress=Quiet(), watch=_nothing, runs=folder.parent, name=folder.name))
