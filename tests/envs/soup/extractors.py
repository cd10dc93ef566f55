"""Builders for the tests of soup: tasks on small pages, plays with prepared replies, oracles in this process."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import bs4

from whet.envs.base import Baseline
from whet.envs.registry import load_environment
from whet.envs.soup.archetype import TaskKind
from whet.envs.soup.draw import SiteDraft, draw
from whet.envs.soup.environment import Soup
from whet.envs.soup.tools import WebPage
from whet.rollout.drive import drive
from whet.types import Reply, Score, Split, Task, ToolCall, Work, WorkResult

PARSERS = ("html.parser", "lxml", "html5lib")
Perform = Callable[[Work], WorkResult]


def soup(**args: Any) -> Soup:
    env = load_environment("soup", args)
    assert isinstance(env, Soup)
    return env


def small(kind: TaskKind, split: Split, ordinal: int) -> SiteDraft:
    """A task of this kind whose pages are small."""
    return replace(draw(kind, split, ordinal, 42), size="bare" if kind.difficulty == "primer" else "small")


def small_tasks(env: Soup, count: int, limit: bool = False, split: Split = "select") -> list[Task]:
    """The first tasks of a split with small pages, that can or cannot be answered."""
    found: list[Task] = []
    for index in range(400):
        task = env.task(split, index)
        if task.data["size"] in ("bare", "small") and (task.truth["limit"] is not None) == limit:
            found.append(task)
        if len(found) == count:
            return found
    raise AssertionError("too few small tasks")


def extracted(program: str, page: WebPage, parser: str = "html.parser", given: Mapping[str, Any] = {}) -> Any:
    """What a program with the oracle's prelude makes of a page in this process."""
    names: dict[str, Any] = {**given, "re": re, "json": json, "load": lambda href: page.links[href]}
    names |= {name: getattr(bs4, name) for name in ("BeautifulSoup", "NavigableString", "Tag", "Comment")}
    exec(compile(program.replace('PARSER = "html.parser"', f"PARSER = {parser!r}"), "oracle", "exec"), names)
    return json.loads(json.dumps(names["extract"](page.html)))


def call(tool: str, text: str) -> Reply:
    name = {"run_python": "code", "submit": "program"}.get(tool, "x")
    return Reply("", (ToolCall("c", tool, {name: text}, ""),), finish="tool_calls")


def score(env: Soup, task: Task, perform: Perform, *replies: Reply | str) -> Score:
    rest = iter(replies)
    return drive(env.play(task), lambda said, asked: next(rest, Reply("")), perform).score


def by_policy(env: Soup, task: Task, perform: Perform, policy: Baseline) -> Score:
    return drive(env.play(task), lambda said, asked: policy(task, said), perform).score


def limit(reason: str, evidence: str, **more: Any) -> str:
    return json.dumps({"status": "limit", "limit": {"reason": reason, "evidence": evidence}, **more})


def ok(value: Any, **more: Any) -> str:
    return json.dumps({"status": "ok", "answer": value, **more})
