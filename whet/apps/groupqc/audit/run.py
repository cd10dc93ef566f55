"""An audit: every ticket voted on, nothing learned, and what came of it in six files and a report.

Draws are planned ahead; with sequential voting, a ticket's next draws are planned when all of its earlier ones are in,
so what is decided never depends on who finished first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from whet import wire
from whet.apps.groupqc.audit.figures import BUDGET
from whet.apps.groupqc.audit.files import write_files
from whet.apps.groupqc.audit.report import page_parts
from whet.apps.groupqc.decision.verdicts import check_rule, decision_parts, write_verdicts
from whet.config.playbooks import read_playbook
from whet.config.schema import EvalConfig
from whet.envs.base import Environment
from whet.envs.groupqc.decision.environment import OpenTickets
from whet.envs.groupqc.environment import GroupQc
from whet.envs.groupqc.pack.schema import TicketVerdict
from whet.envs.groupqc.verdict.lines import read_verdict
from whet.envs.groupqc.verdict.votes import Ballot, DecodeSettings, Votes, draws_wanted
from whet.errors import Interrupted, WhetError, typed
from whet.evals.attempts import TaskId
from whet.evals.sample import stratified_sample
from whet.keys import playbook_digest, policy_digest, rollout_key
from whet.ledger.store import Ledger
from whet.models.base import Model
from whet.release.threshold import ReleaseRule, read_rule
from whet.rollout.cast import open_model, sampling_of
from whet.rollout.claim import Identity, RunStart
from whet.rollout.loop import finish
from whet.rollout.progress import Progress, Quiet, Tally
from whet.rollout.session import DONE, Session
from whet.rollout.votes import single, vote_draws
from whet.run.compose import Given, build_environment
from whet.run.kinds import RunPage
from whet.run.project import project
from whet.run.workspace import EVAL, RUNS, run_name
from whet.types import SPLITS, Playbook, Policy, Rollout, Split, Ticket

KIND = "audit"
"""The kind of run that an audit is."""

STOPPED = 3
"""Exit code of an audit that was ended by a budget or by too many faults."""


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """How tickets are voted on. `budget`, `every` and `threshold` change only what is written, not the votes."""

    ballot: Ballot = Ballot()
    sequential: bool = False
    """Stop drawing for a ticket when its majority is settled."""
    split: Split | Literal["all"] = "all"
    budget: float = BUDGET
    every: int = 256
    threshold: str = ""
    """For tickets without labels: the file that says from which score on one is released."""

    def identity(self) -> dict[str, Any]:
        return {"grid": self.ballot.grid, "samples": self.ballot.samples, "split": self.split} | (
            {"sequential": True} if self.sequential else {}
        )

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> AuditSettings:
        """Settings from the JSON that a run keeps of them."""
        ballot = data["ballot"]
        grid = tuple(DecodeSettings(**decode) for decode in ballot["grid"])
        return cls(**{**data, "ballot": Ballot(grid, ballot["samples"])})


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """Everything about an audit that is fixed before the first call."""

    config: EvalConfig
    settings: AuditSettings
    env: GroupQc | OpenTickets
    playbook: Playbook
    tasks: tuple[TaskId, ...]
    over_length: int
    """How many generated tickets were left out because their prompts are too long."""
    identity: Identity
    rule: ReleaseRule | None = None

    def folder(self, runs: Path = RUNS, name: str | None = None) -> Path:
        kind = "decide" if isinstance(self.env, OpenTickets) else "audit"
        return runs / (name or f"{kind}-{run_name(self.config, self.identity)}")

    @property
    def policies(self) -> tuple[Policy, ...]:
        """The policy of each decode of the grid."""
        return tuple(self._policy(decode) for decode in self.settings.ballot.grid)

    def _policy(self, decode: DecodeSettings) -> Policy:
        given = {name: value for name, value in asdict(decode).items() if value is not None}
        sampling = self.config.target.sampling.model_copy(update=given)
        return Policy(self.identity.model, sampling_of(sampling), self.playbook)

    def start(self, folder: Path, model: Model) -> RunStart:
        who = (self.env, model, self.playbook)
        tasks, votes = tuple(range(len(self.tasks))), len(self.tasks) * self.settings.ballot.draws
        kept = {KIND: wire.dumps(self.settings).decode()}
        return RunStart(KIND, folder, self.config, self.identity, *who, tasks, votes, more=kept)


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

    def page(self) -> RunPage:
        """The matrix, the figures, what else there is to know. Exit code 1 when tickets are left without a vote."""
        told = decision_parts if self.metrics["mode"] == "decide" else page_parts
        parts = told(self.folder, self.metrics)
        if self.tally.stopped:
            parts.append(f"stopped: {self.tally.stopped}\ncontinue with: whet resume {typed(self.folder)}")
            return RunPage(parts, STOPPED)
        return RunPage(parts, 1 if self.metrics["n_unfinished"] else 0)


def plan_audit(
    config: EvalConfig, settings: AuditSettings, env: Environment, model: str, playbook: Playbook
) -> AuditPlan:
    """Choose the tickets. `model` is the fingerprint of who votes; nobody is called, and nothing is written."""
    tickets = _tickets(env)
    if config.target.sampling.votes > 1 and settings.ballot.draws > 1:
        raise WhetError(
            f"target.sampling.votes is {config.target.sampling.votes} and the audit draws {settings.ballot.draws}: "
            "that would be a vote on votes; leave one of them out"
        )
    tasks = _chosen(tickets, config, settings)
    sampled = config.eval.model_dump(mode="json", exclude={"playbook"})
    config_part = config.identity() | {"eval": sampled, "audit": settings.identity()}
    identity = Identity(config_part, env.fingerprint, model, playbook_digest(playbook))
    over = frozenset(task for task in tasks if env.size(task[0]) is None and tickets.too_long(*task))
    fit = tuple(task for task in tasks if task not in over)
    plan = AuditPlan(config, settings, tickets, playbook, fit, len(over), identity)
    if not isinstance(tickets, OpenTickets) or not settings.threshold:
        return plan
    rule = read_rule(Path(settings.threshold))
    check_rule(plan, rule)
    return replace(plan, rule=rule)


def _tickets(env: Environment) -> GroupQc | OpenTickets:
    if not isinstance(env, GroupQc | OpenTickets):
        raise WhetError(f"{env.name} has no tickets to audit: give groupqc:FILE.jsonl, or groupqc for generated ones")
    return env


def _chosen(env: GroupQc | OpenTickets, config: EvalConfig, settings: AuditSettings) -> tuple[TaskId, ...]:
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


def run_audit(
    config: EvalConfig,
    settings: AuditSettings = AuditSettings(),
    given: Given = Given(),
    *,
    retry_faults: bool = False,
    progress: Progress | None = None,
    runs: Path = RUNS,
    name: str | None = None,
) -> AuditResult:
    """Plan and work off the audit that is described. Ctrl-C raises `Interrupted`, which names the run."""
    env = _tickets(build_environment(config, given))
    model = given.model or open_model(config.target, config.control.target, env)
    playbook = given.playbook or read_playbook(config.eval.playbook)
    plan = plan_audit(config, settings, env, model.fingerprint, playbook)
    start = plan.start(plan.folder(runs, name), model)
    try:
        return finish(lambda: audit_plan(plan, start, progress or Quiet(), retry_faults))
    except KeyboardInterrupt:
        raise Interrupted(str(start.folder)) from None


async def audit_plan(plan: AuditPlan, start: RunStart, progress: Progress, retry_faults: bool = False) -> AuditResult:
    """Work off a plan, continuing where an earlier session of the same audit stopped."""
    async with Session.open(start, progress) as session:
        voting = VoteCount(plan, session.ledger)
        tally = await _vote(session, voting, retry_faults)
        seconds = session.end(tally.stopped or DONE)
        metrics = write_audit(start.folder, voting)
    return AuditResult(start.folder, metrics, tally, seconds)


async def _vote(session: Session, voting: VoteCount, retry_faults: bool) -> Tally:
    """Round after round until every ticket has the draws it needs, or the run is stopped."""
    tally = Tally(0)
    policies = voting.plan.policies
    what = f"{voting.plan.config.target.model} votes"
    while not tally.stopped and (drawn := voting.next_draws()):
        for number, policy in enumerate(policies):
            tickets = [voting.ticket(poll, draw) for poll, draw in drawn if draw % len(policies) == number]
            if tickets and not tally.stopped:
                tally.add(await session.work_off(policy, tickets, what, retry_faults=retry_faults))
        voting.read(drawn)
    return tally


class VoteCount:
    """The votes on every ticket as a ledger has them, round after round."""

    def __init__(self, plan: AuditPlan, ledger: Ledger) -> None:
        self.plan = plan
        self.ledger = ledger
        self.polls = [Poll(task) for task in plan.tasks]
        self._policies = [policy_digest(policy) for policy in plan.policies]

    def next_draws(self) -> list[tuple[Poll, int]]:
        """The next draws of each ticket that needs more of them; none when all is decided."""
        ballot, sequential = self.plan.settings.ballot, self.plan.settings.sequential
        drawn: list[tuple[Poll, int]] = []
        for poll in self.polls:
            if poll.taken < ballot.draws:
                more = draws_wanted(poll.votes, ballot.draws - poll.faults, sequential=sequential)
                drawn += [(poll, draw) for draw in range(poll.taken, poll.taken + more)]
        return drawn

    def ticket(self, poll: Poll, draw: int) -> Ticket:
        return Ticket(EVAL, *poll.task, draw)

    def read(self, drawn: Sequence[tuple[Poll, int]]) -> None:
        """Count the draws of a round, in the order of the plan; one that the ledger lacks leaves its ticket open."""
        faulted = self.ledger.faulted()
        for poll, draw in drawn:
            key = self._key(poll, draw)
            rollout = self.ledger.rollout(key)
            poll.taken += 1
            if rollout is None:
                poll.faults += key in faulted
                poll.whole = poll.whole and key in faulted
                continue
            for vote in self._votes(poll, draw) or (rollout,):
                call, reason = _heard(vote)
                poll.calls.append(call)
                poll.reasons.append(reason)

    def read_all(self) -> None:
        """Count every round that the ledger has; the one in which the run was stopped is the last."""
        while all(poll.whole for poll in self.polls) and (drawn := self.next_draws()):
            self.read(drawn)

    def _votes(self, poll: Poll, draw: int) -> list[Rollout]:
        """Where the policy votes by itself: the draws that its answer was made of."""
        policy = single(self.plan.policies[0])
        if policy == self.plan.policies[0]:
            return []
        draws = vote_draws(self.ticket(poll, draw), self.plan.config.target.sampling.votes)
        keys = (rollout_key(vote, self.plan.env.fingerprint, policy_digest(policy)) for vote in draws)
        return [rollout for rollout in map(self.ledger.rollout, keys) if rollout is not None]

    def _key(self, poll: Poll, draw: int) -> str:
        policy = self._policies[draw % len(self._policies)]
        return rollout_key(self.ticket(poll, draw), self.plan.env.fingerprint, policy)


def write_audit(folder: Path, voting: VoteCount) -> Mapping[str, Any]:
    """All readable files of an audit; returns its figures."""
    project(folder, voting.plan.config, voting.ledger)
    write = write_verdicts if isinstance(voting.plan.env, OpenTickets) else write_files
    return write(folder, voting.plan, voting.polls)


def _heard(rollout: Rollout) -> tuple[TicketVerdict | None, str]:
    """The call of a rollout with its reason; where there is none, what was wrong."""
    if not rollout.turns:
        return None, rollout.score.reason if rollout.score else "no_reply"
    reply = rollout.turns[-1].reply
    reading = read_verdict(reply.text, cut_off=reply.truncated)
    return reading.call, reading.reason if reading.valid else reading.code
