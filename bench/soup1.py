"""soup@1: whether the oracle has full credit on the whole bench, under every parser, and how fast tasks and scores are.

python bench/soup1.py [--quick] [--json FILE]

Rates are of CPU time. The peer is what the earlier system did on one core: 175 tasks and 310 scores a second, and 951
of 1,040 tasks on which its oracle earned 1.0. The oracle runs through the real sandbox; that its programs say the same
under all three parsers is shown in this process, on the same pages.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import bs4
from rows import Row, arguments, report

from whet.envs.base import Baseline
from whet.envs.soup1 import FAMILY, bench
from whet.envs.soup1.answers import same
from whet.envs.soup1.archetypes import archetypes
from whet.envs.soup1.environment import FirstSoup
from whet.envs.soup1.reply import read
from whet.envs.soup1.score import grade
from whet.envs.soup1.tools import FirstSoupAttempt
from whet.rollout.drive import drive
from whet.rollout.workbench import Workbench
from whet.types import Score, Task

PARSERS = ("html.parser", "lxml", "html5lib")
EARLIER = "earlier system"
FLOOR_TASKS = 208


def environment() -> FirstSoup:
    env = FAMILY.build("", "", {})
    assert isinstance(env, FirstSoup)
    return env


def played(env: FirstSoup, tasks: Sequence[Task], policy: Baseline, perform: Workbench) -> list[Score]:
    return [drive(env.play(task), lambda said, asked, task=task: policy(task, said), perform).score for task in tasks]


def generation(env: FirstSoup, count: int) -> float:
    """Train tasks built in a second of CPU time, over all archetypes alike."""
    env.task("train", 0)
    began = time.process_time()
    for index in range(count):
        env.task("train", index)
    return count / (time.process_time() - began)


def grading(env: FirstSoup, tasks: Sequence[Task], rounds: int) -> float:
    """Right answers graded in a second of CPU time, from the text of the reply to the score."""
    every = archetypes()
    texts = [right_answer(task) for task in tasks]
    attempts = [FirstSoupAttempt(task, ran=1, made=True, found=True, read=True) for task in tasks]
    began = time.process_time()
    for _ in range(rounds):
        for tried, text in zip(attempts, texts, strict=True):
            grade(tried, read(text), every[tried.task.label.kind].answer, env.settings.rewards)
    return rounds * len(tasks) / (time.process_time() - began)


def right_answer(task: Task) -> str:
    """A reply as a policy that solved the task would write it."""
    if "answer" in task.truth:
        return json.dumps({"status": "ok", "answer": task.truth["answer"]})
    mark = task.truth["limit"]["marks"][0]
    at = task.data["html"].index(mark)
    evidence = task.data["html"][max(0, at - 10) : at + len(mark) + 10]
    limit = {"reason": task.truth["limit"]["reasons"][0], "evidence": evidence}
    return json.dumps({"status": "limit", "limit": limit})


def printed(code: str, html: str, query: str, parser: str) -> dict[str, Any]:
    """What a program of the oracle prints with `parser` as the default."""

    def make_soup(features: str = parser) -> bs4.BeautifulSoup:
        return bs4.BeautifulSoup(html, features)

    names: dict[str, Any] = {"HTML": html, "QUERY": query, "make_soup": make_soup, "json": json, "re": re}
    names |= {name: getattr(bs4, name) for name in ("BeautifulSoup", "NavigableString", "Tag", "Comment")}
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "oracle", "exec"), names)
    said: dict[str, Any] = json.loads(out.getvalue())
    return said


def agrees(task: Task, parser: str) -> bool:
    """Whether the oracle's programs come to the truth with `parser`."""
    html, kept, said = task.data["html"], [], {}
    for code in task.truth["code"]:
        said = printed(f"KEPT = {kept!r}\n{code}", html, task.data["query"], parser)
        kept.append(said.get("keep"))
        html = task.data["pages"].get(said.get("go"), html)
    if "answer" in task.truth:
        return "answer" in said and same(archetypes()[task.label.kind].answer, said["answer"], task.truth["answer"])
    return "limit" in said


def best(rounds: int, measure: Callable[[], float]) -> float:
    return max(measure() for _ in range(rounds))


def oracle_rows(env: FirstSoup, tasks: Sequence[Task], perform: Workbench) -> Iterator[Row]:
    scores = played(env, tasks, env.baselines()["oracle"], perform)
    full = sum(score.hard == 1 and score.soft == 1.0 for score in scores) / len(scores)
    mean = sum(score.reward for score in scores) / len(scores)
    where = f"{len(tasks)} of 1,040 bench tasks, real sandbox; mean reward {mean:.4f}"
    yield Row(
        "soup1_oracle_full_credit", full, "share", 1.0, full == 1.0, EARLIER, 951 / 1040, full / (951 / 1040), where
    )
    for parser in PARSERS:
        share = sum(agrees(task, parser) for task in tasks) / len(tasks)
        yield Row(f"soup1_oracle_{parser}", share, "share", 1.0, share == 1.0, condition=f"{len(tasks)} bench tasks")


def floor_rows(env: FirstSoup, tasks: Sequence[Task], perform: Workbench) -> Iterator[Row]:
    for name, policy in env.baselines().items():
        if name != "oracle":
            scores = played(env, tasks, policy, perform)
            mean = sum(score.reward for score in scores) / len(scores)
            passed = sum(score.hard for score in scores) / len(scores)
            yield Row(
                f"soup1_floor_{name}", mean, "reward", condition=f"pass rate {passed:.3f} on {len(tasks)} bench tasks"
            )


def rows(quick: bool) -> Iterator[Row]:
    env = environment()
    tasks = [env.task("test", index) for index in range(1040)]
    changed = bench.changed(tasks)
    yield Row("soup1_bench_changed", len(changed), "tasks", 0, not changed, condition="against the committed manifest")
    rate = best(3, lambda: generation(env, 1140 if quick else 5700))
    yield Row("soup1_generation", rate, "tasks/s", 1500, rate >= 1500, EARLIER, 175, rate / 175, "CPU time, best of 3")
    rate = best(3, lambda: grading(env, tasks, 1 if quick else 5))
    yield Row("soup1_grading", rate, "scores/s", 5000, rate >= 5000, EARLIER, 310, rate / 310, "CPU time, best of 3")
    sample = tasks[:52] if quick else tasks
    with Workbench() as perform:
        yield from oracle_rows(env, sample, perform)
        yield from floor_rows(env, sample[:FLOOR_TASKS], perform)


if __name__ == "__main__":
    options = arguments(__doc__)
    report(rows(options.quick), options.json)
