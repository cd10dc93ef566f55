"""Whether an environment keeps its contract: the properties that the rest of Whet builds on, tried on a sample.

Each property is one function from a `Sample` to a `Finding`. A finding that fails names the first task that shows it.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from whet.envs.base import Baseline, Environment, Messages
from whet.envs.foreign import global_random
from whet.envs.trivial import ABOUT, trivial_baselines
from whet.errors import WhetError
from whet.keys import digest, seed_for
from whet.rollout.drive import Transcript, drive
from whet.rollout.workbench import Workbench
from whet.run.contract import probe
from whet.run.contract.likeness import likeness_of
from whet.run.contract.odd_replies import nasty_replies
from whet.types import SPLITS, Ask, Reply, Score, Split, Task

Status = Literal["ok", "warn", "fail"]

LENIENT = 0.2
"""A trivial policy that scores more than this earns a warning."""

ALIKE = 0.05
"""A split of which a larger share has a near-duplicate in train earns a warning."""

CONTENT = "PASS"
"""What a judge is taken to answer."""

FUZZED = 6
"""How many tasks of the sample are graded on every nasty reply."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One property: whether it holds, in a line; `detail` says more where that helps."""

    name: str
    status: Status
    summary: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Every finding about one environment."""

    environment: str
    fingerprint: str
    findings: tuple[Finding, ...]

    def __repr__(self) -> str:
        found = [f"{finding.status}: {finding.name}" for finding in self.findings if finding.status != "ok"]
        return f"CheckReport({self.environment!r}, passed={self.passed}, {found[:12]})"

    @property
    def passed(self) -> bool:
        return all(finding.status != "fail" for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Sample:
    """What the properties are tried on."""

    env: Environment
    tasks: tuple[Task, ...]
    plan: tuple[tuple[Split, int], ...]
    rng: random.Random
    address: str
    args: Mapping[str, Any]
    seconds: float
    perform: Workbench


def check(
    env: Environment,
    *,
    samples: int = 40,
    seed: int = 0,
    address: str = "",
    args: Mapping[str, Any] | None = None,
) -> CheckReport:
    """Try every property on `samples` tasks. With the address, another process builds them too."""
    rng = random.Random(seed_for("check", seed))
    plan = _plan(env, samples, rng)
    started = time.perf_counter()
    try:
        tasks = tuple(env.task(split, index) for split, index in plan)
    except Exception as error:  # noqa: BLE001 - whatever an environment raises is what there is to report
        finding = Finding("tasks", "fail", f"task() raised {type(error).__name__}: {error}")
        return CheckReport(env.name, env.fingerprint, (finding,))
    seconds = time.perf_counter() - started
    with Workbench() as perform:
        sample = Sample(env, tasks, plan, rng, address, args or {}, seconds, perform)
        findings = tuple(_tried(name, prove, sample) for name, prove in PROPERTIES.items())
    return CheckReport(env.name, env.fingerprint, findings)


def _plan(env: Environment, samples: int, rng: random.Random) -> tuple[tuple[Split, int], ...]:
    """The same indices in every split, so that splits which only rename one another are caught."""
    sizes = {split: env.size(split) for split in SPLITS}
    filled = [split for split in SPLITS if sizes[split] != 0]
    if not filled:
        raise WhetError(f"{env.name} has no tasks in any split: there is nothing to check")
    each = math.ceil(samples / len(filled))
    bound = min((size for size in sizes.values() if size), default=10_000)
    indices = range(bound) if bound <= each else [0, *sorted(rng.sample(range(1, bound), each - 1))]
    return tuple((split, index) for split in filled for index in indices)


def _tried(name: str, prove: Callable[[Sample], Finding], sample: Sample) -> Finding:
    try:
        return prove(sample)
    except Exception as error:  # noqa: BLE001 - whatever an environment raises is what there is to report
        return Finding(name, "fail", f"raised {type(error).__name__}: {error}")


# --------------------------------------------------------------------------------------------- tasks


def _same_bytes(sample: Sample) -> Finding:
    name = "same bytes"
    here = probe.EnvironmentView(sample.env.fingerprint, tuple(digest(task) for task in sample.tasks))
    again = probe.look(sample.env, sample.plan)
    if here.digests != again.digests:
        return Finding(name, "fail", f"{_first(sample, here, again)} differs when tasks are built in another order")
    if not sample.address:
        return Finding(name, "warn", "the same in any order; no address was given, so no other process was asked")
    elsewhere = probe.look_elsewhere(sample.address, sample.args, sample.plan)
    if here.fingerprint != elsewhere.fingerprint:
        return Finding(name, "fail", f"the fingerprint is {elsewhere.fingerprint!r} in another process")
    if here.digests != elsewhere.digests:
        return Finding(name, "fail", f"{_first(sample, here, elsewhere)} differs in another process")
    return Finding(name, "ok", f"{len(sample.plan)} tasks, in any order and in another process")


def _first(sample: Sample, one: probe.EnvironmentView, other: probe.EnvironmentView) -> str:
    pairs = zip(sample.plan, one.digests, other.digests, strict=True)
    split, index = next(place for place, left, right in pairs if left != right)
    return f"{split}/{index}"


def _labels(sample: Sample) -> Finding:
    for (split, index), task in zip(sample.plan, sample.tasks, strict=True):
        if (task.split, task.index) != (split, index):
            return Finding("labels", "fail", f"{split}/{index} calls itself {task.id}")
        label = sample.env.label(split, index)
        if label != task.label:
            return Finding("labels", "fail", f"{task.id} is {task.label}, but label() says {label}")
    kinds = Counter(task.label.kind for task in sample.tasks)
    return Finding("labels", "ok", f"{len(kinds)} kinds: {', '.join(sorted(kinds))}")


def _splits(sample: Sample) -> Finding:
    owner: dict[str, Task] = {}
    for task in sample.tasks:
        first = owner.setdefault(digest(task.messages, task.data), task)
        if first.split != task.split:
            return Finding("splits", "fail", f"{first.id} and {task.id} ask the same")
    if len(owner) < 0.8 * len(sample.tasks):
        return Finding("splits", "warn", f"disjoint, but only {len(owner)} of {len(sample.tasks)} tasks are different")
    return Finding("splits", "ok", f"disjoint; {len(owner)} of {len(sample.tasks)} tasks are different")


def _likeness(sample: Sample) -> Finding:
    """A warning and no failure: tasks of one template are alike, and whoever reads a score on them must know."""
    found = likeness_of(sample.env)
    alike = any(seen.share > ALIKE for seen in found.across.values())
    return Finding("near-duplicates", "warn" if alike else "ok", found.words(), found.detail())


# --------------------------------------------------------------------------------------------- plays


def _truth(sample: Sample) -> Finding:
    """Replays attempts, right and wrong, with the truth replaced: what is asked must not change by a byte."""
    for task, policy in itertools.product(sample.tasks, (_best_policy(sample.env), _wrong)):
        seen = _play(sample, task, policy)
        asked = _asked_without_truth(sample, task, seen.replies)
        for number, (before, after) in enumerate(zip(seen.asks, asked, strict=False), start=1):
            if before.role == "target" and digest(before) != digest(after):
                return Finding("truth", "fail", f"{task.id}: what is asked in turn {number} depends on the truth")
    return Finding("truth", "ok", f"no prompt of {len(sample.tasks)} tasks depends on the truth")


def _asked_without_truth(sample: Sample, task: Task, replies: Sequence[Reply]) -> list[Ask]:
    """What a play asks when its task has no truth, as far as it gets; a grader may well choke on that."""
    asks: list[Ask] = []
    rest = iter(replies)

    def answer(said: Messages, asked: Ask) -> Reply:
        asks.append(asked)
        return next(rest, Reply(""))

    with contextlib.suppress(Exception):
        drive(sample.env.play(replace(task, truth=_sentinel(task.truth))), answer, sample.perform)
    return asks


def _sentinel(truth: Any) -> Any:
    """The same shape with nothing true in it."""
    if isinstance(truth, Mapping):
        return {key: _sentinel(value) for key, value in truth.items()}
    if isinstance(truth, list | tuple):
        return type(truth)(_sentinel(value) for value in truth)
    if isinstance(truth, bool) or truth is None:
        return truth
    return type(truth)(8_675_309) if isinstance(truth, int | float) else "\N{REPLACEMENT CHARACTER}sentinel"


def _oracle(sample: Sample) -> Finding:
    oracle = sample.env.baselines().get("oracle")
    if oracle is None:
        return Finding("oracle", "warn", "there is none, so nothing shows that tasks can be solved")
    for task in sample.tasks:
        score = _play(sample, task, oracle).score
        if score.hard != 1 or score.soft < 1.0:
            return Finding(
                "oracle", "fail", f"{task.id}: the oracle gets {score.soft:g} ({score.reason})", score.detail
            )
    return Finding("oracle", "ok", f"full credit on {len(sample.tasks)} tasks")


def _total(sample: Sample) -> Finding:
    """Grades transcripts that no honest policy writes."""
    tried = 0
    for task in sample.tasks[:: max(1, len(sample.tasks) // FUZZED)][:FUZZED]:
        right = _play(sample, task, _best_policy(sample.env)).replies
        for reply in nasty_replies(sample.rng, right[-1].text if right else ""):
            tried += 1
            try:
                score = _play(sample, task, lambda task, said, reply=reply: reply).score  # type: ignore[misc]
            except Exception as error:  # noqa: BLE001 - grading is total: any exception is the finding
                what = f"{task.id}: grading raised {type(error).__name__}: {error}"
                return Finding("grading", "fail", what, f"on the reply {reply.text[:200]!r}")
            problem = _problem_with(score)
            if problem:
                return Finding("grading", "fail", f"{task.id}: {problem}", f"on the reply {reply.text[:200]!r}")
    return Finding("grading", "ok", f"a valid score for each of {tried} odd replies")


def _problem_with(score: Any) -> str:
    if not isinstance(score, Score):
        return f"the play returned {type(score).__name__}, not a Score"
    if score.hard not in (0, 1):
        return f"hard is {score.hard}"
    if not 0.0 <= score.soft <= 1.0:
        return f"soft is {score.soft}"
    if not math.isfinite(score.reward) or not all(math.isfinite(part) for part in score.parts.values()):
        return "reward or a part of it is not finite"
    return "" if score.reason else "there is no reason"


def _global_state(sample: Sample) -> Finding:
    before = repr(global_random())
    for task in sample.tasks[:FUZZED]:
        sample.env.task(task.split, task.index)
    for task in sample.tasks:
        _play(sample, task, _best_policy(sample.env))
    if repr(global_random()) != before:
        return Finding("global state", "fail", "tasks or plays draw from the global random generators")
    return Finding("global state", "ok", "the global random generators are left alone")


# --------------------------------------------------------------------------------------------- figures


def _trivial(sample: Sample) -> Finding:
    scores = {
        name: sum(_play(sample, task, policy).score.soft for task in sample.tasks) / len(sample.tasks)
        for name, policy in trivial_baselines(sample.env, train_sample=len(sample.tasks)).items()
    }
    floors = ", ".join(f"{name} {score:.2f}" for name, score in scores.items())
    best = max(scores, key=lambda name: scores[name])
    if scores[best] > LENIENT:
        return Finding(
            "floors", "warn", f"lenient scorer: a policy that {ABOUT[best]} scores {scores[best]:.2f}", floors
        )
    return Finding("floors", "ok", floors)


def _throughput(sample: Sample) -> Finding:
    policy = _best_policy(sample.env)
    started = time.perf_counter()
    for task in sample.tasks:
        _play(sample, task, policy)
    graded = len(sample.tasks) / max(time.perf_counter() - started, 1e-9)
    built = len(sample.tasks) / max(sample.seconds, 1e-9)
    return Finding("throughput", "ok", f"{built:,.0f} tasks/s built, {graded:,.0f} plays/s graded")


PROPERTIES: Mapping[str, Callable[[Sample], Finding]] = {
    "same bytes": _same_bytes,
    "labels": _labels,
    "splits": _splits,
    "near-duplicates": _likeness,
    "truth": _truth,
    "oracle": _oracle,
    "grading": _total,
    "global state": _global_state,
    "floors": _trivial,
    "throughput": _throughput,
}


def _best_policy(env: Environment) -> Baseline:
    return env.baselines().get("oracle", _wrong)


def _wrong(task: Task, said: Messages) -> str:
    return "1"


def _play(sample: Sample, task: Task, policy: Baseline) -> Transcript:
    """One attempt of `policy`; a judge is taken to be content, since only the target is on trial here."""
    return drive(
        sample.env.play(task),
        lambda said, asked: policy(task, said) if asked.role == "target" else CONTENT,
        sample.perform,
    )
