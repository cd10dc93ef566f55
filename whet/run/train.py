"""A training run from config to claim: plan the splits, learn, open the sealed test once, write what can be read."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.config.playbooks import read_playbook
from whet.config.train import Count, TrainConfig
from whet.envs.base import Environment
from whet.errors import WhetError
from whet.evals.sample import stratified_sample
from whet.gate.base import Gate
from whet.keys import digest
from whet.learn.reflact.artifacts import Artifacts
from whet.learn.reflact.training import Training
from whet.learn.workshop import Halted, Means, Workshop
from whet.ledger.projection import sweep
from whet.ledger.store import Ledger
from whet.models.base import Model
from whet.rollout.attempt import Player
from whet.rollout.budget import Budget
from whet.rollout.engine import Progress
from whet.run.compose import (
    Given,
    build_bounds,
    build_environment,
    build_limits,
    build_model,
    build_player,
    build_players,
    build_sampling,
    build_works,
    concurrency,
)
from whet.run.gating import build_gate
from whet.run.testing import Sealing, Tested, open_test
from whet.run.train_summary import write_summary
from whet.run.workspace import RUNS, Identity, claim_run, run_name
from whet.types import Playbook, Policy, Role, Split

Watch = Callable[[Training], None]


@dataclass(frozen=True, slots=True)
class TrainPlan:
    """Everything about a training run that is fixed before the first call. The learner never sees `test`."""

    config: TrainConfig
    env: Environment
    model: Model
    optimizer: Model | None
    gate: Gate
    initial: Playbook
    tasks: tuple[int, ...]
    select: tuple[int, ...]
    test: tuple[int, ...]
    identity: Identity

    def folder(self, runs: Path = RUNS, name: str | None = None) -> Path:
        return runs / (name or run_name(self.config, self.identity))

    @property
    def policy(self) -> Policy:
        return Policy(self.model.fingerprint, build_sampling(self.config.target.sampling))

    @property
    def steps(self) -> int:
        section = self.config.train
        return section.epochs * -(-len(self.tasks) // (section.batch_size * section.accumulation))


@dataclass(frozen=True, slots=True)
class TrainResult:
    """What a training run came to. `stopped` says why it has not reached its end; the same command continues."""

    folder: Path
    training: Training
    tested: Tested | None
    summary: dict[str, Any]
    stopped: str
    seconds: float

    @property
    def best(self) -> Playbook:
        return self.training.judge.best.playbook


def plan_training(config: TrainConfig, given: Given = Given()) -> TrainPlan:
    """Build what the config names, draw the splits, refuse what cannot work. Calls no model and writes nothing."""
    env = build_environment(config, given)
    model = given.model or build_model(config.target, config.control.target, env)
    optimizer = given.optimizer
    if optimizer is None and config.train.proposer == "analyst":
        assert config.optimizer is not None, "the config's own check"
        optimizer = build_model(config.optimizer, config.control.optimizer, env)
    if config.control.budget.usd is not None:
        for role, one in (("target", model), ("optimizer", optimizer)):
            if one is not None and one.price is None:
                raise WhetError(
                    f"{one.name}: no price is known, so a budget in dollars cannot be kept; "
                    f"set it with --set 'control.{role}.price=[0.4, 1.6]' (dollars for a million tokens in, out)"
                )
    initial = given.playbook or read_playbook(config.train.playbook)
    section = config.train
    tasks = _drawn(env, "train", section.tasks, section.seed)
    select = _drawn(env, "select", section.select, section.seed)
    test = () if section.test == 0 else _drawn(env, "test", section.test, section.seed)
    gate = build_gate(config.gate)
    gate.open(len(select))  # refuses a split on which nothing can be decided, before anything is spent
    named = config.identity()
    named["train"] = {key: value for key, value in named["train"].items() if key != "playbook"}
    named["optimizer"] = {"config": named["optimizer"], "model": optimizer.fingerprint if optimizer else ""}
    identity = Identity(named, env.fingerprint, model.fingerprint, digest(initial))
    return TrainPlan(config, env, model, optimizer, gate, initial, tasks, select, test, identity)


def _drawn(env: Environment, split: Split, wanted: Count, seed: int) -> tuple[int, ...]:
    size = env.size(split)
    if wanted == "all" and size is None:
        name = {"train": "tasks"}.get(split, split)
        raise WhetError(
            f"the {split} split of {env.name} is unbounded, so 'all' has no end; say how many: --set train.{name}=100"
        )
    n = None if wanted == "all" else wanted if size is None else min(int(wanted), size) or int(wanted)
    return stratified_sample(env, split, n, seed)


async def train_plan(
    plan: TrainPlan, *, progress: Progress, watch: Watch, runs: Path = RUNS, name: str | None = None
) -> TrainResult:
    """Work off a plan, continuing where an earlier session stopped."""
    folder = plan.folder(runs, name)
    began = time.monotonic()
    players = build_players(plan.config, plan.env, plan.model)
    try:
        with claim_run(folder, plan.config, plan.initial, plan.identity, plan.tasks) as ledger:
            sweep(folder)
            ledger.add_event("session", planned=plan.steps)
            try:
                result = await _train(plan, folder, players, ledger, progress, watch, began)
            except BaseException as error:
                ledger.add_event("ended", seconds=time.monotonic() - began, why=type(error).__name__)
                raise
    finally:
        for player in players.values():
            await player.model.close()
        if plan.optimizer is not None:
            await plan.optimizer.close()
    return result


async def _train(
    plan: TrainPlan,
    folder: Path,
    players: Mapping[Role, Player],
    ledger: Ledger,
    progress: Progress,
    watch: Watch,
    began: float,
) -> TrainResult:
    means = build_means(plan, players, ledger, progress)
    artifacts = Artifacts(folder)

    def moved(training: Training) -> None:
        artifacts.write(training)
        watch(training)

    training = build_training(plan, means, moved)
    tested: Tested | None = None
    stopped = ""
    try:
        await training.run()
        if plan.test:
            repeats, endpoint = plan.config.train.repeats, plan.config.control.target
            sealing = Sealing(plan.policy, plan.test, repeats, endpoint, plan.gate.metric)
            tested = await open_test(means, sealing, training)
    except Halted as halted:
        stopped = str(halted)
        ledger.add_event("halted", why=stopped)
    finally:
        await means.works.close()
    artifacts.write(training)
    ledger.add_event("ended", seconds=time.monotonic() - began, why=stopped or "done")
    seconds = sum(event.body["seconds"] for event in ledger.events("ended"))
    summary = write_summary(folder, plan.config, training, artifacts.history, tested, stopped, seconds)
    return TrainResult(folder, training, tested, summary, stopped, seconds)


def build_means(plan: TrainPlan, players: Mapping[Role, Player], ledger: Ledger, progress: Progress) -> Means:
    earlier = sum(event.body["seconds"] for event in ledger.events("ended"))
    return Means(
        plan.env,
        players,
        ledger,
        Budget(build_limits(plan.config.control), ledger.spent(), earlier),
        build_bounds(plan.config),
        build_works(plan.config),
        concurrency(plan.config, players),
        plan.config.control.patience,
        progress,
    )


def build_training(plan: TrainPlan, means: Means, moved: Watch) -> Training:
    """The learner, with what it may reach: train and select tasks."""
    optimizer = None
    if plan.optimizer is not None:
        sampling = plan.config.optimizer.sampling if plan.config.optimizer else plan.config.target.sampling
        optimizer = build_player(plan.optimizer, sampling, plan.config.control.optimizer)
    shop = Workshop(means, plan.policy, optimizer, plan.gate, plan.select, plan.config.train.max_rollouts)
    return Training(shop, plan.config, plan.initial, plan.tasks, moved)
