"""A candidate brought to the gate by a person, as a child run of the incumbent's evaluation.

What that evaluation has drawn already is put into the gate's bank and not drawn again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from whet import wire
from whet.config.playbooks import write_playbook
from whet.config.schema import EvalConfig, GateSection
from whet.errors import Halt, Interrupted, WhetError, typed
from whet.evals.metric import Metric
from whet.files import write_atomically, write_json
from whet.gate.alpha import AlphaBudget
from whet.gate.base import Gate
from whet.gate.decide import DECISION, Contest, decide, refuse_identical
from whet.gate.decision import Decision
from whet.gate.evidence import Bank, Draw
from whet.gate.guard import Guard
from whet.gate.registry import gate_named, gate_options
from whet.keys import digest, playbook_digest, policy_digest
from whet.learn.leaks import LeakWatch
from whet.learn.workshop import LEAK
from whet.ledger.store import Ledger
from whet.models.base import Model
from whet.rollout.cast import BASELINE, open_model, refuse_unpriced
from whet.rollout.claim import Identity, RunStart
from whet.rollout.loop import finish
from whet.rollout.progress import Progress, Quiet
from whet.rollout.session import Halted, Session
from whet.run.compose import Given, build_environment
from whet.run.evaluate import EvalPlan, plan_evaluation
from whet.run.kinds import RunPage
from whet.run.register import Register
from whet.run.workspace import EVAL, Run, doubtful
from whet.types import SPLITS, Playbook, Policy, Split

KIND = "gate"
GATE = "gate"
"""The purpose of rollouts that a gate asked for."""

LEAKS = "the candidate holds text of the tasks it is judged by or of test tasks, so its score may be memory"

MOST_LOOKED_AT = 500
"""Tasks of train and test that a candidate's text is compared with."""

CHILDREN = "gates"
DECISION_FILE = "decision.json"
CANDIDATE = "candidate.json"


def build_gate(section: GateSection) -> Gate:
    """The gate that a config describes, with the keys it takes; a key that it does not take is refused."""
    options: dict[str, object] = {
        "metric": Metric(section.metric),
        "seed": section.seed,
        "alpha": section.alpha,
        "min_effect": section.min_effect,
        "max_rollouts": section.max_rollouts,
        "spending": AlphaBudget(section.spending) if section.spending else None,
        "pace": section.pace,
        "exclude": section.exclude,
        "guards": tuple(
            Guard(Metric(guard.metric), guard.bound, guard.better, guard.level, guard.among, guard.optional)
            for guard in section.guards
        ),
        "max_regressions": section.max_regressions,
    }
    taken = gate_options(section.name)
    for key in sorted(section.model_fields_set - {"name", "args", "exclude"}):
        if key not in taken and _differs(section, key):
            raise WhetError(f"gate {section.name}: it has no {key}; leave the key out, or use the gate 'paired'")
    return gate_named(section.name, **{key: options[key] for key in options if key in taken} | section.args)


def without_excluded(tasks: Sequence[int], section: GateSection) -> tuple[int, ...]:
    """The tasks of a gate less those that its config excludes for both arms."""
    unknown = [task for task in section.exclude if task not in tasks]
    if unknown:
        raise WhetError(f"gate: exclude names task {unknown[0]}, which is not among the tasks of the gate")
    return tuple(task for task in tasks if task not in section.exclude)


def _differs(section: GateSection, name: str) -> bool:
    """Whether a key says more than its default, which a stored config always spells out."""
    return bool(getattr(section, name) != GateSection.model_fields[name].default)


@dataclass(frozen=True, slots=True)
class GateResult:
    """A decision and the child run that holds its evidence."""

    folder: Path
    decision: Decision
    replayed: bool
    """Whether the decision was made in an earlier session."""
    leak: str = ""
    """The part of the candidate that stands in a task it is judged by, or in a test task."""

    def __repr__(self) -> str:
        return f"GateResult({str(self.folder)!r}, {str(self.decision)[:400]!r})"

    def _repr_html_(self) -> str:
        from whet.screen import html_of

        return html_of(*self.page().parts)

    def page(self) -> RunPage:
        evidence = [] if self.decision.reason == "identical" else [f"evidence: {self.folder}/{DECISION_FILE}"]
        warned = [f"warning: {LEAKS}: {self.leak!r}"] if self.leak else []
        return RunPage([str(self.decision), *warned, *evidence, *doubtful(self.folder)])


@dataclass(frozen=True, slots=True)
class Challenge:
    """What is brought before the gate: another playbook, another model, or both; what is None stays the incumbent's."""

    playbook: Playbook | None = None
    model: Model | None = None
    address: str = ""
    """Where the model is, so that the run can be continued; '' where an object was handed over."""


async def bring(
    run: Run,
    challenge: Challenge,
    section: GateSection,
    *,
    progress: Progress,
    given: Given = Given(),
    child: Path | None = None,
) -> GateResult:
    """Bring a candidate before the gate that `section` describes, against the incumbent of `run`.

    `child` is the run to continue, where one was begun; without it, its place follows from what is compared.
    """
    try:
        return await _bring(run, challenge, section, progress, given, child)
    finally:
        if challenge.model is not None:
            await challenge.model.close()


