"""Two by two: base or trained weights, each with the plain and with the evolved playbook, on the same sealed tasks.

What training weights brings and what evolving a playbook brings need not add up. All four policies are played in one
run, so the test is opened once for all of them, and every difference is taken task by task.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from whet.config.cross import CrossConfig
from whet.config.load import load_config, merge, parse_override, validate
from whet.config.playbooks import read_playbook, write_playbook
from whet.config.schema import EnvSection
from whet.envs.base import Environment
from whet.errors import Interrupted, WhetError, typed
from whet.evals.compare import Comparison, compare, signed
from whet.evals.estimate import Estimate, ranged
from whet.evals.sample import size_of, stratified_sample
from whet.evals.summary import Summary, summarize
from whet.files import write_atomically, write_json
from whet.keys import digest
from whet.models.base import Model
from whet.rollout.cast import open_model, refuse_other_judge, refuse_unpriced, sampling_of
from whet.rollout.claim import CONFIG, Identity, RunStart
from whet.rollout.loop import finish
from whet.rollout.progress import Progress, Quiet
from whet.rollout.session import DONE, Halted, Session
from whet.run.caveats import Caveats, note_caveats
from whet.run.compose import Given, build_environment
from whet.run.export_weights import best_address
from whet.run.kinds import RunPage
from whet.run.sealed_test import TEST_FAULTS
from whet.run.train import load_train_config
from whet.run.workspace import RUNS, find_run
from whet.types import Outcome, Playbook, Policy, Ticket

KIND = "cross"
FILE, EVOLVED = "cross.json", "evolved_playbook.json"

CELLS = ("base, plain", "base, evolved", "trained, plain", "trained, evolved")
CONTRASTS = {
    "the playbook, on the base": (CELLS[0], CELLS[1]),
    "the playbook, on trained weights": (CELLS[2], CELLS[3]),
    "training, with the plain playbook": (CELLS[0], CELLS[2]),
    "training, with the evolved playbook": (CELLS[1], CELLS[3]),
    "both together": (CELLS[0], CELLS[3]),
}


@dataclass(frozen=True, slots=True)
class CrossResult:
    """The four cells, and what each change brings; where two cells cannot be compared, the reason."""

    folder: Path
    summaries: Mapping[str, Summary]
    contrasts: Mapping[str, Comparison | str]
    caveats: Caveats
    stopped: str = ""

    def lines(self) -> Iterator[str]:
        level = f"{100 * self.caveats.level:.4g} %"
        yield f"solved [{level}]"
        for name, summary in self.summaries.items():
            yield f"  {name:<20} {ranged(summary.overall.pass_rate, 2)}  ({summary.overall.tasks} tasks)"
        yield f"difference [{level}]"
        for name, found in self.contrasts.items():
            yield f"  {name:<36} {found if isinstance(found, str) else signed(found.overall.difference)}"
        yield from self.caveats.notes

    def page(self) -> RunPage:
        if self.stopped:
            told = f"stopped: {self.stopped}\ncontinue with: whet resume {typed(self.folder)}"
            return RunPage([told], 1)
        return RunPage(["\n".join(self.lines()), f"results: {self.folder / FILE}"])

    def as_data(self) -> dict[str, Any]:
        def figures(found: Estimate | None) -> Any:
            return (
                None if found is None else {"value": found.value, "interval": [found.interval.low, found.interval.high]}
            )

        def told(found: Comparison | str) -> Any:
            return found if isinstance(found, str) else figures(found.overall.difference)

        return {
            "level": self.caveats.level,
            "opening": self.caveats.opening,
            "cells": {name: figures(summary.overall.pass_rate) for name, summary in self.summaries.items()},
            "contrasts": {name: told(found) for name, found in self.contrasts.items()},
        }


@dataclass(frozen=True, slots=True)
class CrossPlan:
    """Everything that is fixed before the first call."""

    config: CrossConfig
    env: Environment
    base: Model
    trained: Model
    plain: Playbook
    evolved: Playbook
    tasks: tuple[int, ...]
    identity: Identity

    @property
    def policies(self) -> dict[str, Policy]:
        sampling = sampling_of(self.config.target.sampling)
        pairs = ((model, book) for model in (self.base, self.trained) for book in (self.plain, self.evolved))
        return {
            name: Policy(model.fingerprint, sampling, book) for name, (model, book) in zip(CELLS, pairs, strict=True)
        }

    @property
    def tickets(self) -> list[Ticket]:
        section = self.config.eval
        return [Ticket(KIND, section.split, task, draw) for draw in range(section.repeats) for task in self.tasks]


def cross_config(
    weights: str, playbook: str, runs: Path = RUNS, tasks: int | None = None, overrides: Sequence[str] = ()
) -> CrossConfig:
    """The four policies of a run that trained weights and of another that evolved a playbook, or of a file."""
    folder = find_run(weights, runs)
    trained = load_train_config(folder / CONFIG)
    address = best_address(weights, runs)
    if address == trained.target.model:
        raise WhetError(f"{folder}: no trained weights were accepted, so there is nothing to cross")
    section = trained.train
    if tasks is not None and tasks < 1:
        raise WhetError(f"-n {tasks}: four cells need at least one sealed task")
    if tasks is None and not section.test:
        raise WhetError(f"{folder}: was trained with train.test = 0; say how many sealed tasks to open: -n 100")
    asked: dict[str, Any] = {
        "env": trained.env.model_dump(),
        "target": trained.target.model_dump(exclude_none=True),
        "judge": None if trained.judge is None else trained.judge.model_dump(exclude_none=True),
        "limits": trained.limits.model_dump(exclude_none=True),
        "control": trained.control.model_dump(exclude_none=True),
        "eval": {
            "split": "test",
            "n": tasks or section.test,
            "seed": section.seed,
            "repeats": section.repeats,
            "playbook": section.playbook,
            "floor": False,
        },
        "cross": {"weights": address, "playbook": str(_best_playbook(playbook, runs, trained.env))},
    }
    data = {name: value for name, value in asked.items() if value is not None}
    for laid_over in map(parse_override, overrides):
        merge(data, laid_over)
    return validate(CrossConfig, data, str(folder))


def _best_playbook(named: str, runs: Path, env: EnvSection) -> Path:
    """A file or folder of a playbook as given, or the best of a run on the same environment.

    One that was evolved on other tasks says nothing here, or has seen the sealed ones among its own.
    """
    path = Path(named)
    if path.is_file() or (path / "SKILL.md").is_file():
        return path
    folder = find_run(named, runs)
    file = folder / "best_playbook.json"
    if not file.is_file():
        raise WhetError(f"{named}: the run has no playbook (there is no {file.name}); name a training run, or a file")
    other = load_train_config(folder / CONFIG).env
    if other != env:
        what = f"{other.name}, not on {env.name}" if other.name != env.name else f"{env.name} with other env.args"
        raise WhetError(f"{named}: its playbook was evolved on {what}; to cross it all the same name the file {file}")
    return file


def plan_cross(config: CrossConfig, given: Given = Given()) -> CrossPlan:
    """Build what the config names. Calls no model and writes nothing."""
    env = build_environment(config, given)
    refuse_other_judge(config, env)
    base = given.model or open_model(config.target, config.control.target, env, given.sources)
    role = config.target.model_copy(update={"model": config.cross.weights})
    trained = open_model(role, config.control.target, env, given.sources)
    refuse_unpriced(config, "target", base)
    plain, evolved = given.playbook or read_playbook(config.eval.playbook), read_playbook(config.cross.playbook)
    if plain == evolved:
        raise WhetError("the evolved playbook is the plain one: the four cells would be two")
    section = config.eval
    size = size_of(env, section.split)
    n = size if section.n == "all" else section.n if size is None else min(section.n, size)
    tasks = stratified_sample(env, section.split, n, section.seed)
    named = config.identity()
    named["eval"] = config.eval.model_dump(mode="json", exclude={"playbook"})
    named["cross"] = {"weights": trained.fingerprint, "playbook": digest(evolved)}
    identity = Identity(named, env.fingerprint, base.fingerprint, digest(plain))
    return CrossPlan(config, env, base, trained, plain, evolved, tasks, identity)


async def cross_plan(plan: CrossPlan, folder: Path, progress: Progress) -> CrossResult:
    """Play the four cells, continuing where an earlier session stopped."""
    config = plan.config
    who = (plan.env, plan.base, plan.plain, plan.tasks)
    start = RunStart(KIND, folder, config, plan.identity, *who, planned=len(CELLS) * len(plan.tickets))
    outcomes: dict[str, tuple[Outcome, ...]] = {}
    stopped = ""
    async with Session.open(start, progress) as session:
        session.players.add(plan.trained, config.control.target.width)
        write_atomically(folder / EVOLVED, write_playbook(plan.evolved))
        caveats = note_caveats(session, plan.identity.digest, config.eval.split, plan.tasks)
        try:
            for name, policy in plan.policies.items():
                settled = await session.settle(policy, plan.tickets, f"{KIND}, {name}", TEST_FAULTS)
                outcomes[name] = session.outcomes(KIND, settled.keys)
        except Halted as halted:
            stopped = str(halted)
        session.end(stopped or DONE)
    result = folded(folder, outcomes, caveats, stopped)
    if not stopped:
        write_json(folder / FILE, result.as_data())
    return result


def folded(
    folder: Path, outcomes: Mapping[str, tuple[Outcome, ...]], caveats: Caveats, stopped: str = ""
) -> CrossResult:
    contrasts: dict[str, Comparison | str] = {}
    for name, (a, b) in CONTRASTS.items():
        if a not in outcomes or b not in outcomes:
            continue
        try:
            contrasts[name] = compare(outcomes[a], outcomes[b], level=caveats.level)
        except WhetError as refused:
            contrasts[name] = str(refused)
    summaries = {name: summarize(played, level=caveats.level) for name, played in outcomes.items()}
    return CrossResult(folder, summaries, contrasts, caveats, stopped)


def run_cross(
    config: CrossConfig,
    given: Given = Given(),
    *,
    runs: Path = RUNS,
    name: str | None = None,
    progress: Progress | None = None,
) -> CrossResult:
    """Plan and play the four cells. Ctrl-C raises `Interrupted`, which names the run."""
    plan = plan_cross(config, given)
    folder = runs / (name or f"{KIND}-{plan.identity.digest[:8]}")
    shown = progress or Quiet()
    try:
        return finish(lambda: cross_plan(plan, folder, shown))
    except KeyboardInterrupt:
        raise Interrupted(str(folder)) from None


def stored_config(folder: Path) -> CrossConfig:
    """The config of a cross run, with the copy of the evolved playbook that it keeps."""
    config = load_config(CrossConfig, folder / CONFIG)
    kept = config.cross.model_copy(update={"playbook": str(folder / EVOLVED)})
    return config.model_copy(update={"cross": kept})


def read_cross(folder: Path) -> dict[str, Any] | None:
    file = folder / FILE
    return dict(orjson.loads(file.read_bytes())) if file.is_file() else None
