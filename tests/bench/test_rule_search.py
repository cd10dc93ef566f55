"""The bench of rule search: its runs in memory decide what a run with an engine and a ledger decides."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench")]

from rule_search.memory import KeptTickets  # noqa: E402
from rule_search.reviewer import Reviewer, ReviewerModel  # noqa: E402
from rule_search.runs import in_memory  # noqa: E402

from whet.config.load import validate  # noqa: E402
from whet.keys import digest  # noqa: E402
from whet.learn.rules.config import RulesConfig  # noqa: E402
from whet.learn.rules.training import RuleSearch  # noqa: E402
from whet.run.api import train  # noqa: E402
from whet.run.compose import Given  # noqa: E402
from whet.run.train import plan_training  # noqa: E402
from whet.types import Playbook, Rule  # noqa: E402

MISSION = "Escape route check"


def small(**sampling: Any) -> RulesConfig:
    data = {
        "env": {"name": "groupqc"},
        "target": {"model": "simulated:reviewer", "sampling": {"votes": 3, **sampling}},
        "train": {"proposer": "miner", "steps": 2, "tasks": 120, "select": 50, "test": 0},
        "rules": {"candidates": 3, "floor": False, "screen": 4},
    }
    found: RulesConfig = validate(RulesConfig, data, "a test")
    return found


def reviewer_of(env: KeptTickets) -> Reviewer:
    return Reviewer(env.rule_language(env.task("train", 0)))


def told(training: RuleSearch) -> list[tuple[Any, ...]]:
    return [
        (record.fate, str(record.operation), None if record.judgement is None else record.judgement.decision.as_data())
        for state in training.rounds
        for record in state.records
    ]


def test_a_run_in_memory_decides_what_a_run_with_a_ledger_decides(tmp_path: Path) -> None:
    env = KeptTickets("", {"pack": "firesafety", "mission": MISSION, "conventions": 1})
    config, reviewer = small(until_settled=True), reviewer_of(env)
    model = ReviewerModel(reviewer)
    whole = train(config, env=env, model=model, runs=tmp_path)
    assert not whole.stopped
    plan = plan_training(config, Given(env=env, model=model))
    short, _ = in_memory(env, reviewer, config, Playbook(), plan.tasks, plan.select)
    assert isinstance(whole.training, RuleSearch)
    assert told(short) == told(whole.training)
    assert [record for record in told(short) if record[2]], "something came before the gate"


def test_the_reviewer_follows_rules_as_often_as_it_is_said_to() -> None:
    env = KeptTickets("", {"pack": "firesafety", "mission": MISSION, "conventions": "none"})
    reviewer = Reviewer(env.rule_language(env.task("train", 0)), miss=0.2, slip=0.0, mute=0.0)
    rule = Rule("G1", "Fail everything.", predicate={"effect": "require", "condition": {"category": "wall bracket"}})
    book = Playbook(rules=(rule,))
    passing = [task for index in range(60) if (task := env.task("train", index)).truth["label"] == "pass"]
    draws = [reviewer.call(task, book, digest(task.index, number)) for task in passing for number in range(30)]
    assert 0.15 < draws.count("pass") / len(draws) < 0.25
    assert {reviewer.call(task, Playbook(), digest(task.index)) for task in passing} == {"pass"}
