"""The checks by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from whet.envs.arguments import Argument
from whet.envs.data.checks.base import Check
from whet.envs.data.checks.choice import Choice
from whet.envs.data.checks.command import Command
from whet.envs.data.checks.fields import JsonFields
from whet.envs.data.checks.number import Number
from whet.envs.data.checks.python import Python
from whet.envs.data.checks.rubric import LabelledReplies, Rubric
from whet.envs.data.checks.text import Anls, Contains, Exact, ExactMatch, Regex, TokenF1
from whet.errors import WhetError, nearest

CHECKS: Mapping[str, type[Check]] = {
    "exact": Exact,
    "contains": Contains,
    "regex": Regex,
    "number": Number,
    "choice": Choice,
    "em": ExactMatch,
    "f1": TokenF1,
    "anls": Anls,
    "json": JsonFields,
    "python": Python,
    "command": Command,
    "rubric": Rubric,
    "agreement": LabelledReplies,
}


def check_named(name: str) -> type[Check]:
    if name not in CHECKS:
        said = f"there is no check {name!r}.{nearest(name, CHECKS)}" if name else "no check is named."
        raise WhetError(f"check: {said} The checks are {', '.join(CHECKS)}")
    return CHECKS[name]


def check_arguments() -> tuple[Argument, ...]:
    """Every argument that some check takes, with the checks that take it."""
    takers: dict[str, list[str]] = {}
    first: dict[str, Argument] = {}
    for name, check in CHECKS.items():
        for one in check.takes:
            first.setdefault(one.name, one)
            takers.setdefault(one.name, []).append(name)
    return tuple(
        Argument(name, one.type, one.default, f"{', '.join(takers[name])}: {one.help}") for name, one in first.items()
    )


def build_check(name: str, answer: str | None, columns: Sequence[str], own: Mapping[str, Any]) -> Check:
    """The check `name`; an argument that belongs to another check is refused."""
    check = check_named(name)
    takes = {one.name for one in check.takes}
    foreign = next((one for one in own if one not in takes), None)
    if foreign is not None:
        takers = ", ".join(other for other, one in CHECKS.items() if foreign in {taken.name for taken in one.takes})
        raise WhetError(f"the check {name!r} has no argument {foreign!r}: it belongs to {takers}")
    return check(answer, columns, own)
