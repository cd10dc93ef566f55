"""The contract of a learner: from a workshop and a start policy to candidates under a judge.

A learner is found by the entry point `whet.learners`, as ReflACT is:

    [project.entry-points."whet.learners"]
    reflact = "whet.learn.reflact:LEARNER"

Everything else is shared by all of them: rollouts and consultations (`workshop`), what is kept and why (`judge`), the
sealed test, and the claim.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

from whet.config.train import TrainConfig
from whet.envs.base import Environment
from whet.learn.judge import Judge
from whet.learn.workshop import Workshop
from whet.plugins import PluginGroup
from whet.types import Policy

LEARNERS = PluginGroup("whet.learners", "learner")


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a learner is given: where it works, whom it brings candidates to, and the train tasks. No test task."""

    shop: Workshop
    judge: Judge
    config: Any
    """Of the learner's own class."""
    tasks: tuple[int, ...]
    moved: Callable[[], None] = lambda: None
    """To be called whenever there is something new to write or to tell."""
    before: Training | None = None
    """In a run that continues another: how that one ended, made anew from its ledger."""


class Training(Protocol):
    """A learner at work in one run. Subclass it; the members with a value or a body are optional.

    What it holds is made anew from the ledger when the run is started again.
    """

    steps_done: int = 0
    spent: str = ""
    """Why learning ended before its plan did; '' where it did not."""

    async def run(self) -> None:
        """Bring candidates to the judge until the plan is worked off.

        `Spent`, raised when the rollouts given to learning are taken, may pass through: the run goes on to its test.
        """
        ...

    def news(self) -> Sequence[str]:
        """What has happened since it was last asked, for a person."""
        return ()

    def write(self, folder: Path) -> None:
        """Write the learner's own readable files, as far as they are not written yet."""
        return

    def summary(self) -> dict[str, Any]:
        """The learner's own part of summary.json."""
        return {}


class Learner(Protocol):
    """A way to make a policy better. Subclass it; the members with a value or a body are optional."""

    name: str
    about: str = ""
    config: type[TrainConfig] = TrainConfig
    """What it is set up by: the shared keys, and sections of its own."""

    def begin(self, assignment: Assignment) -> Training: ...

    def beside(self, folder: Path) -> Mapping[str, Any]:
        """What a config takes from files that lie beside it; what is written in the config goes over it."""
        return {}

    def continues(self) -> bool:
        """Whether it can go on from where an earlier training of its own ended (`Assignment.before`)."""
        return False

    def consults(self, config: Any) -> bool:
        """Whether it needs an optimiser model."""
        return False

    def steps(self, config: Any, tasks: int) -> int:
        """How many steps it plans with this many train tasks."""
        return 1

    def rollouts(self, config: Any, tasks: int) -> int:
        """How many rollouts of the target it plans to learn from, the gate's apart."""
        return 0

    def forces(self, config: Any) -> bool:
        """Whether it may change the policy without evidence, so that the final one is another than the best."""
        return False

    def rehearse(
        self, config: Any, env: Environment, tasks: Sequence[int], initial: Policy, out: Path
    ) -> Iterable[str]:
        """For a dry run: try what can be tried for nothing, write files under `out`, and tell a person, a line each."""
        return ()

    def subfolder(self, config: Any, env: Environment, tasks: Sequence[int]) -> str:
        """Where under the folder of runs its runs lie; '' for right there."""
        return ""

    def describe(self, config: Any, tasks: int) -> str:
        """The plan in a line, for a person."""
        steps = self.steps(config, tasks)
        return f"{steps} step{'s' * (steps != 1)}"


def learner_named(name: str) -> Learner:
    found = LEARNERS.load(name)
    if isinstance(found, type):
        raise LEARNERS.refusal(LEARNERS.entry(name), "is a class: the entry point must name an instance of it")
    return cast(Learner, found)
