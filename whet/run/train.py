"""A training run from config to claim: plan the splits, learn, open the sealed test once, write what can be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from whet.config.load import load_config, merge, parse_override, read_toml, validate
from whet.config.playbooks import read_playbook
from whet.config.train import DEFAULT_LEARNER, Count, TrainConfig
from whet.envs.base import Environment
from whet.errors import Interrupted, WhetError
from whet.evals.sample import size_of, stratified_sample
from whet.gate.base import Gate
from whet.gate.pace import PACES
from whet.keys import playbook_digest
from whet.learn.judge import FORCING, Judge
from whet.learn.leaks import LeakWatch
from whet.learn.learner import Assignment, Learner, Training, learner_named
from whet.learn.sealed import SealedEnvironment
from whet.learn.standing_files import write_standing
from whet.learn.workshop import Spent, Workshop
from whet.ledger.freeze import refuse_frozen
from whet.ledger.store import FILE
from whet.models.base import FREE, Model, Request
from whet.rollout.cast import open_model, refuse_other_judge, refuse_unpriced, sampling_of
from whet.rollout.claim import Identity, RunStart
from whet.rollout.loop import finish
from whet.rollout.player import Player, Seat
from whet.rollout.progress import Progress, Quiet
from whet.rollout.session import DONE, Halted, Session
from whet.run.caveats import note_choice, was_opened
from whet.run.compose import Given, build_environment
from whet.run.decide import build_gate, without_excluded
from whet.run.kinds import STOPPED, RunPage
from whet.run.sealed_test import SealedResult, SealedTest
from whet.run.sinks import fed_sinks
from whet.run.train_page import result_parts
from whet.run.train_summary import write_summary
from whet.run.workspace import RUNS, doubtful, named_folder, run_name
from whet.types import Playbook, Policy, Reply, Split

KIND = "train"
"""The kind of run that a training is."""

Watch = Callable[[Training], None]
"""Whoever looks on while a learner is at work."""


@dataclass(frozen=True, slots=True)
class TrainPlan:
    """Everything about a training run that is fixed before the first call. The learner never sees `test`."""

    config: TrainConfig
    learner: Learner
    env: Environment
    model: Model
    optimizer: Model | None
    gate: Gate
    initial: Playbook
    tasks: tuple[int, ...]
    select: tuple[int, ...]
    test: tuple[int, ...]
    identity: Identity
    before: TrainPlan | None = None
    """The plan of the run that this one continues, with nobody to consult."""
    replay: bool = False
    """Whether it is worked off from its ledger alone: a test that was not opened stays closed."""

    def folder(self, runs: Path = RUNS, name: str | None = None) -> Path:
        named = name or run_name(self.config, self.identity)
        if (there := named_folder(runs, named) / FILE).is_file():  # it was begun, or copied, right there
            return there.parent
        under = self.learner.subfolder(self.config, SealedEnvironment(self.env), self.tasks)
        return named_folder(runs, f"{under}/{named}" if under else named)

    @property
    def policy(self) -> Policy:
        """Where training starts."""
        return Policy(self.model.fingerprint, sampling_of(self.config.target.sampling), self.initial)

    @property
    def steps(self) -> int:
        earlier = self.before.steps if self.before is not None else 0
        return earlier + self.learner.steps(self.config, len(self.tasks))

    def rehearse(self, out: Path) -> Iterable[str]:
        """What the learner can try before a run, without one; it sees no test task."""
        return self.learner.rehearse(self.config, SealedEnvironment(self.env), self.tasks, self.policy, out)

    def ahead(self, steps: int = 0) -> dict[Split, int]:
        """The rollouts that may still come after so many steps, by split.

        As many for the gate as if each step brought one candidate that differs on every task.
        """
        own = self.learner.steps(self.config, len(self.tasks))
        left = min(own, max(0, self.steps - steps))
        each = PACES[self.config.gate.pace].draws if self.config.gate.name == "paired" else 2
        forced = self.config.gate.name == FORCING or self.learner.forces(self.config)
        playbooks = 2 + (not self.initial.blank) + forced
        return {
            "train": self.learner.rollouts(self.config, len(self.tasks)) * left // max(1, own),
            "select": left * each * len(self.select),
            "test": playbooks * len(self.test) * self.config.train.repeats,
        }

    def start(self, folder: Path) -> RunStart:
        who = (self.env, self.model, self.initial)
        inherits = folder.parent / self.config.continues.run if self.config.continues else None
        return RunStart(
            *(KIND, folder, self.config, self.identity, *who, self.tasks, self.steps, self.optimizer), inherits=inherits
        )


@dataclass(frozen=True, slots=True)
class TrainResult:
    """What a training run came to. `stopped` says why it has not reached its end; the same command continues."""

    folder: Path
    training: Training
    judge: Judge
    tested: SealedResult | None
    summary: dict[str, Any]
    stopped: str
    seconds: float

    @property
    def best(self) -> Playbook:
        return self.judge.best.playbook

    def page(self) -> RunPage:
        """The table, the accepted changes with their evidence, and where to look further; exit code 3 when stopped."""
        return RunPage([*result_parts(self), *doubtful(self.folder)], STOPPED if self.stopped else 0)

    def __repr__(self) -> str:
        return f"TrainResult({str(self.folder)!r}, steps={self.training.steps_done}, stopped={self.stopped!r})"

    def _repr_html_(self) -> str:
        from whet.screen import html_of

        return html_of(*self.page().parts)

    def frame(self) -> Any:
        """Every rollout as a row: a frame of polars or pandas, whichever is installed."""
        from whet.evals.frame import frame_of
        from whet.ledger.store import Ledger

        with Ledger.read(self.folder) as ledger:
            return frame_of(ledger.outcomes())


def load_train_config(
    file: Path | None, base: Mapping[str, Any] | None = None, overrides: Sequence[str] = ()
) -> TrainConfig:
    """A config of the class that its learner is set up by."""
    data = read_toml(file) if file else {}
    for laid_over in (base or {}, *map(parse_override, overrides)):
        merge(data, laid_over)
    learner = learner_named(str(data.get("learner", DEFAULT_LEARNER)))
    beside = dict(learner.beside(file.parent)) if file else {}
    return load_config(learner.config, file, base, overrides, beside)


def plan_training(config: TrainConfig, given: Given = Given()) -> TrainPlan:
    """Build what the config names, draw the splits, refuse what cannot work. Calls no model and writes nothing."""
    learner = learner_named(config.learner)
    env = build_environment(config, given)
    refuse_other_judge(config, env)
    model = given.model or open_model(config.target, config.control.target, env, given.sources)
    optimizer = given.optimizer
    if optimizer is None and learner.consults(config):
        if config.optimizer is None:
            raise WhetError(f"the learner {learner.name} consults an optimizer; name one: --set optimizer.model=...")
        optimizer = open_model(config.optimizer, config.control.optimizer, env, given.sources)
    refuse_unpriced(config, "target", model)
    if optimizer is not None:
        refuse_unpriced(config, "optimizer", optimizer)
    initial = given.playbook or read_playbook(config.train.playbook)
    section = config.train
    tasks = _drawn(env, "train", section.tasks, section.seed)
    select = without_excluded(_drawn(env, "select", section.select, section.seed), config.gate)
    test = () if section.test == 0 else _drawn(env, "test", section.test, section.seed)
    gate = build_gate(config.gate)
    gate.open(len(select))  # refuses a split on which nothing can be decided, before anything is spent
    named = config.identity()
    named["train"] = {key: value for key, value in named["train"].items() if key != "playbook"}
    named["optimizer"] = {"config": named["optimizer"], "model": optimizer.fingerprint if optimizer else ""}
    identity = Identity(named, env.fingerprint, model.fingerprint, playbook_digest(initial))
    before = _plan_before(config, Given(env, model, initial)) if config.continues is not None else None
    return TrainPlan(config, learner, env, model, optimizer, gate, initial, tasks, select, test, identity, before)


def _plan_before(config: TrainConfig, given: Given) -> TrainPlan:
    """The plan of the run that `config` continues; refused where it is not that run any more."""
    continues = config.continues
    assert continues is not None
    learner = learner_named(config.learner)
    if not learner.continues():
        raise WhetError(f"the learner {learner.name} cannot go on from another run; start it anew")
    data = {"control": config.control.model_dump(mode="json", exclude_none=True), **continues.config}
    optimizer = Absent(continues.optimizer) if continues.optimizer else None
    plan = plan_training(validate(learner.config, data, continues.run), replace(given, optimizer=optimizer))
    if plan.identity.digest != continues.identity:
        raise WhetError(
            f"{continues.run}: cannot be continued: its environment (code, arguments or data), its model or its "
            "playbook is another by now; restore it, or train anew"
        )
    return plan


def _drawn(env: Environment, split: Split, wanted: Count, seed: int) -> tuple[int, ...]:
    size = size_of(env, split)
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
    """Work off a plan, continuing where an earlier session stopped. What the releases beside it froze is refused."""
    if not plan.replay:
        refuse_frozen(runs.parent / "releases", plan.config.env.name)
    start = plan.start(plan.folder(runs, name))
    async with Session.open(start, progress) as session:
        shop = _workshop(plan, session)
        judge = Judge.start(shop, plan.policy)
        earlier = await _learnt_before(plan.before, session, judge) if plan.before is not None else None
        shop.after(judge.shop)
        judge.shop = shop

        def moved() -> None:
            _write(start.folder, training, judge)
            note_choice(session, judge.initial.playbook, judge.best.playbook)
            watch(training)
            progress.expect(plan.ahead(training.steps_done))

        progress.expect(plan.ahead())
        training = plan.learner.begin(Assignment(shop, judge, plan.config, plan.tasks, moved, earlier))
        tested: SealedResult | None = None
        stopped = ""
        try:
            try:
                await training.run()
            except Spent as spent:
                training.spent = str(spent)
            if plan.test:
                if plan.replay and not was_opened(session.ledger):
                    raise Halted("the ledger ends before the test")
                test = SealedTest(plan.test, plan.config.train.repeats, plan.gate.metric)
                tested = await test.open(session, judge, plan.identity.digest)
        except Halted as halted:
            stopped = str(halted)
            session.ledger.add_event("halted", why=stopped)
        _write(start.folder, training, judge)
        note_choice(session, judge.initial.playbook, judge.best.playbook)
        seconds = session.end(stopped or DONE)
        summary = write_summary(start, training, judge, tested, stopped, seconds)
    return TrainResult(start.folder, training, judge, tested, summary, stopped, seconds)


def _workshop(plan: TrainPlan, session: Session) -> Workshop:
    held_out = LeakWatch(plan.env, {"train": plan.tasks, "select": plan.select, "test": plan.test})
    return Workshop(session, plan.gate, plan.select, plan.config.train.max_rollouts, held_out)


async def _learnt_before(plan: TrainPlan, session: Session, judge: Judge) -> Training:
    """The training of the run that is continued, worked off again from what was taken over of it."""
    earlier = await _learnt_before(plan.before, session, judge) if plan.before is not None else None
    optimizer = None
    if plan.optimizer is not None:
        assert plan.config.optimizer is not None
        sampling = sampling_of(plan.config.optimizer.sampling)
        optimizer = Seat(Policy(plan.optimizer.fingerprint, sampling), Player(plan.optimizer))
    shop = _workshop(plan, replace(session, optimizer=optimizer))
    shop.after(judge.shop)
    judge.shop = shop
    training = plan.learner.begin(Assignment(shop, judge, plan.config, plan.tasks, before=earlier))
    try:
        await training.run()
    except Spent as spent:
        training.spent = str(spent)
    return training


class Absent(Model):
    """An optimiser that was consulted in an earlier run: all that it said is remembered, and it is not asked again."""

    name = "the optimiser of the run that is continued"
    unpaid = True
    price = FREE

    def __init__(self, fingerprint: str) -> None:
        self.fingerprint = fingerprint

    async def complete(self, request: Request) -> Reply:
        raise WhetError("the run that is continued does not remember all that its optimiser said; train anew")


def _write(folder: Path, training: Training, judge: Judge) -> None:
    training.write(folder)
    write_standing(folder, judge, training.steps_done)


def run_training(
    config: TrainConfig,
    given: Given = Given(),
    *,
    runs: Path = RUNS,
    name: str | None = None,
    progress: Progress | None = None,
    watch: Watch = lambda _: None,
) -> TrainResult:
    """Plan and work off the training that `config` describes. Ctrl-C raises `Interrupted`, which names the run."""
    plan = plan_training(config, given)
    shown = progress or Quiet()
    try:
        with fed_sinks(config, plan.folder(runs, name), shown) as told:
            return finish(lambda: train_plan(plan, progress=told, watch=watch, runs=runs, name=name))
    except KeyboardInterrupt:
        raise Interrupted(str(plan.folder(runs, name))) from None
