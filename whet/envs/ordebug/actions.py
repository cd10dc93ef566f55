"""The actions of the play: what each is called, what it takes, and how arguments become one.

A text line and a tool call name the same actions with the same arguments; both are read here, so that there is one
place where an action is sound or not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from whet.envs.ordebug.algebra import linear, number
from whet.envs.ordebug.edits import AddRow, DropRow, Edit, Relax, SetBounds, SetCoef, SetRhs, SetSense, SetType
from whet.envs.ordebug.model import INF, KINDS, SENSES, Kind, Sense
from whet.errors import nearest
from whet.types import ToolSpec

SHOWN_AT_ONCE = 8
"""Elements that one `show` may ask for."""

_NO_BOUND = ("none", "inf", "-inf", "+inf", "free")


class ActionError(Exception):
    """Why something is not an action: a sentence for whoever wrote it."""


@dataclass(frozen=True, slots=True)
class Action:
    """A sound action: an edit of the model, or a word with the names it is about."""

    name: str
    edit: Edit | None = None
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Signature:
    """How an action is written, what it does, and what its arguments are (JSON schemas by name, in order)."""

    usage: str
    about: str
    arguments: Mapping[str, Mapping[str, Any]]
    build: Callable[[Mapping[str, Any]], Action]
    optional: tuple[str, ...] = ()

    @property
    def required(self) -> list[str]:
        return [name for name in self.arguments if name not in self.optional]


_NAME = {"type": "string"}
_NUMBER = {"type": "number"}
_BOUND = {"type": ["number", "null"], "description": "null: no bound"}
_NAMES = {"type": "array", "items": {"type": "string"}}


def _plain(name: str) -> Callable[[Mapping[str, Any]], Action]:
    return lambda given: Action(name)


def _about_names(name: str) -> Callable[[Mapping[str, Any]], Action]:
    def build(given: Mapping[str, Any]) -> Action:
        names = given["names"]
        if not isinstance(names, list | tuple) or not names:
            raise ActionError(f"{name} needs at least one name")
        if name == "show" and len(names) > SHOWN_AT_ONCE:
            raise ActionError(f"show takes at most {SHOWN_AT_ONCE} names at a time")
        return Action(name, names=tuple(dict.fromkeys(_word(word, name) for word in names)))

    return build


def _editing(name: str, make: Callable[[Mapping[str, Any]], Edit]) -> Callable[[Mapping[str, Any]], Action]:
    return lambda given: Action(name, make(given))


def _set_type(given: Mapping[str, Any]) -> Edit:
    column, kind = _word(given["variable"], "set_type"), given["type"]
    if kind not in KINDS:
        raise ActionError(f"{kind!r} is not a type of variable: {', '.join(KINDS)}")
    if ("lower" in given) != ("upper" in given):
        raise ActionError("set_type takes both bounds or none")
    bounds = (_bound(given["lower"]), _bound(given["upper"])) if "lower" in given else None
    return SetType(column, cast(Kind, kind), bounds)


def _add(given: Mapping[str, Any]) -> Edit:
    terms, sense, rhs = parse_constraint(str(given["constraint"]))
    return AddRow(_word(given["row"], "add"), terms, sense, rhs)


ACTIONS: Mapping[str, Signature] = {
    "get_iis": Signature("get_iis", "a smallest set of constraints and bounds that contradict", {}, _plain("get_iis")),
    "another_iis": Signature("another_iis", "a further contradiction, if there is one", {}, _plain("another_iis")),
    "relaxation": Signature(
        "relaxation", "where the least total violation of constraints and bounds falls", {}, _plain("relaxation")
    ),
    "farkas": Signature("farkas", "multipliers that prove the contradiction", {}, _plain("farkas")),
    "find": Signature(
        "find WORD ...", "lines of the specification with these words", {"names": _NAMES}, _about_names("find")
    ),
    "check_slack": Signature(
        "check_slack ROW",
        "where a constraint stands now",
        {"row": _NAME},
        lambda given: Action("check_slack", names=(_word(given["row"], "check_slack"),)),
    ),
    "show": Signature(
        "show NAME ...",
        f"up to {SHOWN_AT_ONCE} constraints or variables, or objective",
        {"names": _NAMES},
        _about_names("show"),
    ),
    "set_sense": Signature(
        "set_sense ROW <=|>=|=",
        "change a comparison",
        {"row": _NAME, "sense": {"type": "string", "enum": list(SENSES)}},
        _editing("set_sense", lambda given: SetSense(_word(given["row"], "set_sense"), _sense(given["sense"]))),
    ),
    "set_rhs": Signature(
        "set_rhs ROW NUMBER",
        "change the right-hand side",
        {"row": _NAME, "value": _NUMBER},
        _editing("set_rhs", lambda given: SetRhs(_word(given["row"], "set_rhs"), _number(given["value"]))),
    ),
    "set_coef": Signature(
        "set_coef ROW VARIABLE NUMBER",
        "change a coefficient; 0 removes the term",
        {"row": _NAME, "variable": _NAME, "value": _NUMBER},
        _editing(
            "set_coef",
            lambda given: SetCoef(
                _word(given["row"], "set_coef"), _word(given["variable"], "set_coef"), _number(given["value"])
            ),
        ),
    ),
    "set_bounds": Signature(
        "set_bounds VARIABLE LOWER UPPER",
        "change both bounds; none: no bound",
        {"variable": _NAME, "lower": _BOUND, "upper": _BOUND},
        _editing(
            "set_bounds",
            lambda given: SetBounds(
                _word(given["variable"], "set_bounds"), _bound(given["lower"]), _bound(given["upper"])
            ),
        ),
    ),
    "set_type": Signature(
        "set_type VARIABLE continuous|integer|binary [LOWER UPPER]",
        "change the type",
        {
            "variable": _NAME,
            "type": {"type": "string", "enum": list(KINDS)},
            "lower": _BOUND,
            "upper": _BOUND,
        },
        _editing("set_type", _set_type),
        ("lower", "upper"),
    ),
    "relax": Signature(
        "relax ROW AMOUNT",
        "widen a constraint",
        {"row": _NAME, "amount": _NUMBER},
        _editing("relax", lambda given: Relax(_word(given["row"], "relax"), _number(given["amount"]))),
    ),
    "drop": Signature(
        "drop ROW",
        "remove a constraint",
        {"row": _NAME},
        _editing("drop", lambda given: DropRow(_word(given["row"], "drop"))),
    ),
    "add": Signature(
        "add ROW: 2 x1 + 3 x2 <= 40",
        "add a constraint",
        {"row": _NAME, "constraint": {"type": "string", "description": "such as 2 x1 + 3 x2 <= 40"}},
        _editing("add", _add),
    ),
    "undo": Signature("undo", "take back the last edit", {}, _plain("undo")),
    "reset": Signature("reset", "take back every edit", {}, _plain("reset")),
    "diagnose": Signature(
        "diagnose NAME ...",
        "say what is wrong; the last one counts",
        {"names": _NAMES},
        _about_names("diagnose"),
    ),
    "submit": Signature("submit", "hand in the model; ends the attempt", {}, _plain("submit")),
}


def tool_specs() -> tuple[ToolSpec, ...]:
    """The actions as tools."""
    return tuple(
        ToolSpec(
            name,
            signature.about,
            {
                "type": "object",
                "properties": dict(signature.arguments),
                "required": signature.required,
                "additionalProperties": False,
            },
        )
        for name, signature in ACTIONS.items()
    )


def read_action(name: str, given: Mapping[str, Any]) -> Action:
    """The action of that name with these arguments, or `ActionError`."""
    signature = ACTIONS.get(name)
    if signature is None:
        raise ActionError(f"there is no action {name!r}.{nearest(name, ACTIONS)}")
    missing = [argument for argument in signature.required if argument not in given]
    unknown = [argument for argument in given if argument not in signature.arguments]
    if missing or unknown:
        raise ActionError(f"{name} is used as: {signature.usage}")
    return signature.build(given)


def arguments_of(action: Action) -> dict[str, Any]:
    """The arguments that `read_action` would read the action from."""
    edit = action.edit
    if edit is None:
        if action.name == "check_slack":
            return {"row": action.names[0]}
        return {"names": list(action.names)} if action.names else {}
    if isinstance(edit, SetBounds):
        return {"variable": edit.column, "lower": edit.lower, "upper": edit.upper}
    if isinstance(edit, SetType):
        bounds = {} if edit.bounds is None else {"lower": edit.bounds[0], "upper": edit.bounds[1]}
        return {"variable": edit.column, "type": edit.kind, **bounds}
    if isinstance(edit, AddRow):
        return {"row": edit.row, "constraint": f"{linear(edit.terms)} {edit.sense} {number(edit.rhs)}"}
    if isinstance(edit, SetSense):
        return {"row": edit.row, "sense": edit.sense}
    if isinstance(edit, SetCoef):
        return {"row": edit.row, "variable": edit.column, "value": edit.value}
    if isinstance(edit, SetRhs):
        return {"row": edit.row, "value": edit.value}
    return {"row": edit.row, "amount": edit.amount} if isinstance(edit, Relax) else {"row": edit.row}


def editing(edit: Edit) -> Action:
    """The action that makes an edit."""
    return Action(edit.op, edit)


def parse_constraint(text: str) -> tuple[tuple[tuple[str, float], ...], Sense, float]:
    """`2 x1 - 3 x2 <= 40` as terms, sense and right-hand side."""
    for sense in SENSES:
        left, found, right = text.partition(f" {sense} ")
        if found:
            return _terms(left), sense, _number(right.strip())
    raise ActionError(f"a constraint is written as 2 x1 + 3 x2 <= 40, with blanks around the comparison: {text[:80]!r}")


_SIGNED = re.compile(r"(?:(?<=\s)|^)([+-])(?=[A-Za-z_])")


def _terms(text: str) -> tuple[tuple[str, float], ...]:
    """A sum of terms, each a variable with or without a number before it, joined by + and -; `-x1` is `- x1`."""
    text = _SIGNED.sub(r"\1 ", text)
    terms: dict[str, float] = {}
    sign: float | None = 1.0
    size: float | None = None
    for place, word in enumerate(text.replace("*", " ").split()):
        if word in ("+", "-") and (sign is None or place == 0):
            sign = -1.0 if word == "-" else 1.0
        elif sign is None:
            raise _no_sum(text)
        elif size is None and (found := _maybe_number(word)) is not None:
            size = found
        else:
            terms[word] = terms.get(word, 0.0) + sign * (1.0 if size is None else size)
            sign, size = None, None
    if sign is not None:
        raise _no_sum(text)
    return tuple((name, value) for name, value in terms.items() if value != 0.0)


def _no_sum(text: str) -> ActionError:
    return ActionError(f"on the left of a comparison stand terms such as 2 x1 + 3 x2: {text[:80]!r}")


def _maybe_number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _word(value: Any, action: str) -> str:
    if not isinstance(value, str) or not value or len(value) > 255:
        raise ActionError(f"{action} is used as: {ACTIONS[action].usage}")
    return value


def _number(value: Any) -> float:
    """A finite number; a bool or a text that is none is refused."""
    try:
        found = float(value) if not isinstance(value, bool) else None
    except (TypeError, ValueError, OverflowError):
        found = None
    if found is None or found != found or abs(found) == INF:
        raise ActionError(f"a finite number was expected, not {str(value)[:40]!r}")
    return found


def _bound(value: Any) -> float | None:
    return None if value is None or (isinstance(value, str) and value.lower() in _NO_BOUND) else _number(value)


def _sense(value: Any) -> Sense:
    if value not in SENSES:
        raise ActionError(f"a comparison is one of {' '.join(SENSES)}, not {str(value)[:40]!r}")
    return cast(Sense, value)
