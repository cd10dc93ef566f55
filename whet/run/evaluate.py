"""An evaluation from config to table: plan a sample, work it off, play the floor, write what can be read."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from whet.config.playbooks import read_playbook
from whet.config.schema import EvalConfig
from whet.envs.base import Environment
from whet.errors import WhetError
from whet.evals.sample import stratified_sample
from whet.evals.table import summary_table
from whet.keys import digest
from whet.ledger.store import Ledger
from whet.models.base import Model
from whet.rollout.attempt import Player
from whet.rollout.budget import Budget
from whet.rollout.engine import Engine, Progress, Tally
from whet.run.compose import (
    Given,
    build_bounds,
    build_environment,
    build_limits,
    build_model,
    build_players,
    build_sampling,
    build_works,
    concurrency,
)
from whet.run.floor import play_floor
from whet.run.project import EvalReport, project
from whet.run.workspace import EVAL, RUNS, Identity, claim_run, run_name
from whet.types import Playbook, Policy, Role, Ticket

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True, slots=True)
class EvalResult:
    """What an evaluation found, and where it lies."""

    folder: Path
    report: EvalReport
    tally: Tally
    seconds: float

    @property
    def complete(self) -> bool:
        return not self.tally.stopped

    @property
    def pass_rate(self) -> float | None:
        rate = self.report.summary.overall.pass_rate
        return None if rate is None else rate.value

    def renderable(self) -> RenderableType:
        """The table, for a rich console or a notebook."""
        results = self.report.results
        title = f"{results['model']} on {results['env']}, {results['split']}"
        return summary_table(self.report.summary, title=title, floor=self.report.floor, wall_seconds=self.seconds)

    def __str__(self) -> str:
        from rich.console import Console

        page = Console(width=110, no_color=True, file=StringIO())
        with page.capture() as captured:
            page.print(self.renderable())
        return captured.get().rstrip()


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything about an evaluation that is fixed before the first call."""

    config: EvalConfig
    env: Environment
    model: Model
    playbook: Playbook
    tasks: tuple[int, ...]
    identity: Identity

    @property
    def tickets(self) -> list[Ticket]:
        """Every task once, then every task again: a prefix of the plan is a sample of its own."""
        section = self.config.eval
        return [Ticket(EVAL, section.split, task, draw) for draw in range(section.repeats) for task in self.tasks]

    def folder(self, runs: Path = RUNS, name: str | None = None) -> Path:
        """Where the run lies: under `runs`, by a name of the user's or by its identity."""
        return runs / (name or run_name(self.config, self.identity))

    @property
    def policy(self) -> Policy:
        return Policy(self.model.fingerprint, build_sampling(self.config.target.sampling), self.playbook)


def plan_evaluation(config: EvalConfig, given: Given = Given()) -> Plan:
    """Build what the config names and draw the sample. Calls no model and writes nothing."""
    env = build_environment(config, given)
    model = given.model or build_model(config.target, config.control.target, env)
    if env.judge and config.judge is not None and config.judge.model != env.judge:
        raise WhetError(
            f"{env.name}: agreement was measured for the judge {env.judge}, not for {config.judge.model}; "
            "measure this one first, or name the other with --set judge.model=..."
        )
    playbook = given.playbook or read_playbook(config.eval.playbook)
    section = config.eval
    size = env.size(section.split)
    n = size if section.n == "all" else section.n if size is None else min(section.n, size) or section.n
    tasks = stratified_sample(env, section.split, n, section.seed)
    if config.control.budget.usd is not None and model.price is None:
        raise WhetError(
            f"{config.target.model}: no price is known, so a budget in dollars cannot be kept; "
            "set it with --set 'control.target.price=[0.4, 1.6]' (dollars for a million tokens in, out)"
        )
    identity = Identity(
        config.identity() | {"eval": _sampled(config)}, env.fingerprint, model.fingerprint, digest(playbook)
    )
    return Plan(config, env, model, playbook, tasks, identity)


def _sampled(config: EvalConfig) -> dict[str, object]:
    """The evaluation's part of the identity: the playbook counts by content, not by where its file lies."""
    return config.eval.model_dump(mode="json", exclude={"playbook"})


async def evaluate_plan(
    plan: Plan, *, progress: Progress, runs: Path = RUNS, name: str | None = None, retry_faults: bool = False
) -> EvalResult:
    """Work off a plan under `runs`, continuing where an earlier session of the same evaluation stopped."""
    folder = plan.folder(runs, name)
    players = build_players(plan.config, plan.env, plan.model)
    began = time.monotonic()
    try:
        with claim_run(folder, plan.config, plan.playbook, plan.identity, plan.tasks) as ledger:
            ledger.add_event("session", planned=len(plan.tickets))
            try:
                tally = await _play(plan, players, ledger, progress, retry_faults)
            except BaseException as error:
                ledger.add_event("ended", seconds=time.monotonic() - began, why=type(error).__name__)
                raise
            ledger.add_event("ended", seconds=time.monotonic() - began, why=tally.stopped or "done")
            report = project(folder, plan.config, ledger)
            wall = sum(event.body["seconds"] for event in ledger.events("ended"))
    finally:
        for player in players.values():
            await player.model.close()
    return EvalResult(folder, report, tally, wall)


async def _play(
    plan: Plan, players: Mapping[Role, Player], ledger: Ledger, progress: Progress, retry_faults: bool
) -> Tally:
    config = plan.config
    earlier = sum(event.body["seconds"] for event in ledger.events("ended"))
    budget = Budget(build_limits(config.control), ledger.spent(), earlier)
    engine = Engine(
        plan.env,
        plan.policy,
        players,
        ledger,
        budget,
        bounds=build_bounds(config),
        works=build_works(config),
        concurrency=concurrency(config, players),
        patience=config.control.patience,
    )
    try:
        tally = await engine.run(plan.tickets, progress=progress, what=config.target.model, retry_faults=retry_faults)
        if config.eval.floor and not tally.stopped and "judge" not in players:
            await play_floor(engine, config.control.target, config.eval.split, plan.tasks, progress)
    finally:
        await engine.works.close()
    return tally
