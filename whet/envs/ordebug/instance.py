"""An instance: a specification, the model that follows it, the model as it was broken, and the proof that this is so.

The specification and the sabotaged model are what an agent may see; the original, the faults and the certificate are
the truth of a task.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from whet.envs.ordebug.edits import Edit, apply_all, edit_from_data, edit_to_data, element
from whet.envs.ordebug.iis import Iis, iis_from_data, iis_to_data
from whet.envs.ordebug.model import LinearProgram, ModelError
from whet.keys import digest

FaultKind = Literal["A", "B", "C", "D"]
"""A: the sense of a row. B: type or bounds of a variable. C: a term. D: a conflicting or duplicated requirement."""

Difficulty = Literal["easy", "medium", "hard"]

FAULT_KINDS: tuple[FaultKind, ...] = get_args(FaultKind)
DIFFICULTIES: tuple[Difficulty, ...] = get_args(Difficulty)


@dataclass(frozen=True, slots=True)
class Cell:
    """One of the twelve groups of problems: a fault type at a difficulty."""

    kind: FaultKind
    difficulty: Difficulty

    @property
    def name(self) -> str:
        return f"type_{self.kind}_{self.difficulty}"


CELLS: tuple[Cell, ...] = tuple(Cell(kind, difficulty) for kind in FAULT_KINDS for difficulty in DIFFICULTIES)


@dataclass(frozen=True, slots=True)
class PlantedFault:
    """One fault: how it was planted, how it is undone, and what a person would say is wrong."""

    kind: str
    form: str
    repair: tuple[Edit, ...]
    text: str

    @property
    def elements(self) -> frozenset[str]:
        """What is wrong, as `row:NAME` or `column:NAME`."""
        return frozenset(element(edit) for edit in self.repair)


@dataclass(frozen=True, slots=True)
class Certificate:
    """What was checked when the instance was made, and is checked again when it is loaded.

    `search_tries`: tries of the fixed edit search until it repaired the model; None: more than its largest budget.
    `search_rate`: the share of the budgets within which it did. `drop_first`: whether dropping the first row of the
    subsystem, again and again, repaired the model; `drop_feasible`: whether it ended in a feasible one.
    """

    original_digest: str
    original_objective: float
    min_edits: int
    subsystem: Iis
    outside_subsystem: int
    """How many of the faults touch nothing that the subsystem shows."""
    needs_integrality: bool
    """Whether the model without its integrality is feasible."""
    search_tries: int | None
    search_rate: float
    drop_first: bool
    drop_feasible: bool


@dataclass(frozen=True, slots=True)
class Instance:
    """A broken model with its truth. `id` is neutral: it tells nothing about the fault."""

    id: str
    kind: str
    difficulty: str
    family: str
    specification: str
    original: LinearProgram
    sabotaged: LinearProgram
    faults: tuple[PlantedFault, ...]
    certificate: Certificate

    @property
    def repair(self) -> tuple[Edit, ...]:
        """The reference repair: every fault undone."""
        return tuple(edit for fault in self.faults for edit in fault.repair)

    @property
    def elements(self) -> frozenset[str]:
        """Everything that is wrong, as `row:NAME` or `column:NAME`."""
        return frozenset(element for fault in self.faults for element in fault.elements)

    @property
    def content(self) -> str:
        """What decides which split the instance belongs to: the problem, whatever was broken in it."""
        return self.specification or self.original.digest

    def to_data(self) -> dict[str, Any]:
        """The instance as JSON-like data. The original is not written: it is the sabotaged model, repaired."""
        return {
            "id": self.id,
            "kind": self.kind,
            "difficulty": self.difficulty,
            "family": self.family,
            "specification": self.specification,
            "sabotaged": self.sabotaged.to_data(),
            "faults": [fault_to_data(fault) for fault in self.faults],
            "certificate": certificate_to_data(self.certificate),
        }

    @staticmethod
    def from_data(data: Mapping[str, Any]) -> Instance:
        """What `to_data` wrote; the repaired model must be the original, byte for byte."""
        sabotaged = LinearProgram.from_data(data["sabotaged"])
        return assembled(sabotaged, data)


def assembled(sabotaged: LinearProgram, data: Mapping[str, Any]) -> Instance:
    """An instance from its sabotaged model and the rest of its record."""
    faults = tuple(fault_from_data(fault) for fault in data["faults"])
    certificate = certificate_from_data(data["certificate"])
    original = apply_all(sabotaged, (edit for fault in faults for edit in fault.repair))
    if original.digest != certificate.original_digest:
        raise ModelError(f"instance {data['id']}: its repair does not give back the original that was certified")
    named = {key: str(data[key]) for key in ("id", "kind", "difficulty", "family", "specification")}
    return Instance(**named, original=original, sabotaged=sabotaged, faults=faults, certificate=certificate)


def instance_id(specification: str, sabotaged: LinearProgram) -> str:
    """A name made of the content an agent sees."""
    return digest(specification, sabotaged.digest)[:12]


def fault_to_data(fault: PlantedFault) -> dict[str, Any]:
    return {
        "kind": fault.kind,
        "form": fault.form,
        "repair": [edit_to_data(edit) for edit in fault.repair],
        "text": fault.text,
    }


def fault_from_data(data: Mapping[str, Any]) -> PlantedFault:
    return PlantedFault(
        str(data["kind"]), str(data["form"]), tuple(edit_from_data(edit) for edit in data["repair"]), str(data["text"])
    )


def certificate_to_data(certificate: Certificate) -> dict[str, Any]:
    data = {item.name: getattr(certificate, item.name) for item in fields(certificate)}
    return {**data, "subsystem": iis_to_data(certificate.subsystem)}


def certificate_from_data(data: Mapping[str, Any]) -> Certificate:
    return Certificate(**{**data, "subsystem": iis_from_data(data["subsystem"])})


def shown_elements(iis: Iis) -> frozenset[str]:
    """What a subsystem points at, as `row:NAME` or `column:NAME`."""
    rows = {f"row:{name}" for name in iis.row_names}
    return frozenset(rows | {f"column:{name}" for name in iis.column_names})
