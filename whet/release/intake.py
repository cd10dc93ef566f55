"""The intake: how new work of an environment becomes tasks that nobody has the answer to.

An environment whose answers are choices may have one, under its family's name in the entry points `whet.intakes`. It
reads a piece of work, says what its evidence lacks, and puts it before a policy as the environment itself would.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from whet.envs.base import Baseline, Environment, Play
from whet.envs.registry import Address
from whet.errors import WhetError
from whet.plugins import PluginGroup
from whet.types import Label, Rollout, Split, Task

INTAKES = PluginGroup("whet.intakes", "intake")


@dataclass(frozen=True, slots=True)
class WorkEvidence:
    """What a piece of work shows and does not show: nothing of it is needed to ask a policy."""

    gap: float
    """From 0, nothing is lacking, to 1."""
    lacks: Mapping[str, Any]
    vendor: str = ""
    suspect: bool = False
    """Whether it holds words of a verdict: a policy that repeats what it reads would be obeying it."""


@dataclass(frozen=True, slots=True)
class OpenWork:
    """A piece of work to decide on. `key` is of its content: another photo makes another piece of work."""

    key: str
    name: str
    """What people call it; a piece that was handed in again has the same."""
    task: Task
    weigh: Callable[[], WorkEvidence]
    """Looks at its evidence, once: whoever decides does so while the policy is at work."""
    images: tuple[str, ...] = ()
    site: str = ""
    submitted: str = ""
    row: Mapping[str, Any] = field(default_factory=dict)
    """The work as it was handed in, without any label."""

    @property
    def gap(self) -> float:
        return self.weigh().gap

    @property
    def index(self) -> int:
        """The number that its task has in the ledger of a sitting."""
        return int(self.key[:12], 16)


class Watch(Protocol):
    """Follows work in the order in which it comes."""

    def take(self, work: OpenWork) -> str:
        """What has changed against the reference, from when on it has; '' as long as nothing has."""
        ...


class Intake(Protocol):
    """How new work of one environment is read, asked about and watched."""

    name: str
    fingerprint: str
    """Of the code and the words around a piece of work: what a threshold was chosen with."""
    choices: tuple[str, ...]
    releases: str
    """The choice by which a piece of work gets past without a person."""
    tie: str

    def read(self, line: bytes) -> OpenWork:
        """A piece of work from its JSON; a `WhetError` says what is wrong with it. No label is looked at."""
        ...

    def label(self, line: bytes) -> str | None:
        """The label that a line carries, for whoever calibrates."""
        ...

    def play(self, task: Task) -> Play: ...

    def verdict(self, task: Task, rollout: Rollout) -> str | None: ...

    def reason(self, work: OpenWork, rollout: Rollout) -> tuple[str, tuple[str, ...]]:
        """Why, in the policy's words, and the images that it names."""
        ...

    def baselines(self) -> Mapping[str, Baseline]: ...

    def labelled(self, row: Mapping[str, Any], verdict: str, source: str, at: str) -> dict[str, Any]:
        """The work with a reviewer's verdict as its label, as the environment's own files have it."""
        ...

    def watch(self, reference: Sequence[bytes], alpha: float) -> Watch | None:
        """What follows new work against a reference; None where nothing can be followed."""
        ...


class NoIntake(WhetError):
    """New work of an environment cannot be decided on."""


def open_intake(environment: str, arguments: Mapping[str, Any]) -> Intake:
    """The intake of an environment by its address."""
    address = Address.parse(environment)
    if address.path or address.name not in INTAKES.names():
        known = ", ".join(INTAKES.names()) or "none"
        raise NoIntake(
            f"{environment}: new work of it cannot be decided on, for it has no intake; environments that have one: "
            f"{known}. Its champion answers at whet serve"
        )
    made: Intake = INTAKES.load(address.name)(environment, arguments)
    return made


class IntakeTasks(Environment):
    """The work that is under way, as an environment for a session: a task is known by the content of its work."""

    chooses = True

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self._work: dict[int, OpenWork] = {}
        self.name = intake.name
        self.tie = intake.tie
        self.fingerprint = intake.fingerprint

    def put(self, work: OpenWork) -> None:
        self._work[work.index] = work

    def take_away(self, work: OpenWork) -> None:
        self._work.pop(work.index, None)

    def size(self, split: Split) -> int | None:
        return None

    def label(self, split: Split, index: int) -> Label:
        return self._work[index].task.label

    def task(self, split: Split, index: int) -> Task:
        return self._work[index].task

    def play(self, task: Task) -> Play:
        return self._intake.play(task)

    def verdict(self, task: Task, rollout: Rollout) -> str | None:
        return self._intake.verdict(task, rollout)

    def baselines(self) -> Mapping[str, Baseline]:
        return self._intake.baselines()
