"""Directories of MPS models with a `dataset.json`, the published benchmark's or our own, as instances.

A problem that cannot be used is refused with the reason, and the rest goes on. Specifications of published records
are left out: they name the class of the error. Such problems are scored on a track of their own (`rewards`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from whet.envs.ordebug.certificate import DropOutcome, certify
from whet.envs.ordebug.edits import apply_all
from whet.envs.ordebug.equivalence import Checker
from whet.envs.ordebug.iis import find_iis
from whet.envs.ordebug.instance import Instance, PlantedFault, Specification, assembled, instance_id
from whet.envs.ordebug.model import LinearProgram, ModelError
from whet.envs.ordebug.mps import read_mps
from whet.envs.ordebug.published import repair_of
from whet.envs.ordebug.solver import solve
from whet.errors import WhetError

RECORDS = "dataset.json"
OWN_FORMAT = "whet-ordebug-2"

EXACT = 1e-6
MIP_GAP = 1e-4
"""How far a recorded objective may be off: of a linear model hardly, of one with whole numbers by the gap at which the
record's solver stops, unless the record says another one."""


@dataclass(frozen=True, slots=True)
class ImportRefusal:
    """A problem that was left out, and why."""

    where: str
    why: str

    def __str__(self) -> str:
        return f"{self.where}: {self.why}"


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The instances of a directory, and the problems in it that were left out."""

    instances: tuple[Instance, ...]
    refused: tuple[ImportRefusal, ...]


def load_directory(folder: Path) -> ImportResult:
    """The problems of a directory with `dataset.json`, or of all its subdirectories that have one."""
    if not folder.is_dir():
        raise WhetError(f"ordebug: {folder} is not a directory of models with {RECORDS}")
    places = [folder] if (folder / RECORDS).is_file() else sorted(file.parent for file in folder.glob(f"*/{RECORDS}"))
    if not places:
        raise WhetError(f"ordebug: there is no {RECORDS} in {folder} or in a directory below it")
    kept: list[Instance] = []
    refused: list[ImportRefusal] = []
    for place in places:
        outcomes = list(_loaded(place))
        kept += [outcome for outcome in outcomes if isinstance(outcome, Instance)]
        refused += [outcome for outcome in outcomes if isinstance(outcome, ImportRefusal)]
    if not kept:
        raise WhetError(f"ordebug: no problem of {folder} can be used; the first: {refused[0] if refused else 'none'}")
    return ImportResult(tuple(kept), tuple(refused))


def _loaded(folder: Path) -> Iterator[Instance | ImportRefusal]:
    dataset = _records(folder / RECORDS)
    own = dataset.get("format") == OWN_FORMAT
    for number, record in enumerate(dataset["problems"], start=1):
        where = f"{folder.name} problem {number}"
        if not isinstance(record, dict):
            yield ImportRefusal(where, "the record is not an object")
            continue
        where = f"{folder.name}/{record.get('problem_id', f'problem {number}')}"
        try:
            model = _model(folder, record)
            yield _own(record, model) if own else _foreign(record, model)
        except ModelError as problem:
            yield ImportRefusal(where, str(problem))
        except (KeyError, TypeError, ValueError) as problem:
            yield ImportRefusal(where, f"the record is incomplete or malformed ({type(problem).__name__}: {problem})")


def _records(file: Path) -> Mapping[str, Any]:
    try:
        dataset = orjson.loads(file.read_bytes())
    except (OSError, orjson.JSONDecodeError) as problem:
        raise WhetError(f"ordebug: cannot read {file}: {problem}") from None
    if not isinstance(dataset, dict) or not isinstance(dataset.get("problems"), list):
        raise WhetError(f"ordebug: {file} has no list 'problems'")
    return dataset


def _model(folder: Path, record: Mapping[str, Any]) -> LinearProgram:
    named = record.get("model_file") or record.get("file")
    if not named:
        raise ModelError("the record names no model_file")
    path = (folder / str(named)).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise ModelError(f"model_file {named} lies outside the directory")
    return read_mps(path)


def _own(record: Mapping[str, Any], model: LinearProgram) -> Instance:
    return assembled(
        model,
        {
            "id": record["problem_id"],
            "kind": record["error_type"],
            **{key: record[key] for key in ("difficulty", "family", "content", "prose", "table")},
            **{key: record[key] for key in ("faults", "certificate")},
        },
    )


def _foreign(record: Mapping[str, Any], model: LinearProgram) -> Instance:
    """A published problem: infeasible, with a subsystem, and with a repair that restores the recorded objective."""
    status = solve(model).status
    iis = find_iis(model) if status == "infeasible" else None
    if iis is None:
        raise ModelError(f"the model is {status if status != 'optimal' else 'feasible'}, so there is nothing to repair")
    repair = repair_of(record, model)
    checker = Checker(apply_all(model, repair))
    best = checker.best
    if not best.optimal or best.objective is None:
        raise ModelError(f"the repaired model is {best.status}")
    recorded = record.get("original_objective")
    gap = float(record.get("mip_gap", MIP_GAP)) if checker.original.mixed else EXACT
    if recorded is not None and not math.isclose(
        best.objective, float(recorded), rel_tol=max(gap, EXACT), abs_tol=EXACT
    ):
        raise ModelError(f"the repair gives an objective of {best.objective:g}, the record says {float(recorded):g}")
    kind = str(record.get("error_type", ""))
    faults = (PlantedFault(kind, "published", repair, str(record.get("ground_truth_fix", ""))),)
    certificate = certify(checker.original, faults, iis, (), len(repair), DropOutcome(False, False), checker)
    return Instance(
        instance_id("", model),
        kind,
        str(record.get("difficulty", "")),
        "published",
        checker.original.digest,
        Specification(),
        Specification(),
        checker.original,
        model,
        faults,
        certificate,
    )
