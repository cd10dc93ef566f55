"""The published benchmark's records: how their repairs are told, as data or in their English, turned into edits."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, cast

from whet.envs.ordebug.edits import DropRow, Edit, SetBounds, SetCoef, SetRhs, SetSense, SetType
from whet.envs.ordebug.model import Kind, LinearProgram, ModelError, Sense

_KINDS: dict[str, Kind] = {"C": "continuous", "I": "integer", "B": "binary"}
_FIGURE = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_SENSE = re.compile(r"Change (\S+) from \S+ back to (<=|>=|=)")
_TYPE = re.compile(rf"Change (\S+) back to (\w+) with UB=({_FIGURE}), remove (\S+)")
_COEF = re.compile(rf"Change coefficient of (\S+) in (\S+) from \S+ back to ({_FIGURE})")
_LOWER = re.compile(rf"Restore (\S+)\.LB = ({_FIGURE})")
_RHS = re.compile(rf"CORRECT: RELAX (\S+) to RHS = ({_FIGURE})")
_CHAIN = re.compile(r"Remove chain constraints: (.+)")


def repair_of(record: Mapping[str, Any], model: LinearProgram) -> tuple[Edit, ...]:
    """The reference repair of a record: the checked one where there is one, else what its sentence says."""
    checked = record.get("checked") or {}
    if checked.get("reference_repair"):
        return tuple(_from_checked(step, model) for step in checked["reference_repair"])
    edits = _from_sentence(record, model)
    if not edits:
        raise ModelError("the record tells no repair that can be read")
    return edits


def _from_checked(step: Mapping[str, Any], model: LinearProgram) -> Edit:
    match step:
        case {"op": "set_sense", "row": row, "sense": sense}:
            return SetSense(str(row), cast(Sense, sense))
        case {"op": "set_rhs", "row": row, "rhs": value}:
            return SetRhs(str(row), float(value))
        case {"op": "set_coef", "row": row, "col": column, "value": value}:
            return SetCoef(str(row), str(column), float(value))
        case {"op": "drop_row", "row": row}:
            return DropRow(str(row))
        case {"op": "set_column", "col": column, "vtype": kind, "lb": low, "ub": high} if kind in _KINDS:
            return SetType(str(column), _KINDS[kind], (_open(float(low)), _open(float(high))))
        case {"op": "set_bounds", "col": column}:
            now = model.column(str(column))
            low, high = (float(step.get(side, bound)) for side, bound in (("lb", now.lower), ("ub", now.upper)))
            return SetBounds(now.name, _open(low), _open(high))
        case _:
            raise ModelError(f"the reference repair has a step that is not known: {dict(step)!r}")


def _from_sentence(record: Mapping[str, Any], model: LinearProgram) -> tuple[Edit, ...]:
    """What `ground_truth_fix` says for each published type; the types that only name rows have them dropped."""
    said, kind = str(record.get("ground_truth_fix", "")), str(record.get("error_type", ""))
    targets = [name for name in str(record.get("target_name", "")).split(",") if name]
    if kind == "A" and (found := _SENSE.search(said)):
        return (SetSense(found[1], cast(Sense, found[2])),)
    if kind == "B" and (found := _TYPE.search(said)):
        # The sentence says INTEGER for linear problems too, whose variables were continuous.
        was: Kind = "integer" if record.get("problem_type") == "mip" else "continuous"
        return (SetType(found[1], was, (0.0, float(found[3]))), DropRow(found[4]))
    if kind == "C" and (found := _COEF.search(said)):
        return (SetCoef(found[2], found[1], float(found[3])),)
    if kind == "D" and (found := _CHAIN.search(said)):
        return tuple(DropRow(name.strip()) for name in found[1].split(","))
    if kind == "H" and (found := _LOWER.search(said)):
        return (SetBounds(found[1], float(found[2]), _open(model.column(found[1]).upper)),)
    if kind == "I" and (found := _RHS.search(said)):
        return (SetRhs(found[1], float(found[2])),)
    return tuple(DropRow(name) for name in targets) if kind in "DEFG" else ()


def _open(bound: float) -> float | None:
    return bound if math.isfinite(bound) else None
