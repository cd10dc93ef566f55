"""An evaluation from config to table: plan a sample, work it off, play the floor, write what can be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whet.config.playbooks import read_playbook
from whet.config.schema import EvalConfig
from whet.envs.base import Environment
from whet.errors import Interrupted, WhetError, typed
from whet.evals.sample import size_of, stratified_sample
from whet.evals.table import summary_table
from whet.keys import playbook_digest
from whet.ledger.store import Ledger
from whet.models.base import Model
from whet.rollout.cast import open_model, refuse_other_judge, refuse_unpriced, sampling_of
from whet.rollout.claim import Identity, RunStart
from whet.rollout.loop import finish
from whet.rollout.progress import Progress, Quiet, Tally
from whet.rollout.session import DONE, Session
from whet.run.caveats import note_caveats
from whet.run.compose import Given, build_environment
from whet.run.floor import play_floor
from whet.run.kinds import STOPPED, RunPage
from whet.run.project import EvalReport, project
from whet.run.sinks import fed_sinks
from whet.run.workspace import EVAL, RUNS, doubtful, named_folder, run_name
from whet.types import Playbook, Policy, Ticket

if TYPE_CHECKING:
    from rich.console import RenderableType


KIND = "eval"
"""The kind of run that an evaluation is."""


@dataclass(frozen=True, slots=True)
class EvalResult:
    """What an evaluation found, and where it lies."""

    folder: Path
    report: EvalReport
    tally: Tally
    seconds: float
    fewer: str = ""
    """Where there are fewer tasks than were asked for: how many."""

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
        report = self.report
        return summary_table(
            report.summary, title=title, floor=report.floor, wall_seconds=self.seconds, notes=report.caveats.notes
        )

    def page(self) -> RunPage:
        """The table, how the run ended, and what to do next.

        Exit code 1 when nothing but faults came of it, or a service gave out on the way; 3 when a budget stopped it.
        """
        parts: list[str | RenderableType] = [self.renderable()]
        tally, fault = self.tally, self.report.fault
        if fault is not None:
            parts.append(f"last fault: {fault}")
        if tally.replayed and not tally.done and not tally.stopped:
            parts.append(f"all {tally.replayed} rollouts replayed from {self.folder}; another --seed draws anew")
        if tally.stopped:
            parts.append(f"stopped: {tally.stopped}\ncontinue with: whet resume {typed(self.folder)}")
        if self.fewer:
            parts.append(self.fewer)
        parts.extend(doubtful(self.folder))
        parts.append(f"results: {self.folder}/results.json\nlook at it: whet report {typed(self.folder)}, or whet view")
        nothing = fault is not None and not self.report.summary.overall.rollouts
        return RunPage(parts, 1 if nothing or tally.failed else STOPPED if tally.stopped else 0)

    def __repr__(self) -> str:
        rate = self.report.summary.overall.pass_rate
        solved = "none scored" if rate is None else f"pass_rate={rate.value:.3f}"
        return f"EvalResult({str(self.folder)!r}, {solved}, stopped={self.tally.stopped[:200]!r})"

    def __str__(self) -> str:
        from whet.screen import plain

        return plain(self.renderable())

    def _repr_html_(self) -> str:
        from whet.screen import html_of

        return html_of(self.renderable())

    def frame(self) -> Any:
        """Every rollout as a row: a frame of polars or pandas, whichever is installed."""
        from whet.evals.frame import frame_of

        with Ledger.read(self.folder) as ledger:
            return frame_of(ledger.outcomes())


@dataclass(frozen=True, slots=True)
class EvalPlan:
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
        return named_folder(runs, name or run_name(self.config, self.identity))

    @property
    def policy(self) -> Policy:
        return Policy(self.model.fingerprint, sampling_of(self.config.target.sampling), self.playbook)

    def start(self, folder: Path) -> RunStart:
        return RunStart(
            KIND,
            folder,
            self.config,
            self.identity,
            self.env,
            self.model,
            self.playbook,
            self.tasks,
            planned=len(self.tickets),
        )


def plan_evaluation(config: EvalConfig, given: Given = Given()) -> EvalPlan:
    """Build what the config names and draw the sample. Calls no model and writes nothing."""
    refuse_shard(config)
    env = build_environment(config, given)
    model = given.model or open_model(config.target, config.control.target, env, given.sources)
    refuse_other_judge(config, env)
    refuse_unpriced(config, "target", model)
    playbook = given.playbook or read_playbook(config.eval.playbook)
    section = config.eval
    size = size_of(env, section.split)
    n = size if section.n == "all" else section.n if size is None else min(section.n, size) or section.n
    tasks = stratified_sample(env, section.split, n, section.seed)
    identity = Identity(
        config.identity() | {"eval": _sampled(config)}, env.fingerprint, model.fingerprint, playbook_digest(playbook)
    )
    return EvalPlan(config, env, model, playbook, tasks, identity)


def _sampled(config: EvalConfig) -> dict[str, object]:
    """The evaluation's part of the identity: the playbook counts by content, not by where its file lies."""
    return config.eval.model_dump(mode="json", exclude={"playbook"})


