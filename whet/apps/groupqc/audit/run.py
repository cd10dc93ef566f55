"""An audit: every ticket voted on, nothing learned, and what came of it in six files and a report.

It rests on the engine and the ledger of an evaluation. Draws are planned ahead; with sequential voting, a ticket's next
draws are planned when all of its earlier ones are in, so what is decided never depends on who finished first.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from whet.apps.groupqc.audit.figures import BUDGET
from whet.apps.groupqc.audit.files import write_files
from whet.config.playbooks import read_playbook
from whet.config.schema import EvalConfig
from whet.envs.base import Environment
from whet.envs.groupqc.environment import GroupQc
from whet.envs.groupqc.pack.schema import TicketVerdict
from whet.envs.groupqc.verdict.lines import read_verdict
from whet.envs.groupqc.verdict.votes import Ballot, Votes, draws_wanted
from whet.errors import Interrupted, WhetError
from whet.evals.attempts import TaskId
from whet.evals.sample import stratified_sample
from whet.keys import digest
from whet.ledger.store import Ledger
from whet.models.base import Model
from whet.rollout.budget import Budget
from whet.rollout.engine import Engine, Progress, Quiet, Tally
from whet.run.compose import (
    Given,
    build_bounds,
    build_environment,
    build_limits,
    build_model,
    build_player,
    build_sampling,
    build_works,
    concurrency,
)
from whet.run.loop import finish
from whet.run.project import project
from whet.run.workspace import EVAL, RUNS, Identity, claim_run, run_name
from whet.types import SPLITS, Playbook, Policy, Role, Rollout, Split, Ticket


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """How tickets are voted on. `budget` and `every` change only the report, not the votes."""

    ballot: Ballot = Ballot()
    sequential: bool = False
    """Stop drawing for a ticket when its majority is settled."""
    split: Split | Literal["all"] = "all"
    budget: float = BUDGET
    every: int = 256

    def identity(self) -> dict[str, Any]:
        return {"grid": self.ballot.grid, "samples": self.ballot.samples, "split": self.split} | (
            {"sequential": True} if self.sequential else {}
        )


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """Everything about an audit that is fixed before the first call."""

    config: EvalConfig
    settings: AuditSettings
    env: GroupQc
    model: Model
    playbook: Playbook
    tasks: tuple[TaskId, ...]
    over_length: int
    """How many generated tickets were left out because their prompts are too long."""
    identity: Identity

    def folder(self, runs: Path = RUNS, name: str | None = None) -> Path:
        return runs / (name or f"audit-{run_name(self.config, self.identity)}")


@dataclass(slots=True)
class Poll:
    """The votes on one ticket so far, in the order of the plan."""

    task: TaskId
    taken: int = 0
    """Draws planned so far."""
    calls: list[TicketVerdict | None] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    """The reason of each valid draw, and of each invalid one what was wrong with it."""
    faults: int = 0
    whole: bool = True
    """Whether every draw that was planned is in, or ended in a fault."""

    @property
    def votes(self) -> Votes:
        return Votes(tuple(self.calls))

    @property
    def judged(self) -> bool:
        return self.whole and bool(self.calls)


@dataclass(frozen=True, slots=True)
class AuditResult:
    """What an audit found, and where it lies."""

    folder: Path
    metrics: Mapping[str, Any]
    tally: Tally
    seconds: float


def plan_audit(config: EvalConfig, settings: AuditSettings, given: Given = Given()) -> AuditPlan:
    """Build what the config names and choose the tickets. Calls no model and writes nothing of the audit's own."""
    env = _tickets(build_environment(config, given))
    model = given.model or build_model(config.target, config.control.target, env)
    playbook = given.playbook or read_playbook(config.eval.playbook)
    tasks = _chosen(env, config, settings)
    sampled = config.eval.model_dump(mode="json", exclude={"playbook"})
    config_part = config.identity() | {"eval": sampled, "audit": settings.identity()}
    identity = Identity(config_part, env.fingerprint, model.fingerprint, digest(playbook))
    over = frozenset(task for task in tasks if env.size(task[0]) is None and env.too_long(*task))
    fit = tuple(task for task in tasks if task not in over)
    return AuditPlan(config, settings, env, model, playbook, fit, len(over), identity)


def _tickets(env: Environment) -> GroupQc:
    if not isinstance(env, GroupQc):
        raise WhetError(f"{env.name} has no tickets to audit: give groupqc:FILE.jsonl, or groupqc for generated ones")
    return env


def _chosen(env: GroupQc, config: EvalConfig, settings: AuditSettings) -> tuple[TaskId, ...]:
    """All tickets of the splits wanted, or a stratified sample of each where the config says how many."""
    section = config.eval
    wanted: Sequence[Split] = SPLITS if settings.split == "all" else (settings.split,)
    filled = [split for split in wanted if env.size(split) != 0]
    tasks: list[TaskId] = []
    for split in filled:
        size = env.size(split)
        n = size if section.n == "all" else section.n if size is None else min(section.n, size)
        tasks += [(split, index) for index in stratified_sample(env, split, n, section.seed)]
    if not tasks:
        raise WhetError(f"{env.name}: no ticket is left in {' and '.join(wanted)}; {env.left_out or 'it is empty'}")
    return tuple(sorted(tasks, key=lambda task: (SPLITS.index(task[0]), task[1])))


