"""Builders for the tests of soup: environments, tasks by archetype, attempts, and plays with prepared replies."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from whet.envs.base import Baseline
from whet.envs.soup1 import FAMILY
from whet.envs.soup1.environment import FirstSoup
from whet.envs.soup1.tools import FirstSoupAttempt
from whet.rollout.drive import Transcript, drive
from whet.types import Label, Reply, Score, Split, Task, ToolCall, Work, WorkResult

Perform = Callable[[Work], WorkResult]


def soup(**args: Any) -> FirstSoup:
    env = FAMILY.build("", "", args)
    assert isinstance(env, FirstSoup)
    return env


def tasks_of(kind: str, count: int = 1, split: Split = "train", **args: Any) -> list[Task]:
    """The first tasks of one archetype."""
    env = soup(archetypes=[kind], **args)
    return [env.task(split, index) for index in range(count)]


def limit_task(kind: str, solvable: bool = False) -> Task:
    """A task of a limit archetype, or its solvable twin."""
    return next(task for task in tasks_of(kind, 2) if ("answer" in task.truth) == solvable)


def attempt(truth: Mapping[str, Any], *, html: str = "<p>x</p>", visits: int = 1, **state: Any) -> FirstSoupAttempt:
    """An attempt that ran one program and used BeautifulSoup, unless `state` says otherwise."""
    data = {"html": html, "query": "q", "pages": {}, "visits": visits, "secrets": state.pop("secrets", [])}
    task = Task("train", 0, Label("core.extract_links"), (), truth, data)
    return FirstSoupAttempt(task, **{"ran": 1, "made": True, "found": True, "read": True, **state})


def ok(value: Any) -> str:
    return json.dumps({"status": "ok", "answer": value})


def limit(reason: str, evidence: str) -> str:
    return json.dumps({"status": "limit", "limit": {"reason": reason, "evidence": evidence}})


def calls(*made: tuple[str, Any]) -> Reply:
    """A reply with tool calls: name and the one argument each."""
    names = {"run_python": "code", "navigate": "href"}
    listed = tuple(
        ToolCall(f"c{number}", name, {names.get(name, "x"): value}, "") for number, (name, value) in enumerate(made)
    )
    return Reply("", listed, finish="tool_calls")


def program(code: str) -> Reply:
    return calls(("run_python", code))


def played(env: FirstSoup, task: Task, perform: Perform, *replies: Reply | str) -> Transcript:
    """A play in which the policy says these things, one after the other."""
    rest = iter(replies)
    return drive(env.play(task), lambda said, asked: next(rest, Reply("")), perform)


def score(env: FirstSoup, task: Task, perform: Perform, *replies: Reply | str) -> Score:
    return played(env, task, perform, *replies).score


def by_policy(env: FirstSoup, task: Task, perform: Perform, policy: Baseline) -> Score:
    return drive(env.play(task), lambda said, asked: policy(task, said), perform).score
