"""An environment as a learner sees it: the test split is behind a wall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from whet.envs.base import Baseline, Environment, Play
from whet.envs.language import RuleLanguage
from whet.errors import WhetError
from whet.types import Feedback, Label, Rollout, Rule, Split, Task

STAGES = ("next_stage", "in_stage")
"""What an environment with stages of its own offers a curriculum; it tells nothing of tasks."""


class SealedEnvironment(Environment):
    """`env` without its test tasks. Name and fingerprint are its own, so rollouts have the same keys."""

    def __init__(self, env: Environment) -> None:
        self._env = env
        self.name = env.name
        self.fingerprint = env.fingerprint
        self.about = env.about
        self.judge = env.judge
        self.chooses = env.chooses
        self.tie = env.tie
        for name in STAGES:
            if hasattr(env, name):
                setattr(self, name, getattr(env, name))
        if hasattr(env, "next_environment"):
            self.next_environment = self._next_environment

    def _next_environment(self, pass_rates: Sequence[float]) -> SealedEnvironment:
        """The same after these measurements, sealed too."""
        after: Environment = self._env.next_environment(pass_rates)  # type: ignore[attr-defined]
        return self if after is self._env else SealedEnvironment(after)

    def size(self, split: Split) -> int | None:
        return self._env.size(_open(split, self.name))

    def label(self, split: Split, index: int) -> Label:
        return self._env.label(_open(split, self.name), index)

    def task(self, split: Split, index: int) -> Task:
        return self._env.task(_open(split, self.name), index)

    def play(self, task: Task) -> Play:
        _open(task.split, self.name)
        return self._env.play(task)

    def baselines(self) -> Mapping[str, Baseline]:
        return self._env.baselines()

    def feedback(self, task: Task, rollout: Rollout) -> Feedback:
        if task.split != "train":
            raise WhetError(
                f"{self.name}: a learner asked for feedback on {task.id}; there is some on train tasks alone"
            )
        return self._env.feedback(task, rollout)

    def verdict(self, task: Task, rollout: Rollout) -> str | None:
        return self._env.verdict(task, rollout)

    def right(self, task: Task) -> str:
        if task.split != "train":
            raise WhetError(f"{self.name}: a learner asked what is right on {task.id}; it may of train tasks alone")
        return self._env.right(task)

    def rule_language(self, task: Task) -> RuleLanguage | None:
        return self._env.rule_language(task)

    def rule_book(self, task: Task) -> Sequence[Rule]:
        return self._env.rule_book(task)

    def prompts(self) -> Mapping[str, str]:
        return self._env.prompts()

    def group(self, split: Split, index: int) -> str:
        return self._env.group(_open(split, self.name), index)

    def blob(self, sha256: str) -> bytes:
        return self._env.blob(sha256)

    def warning(self, split: Split) -> str:
        return self._env.warning(split)


def _open(split: Split, name: str) -> Split:
    if split == "test":
        raise WhetError(f"{name}: a learner asked for a test task; the test split is opened once, at the end of a run")
    return split