class AuditInterrupted(Interrupted):
    """Ctrl-C ended the audit; the same command goes on."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.args = (f"interrupted; what is done is kept in {folder}, start the same command again to go on",)


def run_audit(
    config: EvalConfig,
    settings: AuditSettings = AuditSettings(),
    given: Given = Given(),
    *,
    runs: Path = RUNS,
    name: str | None = None,
    progress: Progress | None = None,
    retry_faults: bool = False,
) -> AuditResult:
    """Plan and work off the audit that `config` and `settings` describe."""
    plan = plan_audit(config, settings, given)
    shown = progress or Quiet()
    try:
        return finish(lambda: audit_plan(plan, progress=shown, runs=runs, name=name, retry_faults=retry_faults))
    except KeyboardInterrupt:
        raise AuditInterrupted(str(plan.folder(runs, name))) from None


async def audit_plan(
    plan: AuditPlan, *, progress: Progress, runs: Path = RUNS, name: str | None = None, retry_faults: bool = False
) -> AuditResult:
    """Work off a plan under `runs`, continuing where an earlier session of the same audit stopped."""
    folder = plan.folder(runs, name)
    began = time.monotonic()
    try:
        with claim_run(folder, plan.config, plan.playbook, plan.identity, list(range(len(plan.tasks)))) as ledger:
            ledger.add_event("session", planned=len(plan.tasks) * plan.settings.ballot.draws)
            voting = _AuditRounds(plan, ledger, progress, retry_faults)
            try:
                polls = await voting.run()
            except BaseException as error:
                ledger.add_event("ended", seconds=time.monotonic() - began, why=type(error).__name__)
                raise
            ledger.add_event("ended", seconds=time.monotonic() - began, why=voting.tally.stopped or "done")
            project(folder, plan.config, ledger)
            metrics = write_files(folder, plan, polls)
            wall = sum(event.body["seconds"] for event in ledger.events("ended"))
    finally:
        await plan.model.close()
    return AuditResult(folder, metrics, voting.tally, wall)


class _AuditRounds:
    """One session of an audit: an engine for each decode of the grid, and the state of each ticket."""

    def __init__(self, plan: AuditPlan, ledger: Ledger, progress: Progress, retry_faults: bool) -> None:
        self.plan = plan
        self.tally = Tally(0)
        self._ledger = ledger
        self._progress = progress
        self._retry = retry_faults
        earlier = sum(event.body["seconds"] for event in ledger.events("ended"))
        self._budget = Budget(build_limits(plan.config.control), ledger.spent(), earlier)
        self._works = build_works(plan.config)
        self._engines = [self._engine(number) for number in range(len(plan.settings.ballot.grid))]

    def _engine(self, number: int) -> Engine:
        plan, config = self.plan, self.plan.config
        decode = {
            name: value for name, value in asdict(plan.settings.ballot.decode(number)).items() if value is not None
        }
        sampling = config.target.sampling.model_copy(update=decode)
        players: Mapping[Role, Any] = {"target": build_player(plan.model, sampling, config.control.target)}
        policy = Policy(plan.model.fingerprint, build_sampling(sampling), plan.playbook)
        return Engine(
            plan.env,
            policy,
            players,
            self._ledger,
            self._budget,
            bounds=build_bounds(config),
            works=self._works,
            concurrency=concurrency(config, players),
            patience=config.control.patience,
        )

    async def run(self) -> list[Poll]:
        """Round after round until every ticket has the draws it needs, or the run is stopped."""
        ballot, sequential = self.plan.settings.ballot, self.plan.settings.sequential
        polls = [Poll(task) for task in self.plan.tasks]
        try:
            while not self.tally.stopped:
                wanted = {
                    id(poll): draws_wanted(poll.votes, ballot.draws - poll.faults, sequential=sequential)
                    for poll in polls
                }
                open_polls = [poll for poll in polls if wanted[id(poll)] and poll.taken < ballot.draws]
                if not open_polls:
                    break
                await self._round([(poll, wanted[id(poll)]) for poll in open_polls])
        finally:
            await self._works.close()
        return polls

    async def _round(self, wanted: Sequence[tuple[Poll, int]]) -> None:
        """Take the next draws of each ticket, decode by decode, then read them in the order of the plan."""
        drawn = [(poll, draw) for poll, more in wanted for draw in range(poll.taken, poll.taken + more)]
        for number, engine in enumerate(self._engines):
            tickets = [self._ticket(poll, draw) for poll, draw in drawn if draw % len(self._engines) == number]
            if tickets and not self.tally.stopped:
                what = f"{self.plan.config.target.model} votes"
                done = await engine.run(tickets, progress=self._progress, what=what, retry_faults=self._retry)
                self._add(done)
        faulted = self._ledger.faulted()
        for poll, draw in drawn:
            self._read(poll, draw, faulted)

    def _ticket(self, poll: Poll, draw: int) -> Ticket:
        return Ticket(EVAL, *poll.task, draw)

    def _add(self, done: Tally) -> None:
        self.tally.planned += done.planned
        self.tally.replayed += done.replayed
        self.tally.done += done.done
        self.tally.faults += done.faults
        self.tally.stopped = done.stopped

    def _read(self, poll: Poll, draw: int, faulted: frozenset[str]) -> None:
        engine = self._engines[draw % len(self._engines)]
        key = engine.key(self._ticket(poll, draw))
        rollout = self._ledger.rollout(key)
        poll.taken += 1
        if rollout is None:
            poll.faults += key in faulted
            poll.whole = poll.whole and key in faulted
            return
        call, reason = _heard(rollout)
        poll.calls.append(call)
        poll.reasons.append(reason)


def _heard(rollout: Rollout) -> tuple[TicketVerdict | None, str]:
    """The call of a rollout with its reason; where there is none, what was wrong."""
    if not rollout.turns:
        return None, rollout.score.reason if rollout.score else "no_reply"
    reply = rollout.turns[-1].reply
    reading = read_verdict(reply.text, cut_off=reply.truncated)
    return reading.call, reading.reason if reading.valid else reading.code