async def _bring(
    run: Run, challenge: Challenge, section: GateSection, progress: Progress, given: Given, child: Path | None
) -> GateResult:
    gate = build_gate(section)
    if run.config.eval.split == "test":
        raise WhetError(f"{run.name}: its tasks are of the test split, which no gate may look at; evaluate on select")
    if challenge.model is not None:
        refuse_unpriced(run.config, "target", challenge.model)
    plan = plan_evaluation(run.config, replace(given, playbook=run.playbook))
    candidate = _candidate(plan.policy, challenge)
    same = refuse_identical(gate, plan.policy, candidate) if child is None else None
    if same is not None:
        await plan.model.close()
        return GateResult(run.folder, same, False)
    tasks = without_excluded(plan.tasks, section)
    bank = _bank(run, tasks, gate)
    start = _start(run, plan, challenge, section, candidate, bank)
    if child is not None:
        start = _continued(start, child)
    contest = Contest(GATE, plan.policy, candidate, tasks, GATE, plan.config.eval.split)
    async with Session.open(start, progress) as session:
        if challenge.model is not None:
            session.players.add(challenge.model, run.config.control.target.width)
        write_atomically(start.folder / CANDIDATE, write_playbook(candidate.playbook))
        made_before = any(session.ledger.effects(DECISION))
        try:
            decision = await decide(session, gate, bank, contest)
        except Halted as halted:
            session.end(str(halted))
            raise Halt(
                f"{start.folder}: no decision yet, {halted}; continue with: whet resume {typed(start.folder)}"
            ) from None
        leak = _leak(session, plan, candidate)
        write_json(start.folder / DECISION_FILE, decision.as_data())
        if decision.accepted:
            Register(run.folder.parent).choose(playbook_digest(candidate.playbook), plan.env.name, run.name)
    return GateResult(start.folder, decision, made_before, leak)


def _leak(session: Session, plan: EvalPlan, candidate: Policy) -> str:
    """Text of the tasks it is judged by, or of test tasks, in a person's candidate: told and on record, not refused."""
    if candidate.playbook == plan.policy.playbook:
        return ""
    found = LeakWatch(plan.env, held_out_tasks(plan)).find(candidate.playbook, plan.policy.playbook)
    span = found.span if found is not None else ""
    key = digest(LEAK, policy_digest(candidate))
    if span and session.ledger.effect(key, "", LEAK) is None:
        session.ledger.add_effect(key, LEAK, GATE, "", {"span": span})
    return span


def held_out_tasks(plan: EvalPlan) -> dict[Split, Sequence[int]]:
    """The tasks of the evaluation, and the first of train and test: as many as it has, of generated tasks."""

    def first(split: Split) -> range:
        size = plan.env.size(split)
        return range(min(MOST_LOOKED_AT, len(plan.tasks) if size is None else size))

    found: dict[Split, Sequence[int]] = {split: first(split) for split in SPLITS}
    found[plan.config.eval.split] = plan.tasks
    return found


def _candidate(incumbent: Policy, challenge: Challenge) -> Policy:
    if challenge.playbook is not None:
        incumbent = replace(incumbent, playbook=challenge.playbook)
    return incumbent if challenge.model is None else replace(incumbent, model=challenge.model.fingerprint)


def _start(
    run: Run, plan: EvalPlan, challenge: Challenge, section: GateSection, candidate: Policy, bank: Bank
) -> RunStart:
    gate = section.model_dump(mode="json")
    named = {"gate": gate, "candidate": policy_digest(candidate), "bank": digest(bank)}
    identity = Identity(
        {**plan.identity.config, **named},
        plan.env.fingerprint,
        plan.model.fingerprint,
        playbook_digest(candidate.playbook),
    )
    folder = run.folder / CHILDREN / identity.digest[:8]
    start = plan.start(folder)
    more = {"gate": wire.dumps(gate).decode(), "candidate_model": challenge.address}
    return replace(start, kind=KIND, identity=identity, planned=0, more=more, shares=run.folder)


def _continued(start: RunStart, child: Path) -> RunStart:
    """The start of the run in `child`, refused where it would compare something else than that run does."""
    with Ledger.read(child) as ledger:
        held = ledger.meta()
    if held.get("identity") != start.identity.digest:
        raise WhetError(
            f"{child}: cannot be continued: what it compares is not to be had any more (the evaluation has drawn more "
            "since, the environment has changed, or the candidate was an object that no address names); bring the "
            "candidate again"
        )
    return replace(start, folder=child)


def _bank(run: Run, tasks: Sequence[int], gate: Gate) -> Bank:
    """The incumbent's draws that its own evaluation took."""
    place = {task: position for position, task in enumerate(tasks)}
    drawn = tuple(
        (Draw("incumbent", place[rollout.ticket.index], rollout.ticket.draw), gate.read(rollout.score))
        for rollout in run.rollouts(EVAL)
        if rollout.ticket.index in place
    )
    return replace(gate.open(len(tasks)).extended(drawn), decisions=0)


def open_challenger(address: str, config: EvalConfig, given: Given = Given()) -> Model:
    """The model of a candidate, reached as the target of the incumbent's run is."""
    if address.startswith(BASELINE):
        raise WhetError(f"{address}: a reference policy is no candidate; name a model that can be released")
    section = config.target.model_copy(update={"model": address})
    return open_model(section, config.control.target, build_environment(config, given), given.sources)


def bring_to_gate(
    run: Run,
    challenge: Challenge,
    section: GateSection,
    *,
    progress: Progress | None = None,
    given: Given = Given(),
    child: Path | None = None,
) -> GateResult:
    """Bring a candidate before the gate. Ctrl-C raises `Interrupted`, which names the incumbent's run."""
    shown = progress or Quiet()
    try:
        return finish(lambda: bring(run, challenge, section, progress=shown, given=given, child=child))
    except KeyboardInterrupt:
        raise Interrupted(str(run.folder)) from None
