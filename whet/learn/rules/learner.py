"""Rule search as a learner of the house: what it asks for before it begins, and how it says what it will do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from whet.envs.base import Environment
from whet.learn.learner import Assignment, Learner
from whet.learn.prompt_text import prompts_beside
from whet.learn.rules.config import ROOM, RulesConfig
from whet.learn.rules.mission import one_mission
from whet.learn.rules.training import RuleSearch


class RulesLearner(Learner):
    """Rule search as the entry point `whet.learners` finds it."""

    name = "rules"
    about = "a rule book, one judged operation after another: add, reword, merge and remove rules"
    config = RulesConfig

    def consults(self, config: RulesConfig) -> bool:
        return config.train.proposer == "llm" and not config.rules.audit_only

    def steps(self, config: RulesConfig, tasks: int) -> int:
        return 1 if config.rules.audit_only else config.train.steps

    def rollouts(self, config: RulesConfig, tasks: int) -> int:
        """Attempts at the pool of every round, and of the candidates that are screened there."""
        pool = tasks if config.train.pool == "all" else min(tasks, config.train.pool)
        if config.rules.audit_only:
            return tasks
        screened = 2 * config.rules.screen * (config.rules.candidates + 1) if config.rules.screen else 0
        return config.train.steps * config.train.beam * (pool + screened)

    def describe(self, config: RulesConfig, tasks: int) -> str:
        if config.rules.audit_only:
            return "an audit of the baseline: no proposer, no gate, no change"
        section = config.train
        return (
            f"at most {section.steps} rounds, {config.rules.candidates} operations each by {section.proposer}, "
            f"until {section.patience} rounds bring nothing; beam {section.beam}"
            + (
                f"; up to {config.bounds.confirm} further select tickets where rules speak"
                if config.bounds.confirm
                else ""
            )
        )

    def beside(self, folder: Path) -> dict[str, Any]:
        found = prompts_beside(folder, ROOM)
        return {"rules": {"prompts": found}} if found else {}

    def subfolder(self, config: RulesConfig, env: Environment, tasks: Sequence[int]) -> str:
        """Runs of one mission lie together."""
        return one_mission(env, {"train": tasks[:200]}).replace("/", "-")

    def begin(self, assignment: Assignment) -> RuleSearch:
        return RuleSearch(assignment.shop, assignment.judge, assignment.config, assignment.tasks, assignment.moved)