async def evaluate_plan(
    plan: EvalPlan, *, progress: Progress, runs: Path = RUNS, name: str | None = None, retry_faults: bool = False
) -> EvalResult:
    """Work off a plan under `runs`, continuing where an earlier session of the same evaluation stopped."""
    config, section = plan.config, plan.config.eval
    start = plan.start(plan.folder(runs, name))
    async with Session.open(start, progress) as session:
        source = section.playbook
        note_caveats(session, plan.identity.digest, section.split, plan.tasks, playbook=plan.playbook, source=source)
        tickets = shard_of(plan.tickets, config.control.shard, lambda ticket: session.key(plan.policy, ticket))
        tally = await session.work_off(plan.policy, tickets, config.target.model, retry_faults=retry_faults)
        first = config.control.shard is None or config.control.shard.startswith("1/")
        if section.floor and first and not tally.stopped and session.judge is None:
            await play_floor(session, section.split, plan.tasks)
        seconds = session.end(tally.stopped or DONE)
        report = project(start.folder, config, session.ledger)
    return EvalResult(start.folder, report, tally, seconds, _fewer(plan))


def refuse_shard(config: EvalConfig) -> None:
    """A part that does not exist, or that would open a test, is refused before anything is made."""
    if config.control.shard is None:
        return
    part, of = map(int, config.control.shard.split("/"))
    if part > of:
        raise WhetError(f"control.shard = '{part}/{of}': there is no such part; give one from 1/{of} to {of}/{of}")
    if config.eval.split == "test":
        raise WhetError("control.shard: a test is opened once, by one run; play it whole, with --engine ray")


def shard_of(tickets: list[Ticket], shard: str | None, key: Callable[[Ticket], str]) -> list[Ticket]:
    """The tickets that fall to a shard by their keys: spread evenly, and known without asking anybody."""
    if shard is None:
        return tickets
    part, of = map(int, shard.split("/"))
    return [ticket for ticket in tickets if int(key(ticket)[:12], 16) % of == part - 1]


def _fewer(plan: EvalPlan) -> str:
    asked = plan.config.eval.n
    if asked == "all" or asked <= len(plan.tasks):
        return ""
    return f"{asked:,} tasks were asked for; {plan.config.eval.split} has {len(plan.tasks):,}"


def run_evaluation(
    config: EvalConfig,
    given: Given = Given(),
    *,
    runs: Path = RUNS,
    name: str | None = None,
    progress: Progress | None = None,
    retry_faults: bool = False,
) -> EvalResult:
    """Plan and work off the evaluation that `config` describes. Ctrl-C raises `Interrupted`, which names the run."""
    plan = plan_evaluation(config, given)
    shown = progress or Quiet()
    try:
        with fed_sinks(config, plan.folder(runs, name), shown) as told:
            return finish(lambda: evaluate_plan(plan, progress=told, runs=runs, name=name, retry_faults=retry_faults))
    except KeyboardInterrupt:
        raise Interrupted(str(plan.folder(runs, name))) from None
