"""Where a run starts: its one mission, and the book that it begins with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from whet.envs.base import Environment
from whet.errors import WhetError
from whet.learn.rules.book import CHECKLIST, RuleBook, checked
from whet.types import Playbook, Rule

PLAIN_CHECKLIST = "Decide by what is shown, and by the rules here."
"""The checklist of a mission that has none of its own."""


def one_mission(env: Environment, tasks: Mapping[Any, Sequence[int]]) -> str:
    """The mission of a run: all of its tickets are of one."""
    found = dict.fromkeys(
        str(env.task(split, index).data.get("mission", "")) for split, several in tasks.items() for index in several
    )
    if len(found) > 1:
        names = ", ".join(list(found)[:3])
        raise WhetError(
            f"{env.name}: a rule book is for one mission, and there are {len(found)} ({names} …); "
            "name one: --set env.args.mission=NAME"
        )
    return next(iter(found), "") or env.name


def refuse_strange_golden(env: Environment, golden: Sequence[int]) -> None:
    """Golden tickets are train tasks that exist: any other would be held by every rule."""
    size = env.size("train")
    strange = [task for task in golden if task < 0 or (size is not None and task >= size)]
    if strange:
        there = "" if size is None else f"; there are {size}, counted from 0"
        raise WhetError(f"{env.name}: rules.golden names train task {strange[0]}, which does not exist{there}")


def first_book(env: Environment, tasks: Sequence[int], playbook: Playbook, mission: str) -> RuleBook:
    """Where the book starts: what the playbook brings, else the mission's own rules, else a plain checklist."""
    if playbook.rules:
        book = checked(playbook.rules, "the rule book to start from")
        checklist = book.find(CHECKLIST)
        if checklist is not None and checklist.scope not in ("", mission):
            raise WhetError(f"the rule book to start from is of {checklist.scope!r}, and this run is of {mission!r}")
        return book
    own = tuple(env.rule_book(env.task("train", tasks[0])))
    return checked(own or (Rule(CHECKLIST, PLAIN_CHECKLIST),), f"the rules of {env.name}")
