"""The checks by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from whet.envs.arguments import Argument
from whet.envs.data.checks.base import AnswerCheck
from whet.envs.data.checks.choice import ChoiceCheck
from whet.envs.data.checks.code import CodeCheck
from whet.envs.data.checks.command import CommandCheck
from whet.envs.data.checks.fields import JsonCheck
from whet.envs.data.checks.number import NumberCheck
from whet.envs.data.checks.python import PythonCheck
from whet.envs.data.checks.quantity import QuantityCheck
from whet.envs.data.checks.rubric import LabelledReplies, RubricCheck
from whet.envs.data.checks.sets import ListCheck, SetCheck
from whet.envs.data.checks.spans import SpansCheck
from whet.envs.data.checks.sql import SqlCheck
from whet.envs.data.checks.text import AnlsCheck, ContainsCheck, ExactCheck, ExactMatchCheck, RegexCheck, TokenF1Check
from whet.envs.data.checks.workspace import WorkspaceCheck
from whet.errors import WhetError, nearest

CHECKS: Mapping[str, type[AnswerCheck]] = {
    "exact": ExactCheck,
    "contains": ContainsCheck,
    "regex": RegexCheck,
    "number": NumberCheck,
    "quantity": QuantityCheck,
    "choice": ChoiceCheck,
    "set": SetCheck,
    "list": ListCheck,
    "spans": SpansCheck,
    "em": ExactMatchCheck,
    "f1": TokenF1Check,
    "anls": AnlsCheck,
    "json": JsonCheck,
    "sql": SqlCheck,
    "code": CodeCheck,
    "workspace": WorkspaceCheck,
    "python": PythonCheck,
    "command": CommandCheck,
    "rubric": RubricCheck,
    "agreement": LabelledReplies,
}


def check_named(name: str) -> type[AnswerCheck]:
    if name not in CHECKS:
        said = f"there is no check {name!r}.{nearest(name, CHECKS)}" if name else "no check is named."
        raise WhetError(f"check: {said} The checks are {', '.join(CHECKS)}")
    return CHECKS[name]


def check_arguments() -> tuple[Argument, ...]:
    """Every argument that some check takes, with the checks that take it."""
    takers: dict[str, list[str]] = {}
    first: dict[str, Argument] = {}
    for name, check in CHECKS.items():
        for argument in check.takes:
            first.setdefault(argument.name, argument)
            takers.setdefault(argument.name, []).append(name)
    return tuple(
        Argument(name, argument.type, argument.default, f"{', '.join(takers[name])}: {argument.help}")
        for name, argument in first.items()
    )


def build_check(name: str, answer: str | None, columns: Sequence[str], own: Mapping[str, Any]) -> AnswerCheck:
    """The check `name`; an argument that belongs to another check is refused."""
    check = check_named(name)
    takes = {argument.name for argument in check.takes}
    foreign = next((argument for argument in own if argument not in takes), None)
    if foreign is not None:
        takers = ", ".join(other for other, kind in CHECKS.items() if foreign in {taken.name for taken in kind.takes})
        raise WhetError(f"the check {name!r} has no argument {foreign!r}: it belongs to {takers}")
    return check(answer, columns, own)
