"""An instance: a specification, the model that follows it, the model as it was broken, and the proof that this is so.

The specification and the sabotaged model are what an agent may see; the original, the faults and the certificate are
the truth of a task.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from whet.envs.ordebug.edits import Edit, apply_all, edit_from_data, edit_to_data, element
from whet.envs.ordebug.iis import Iis, iis_from_data, iis_to_data
from whet.envs.ordebug.model import LinearProgram, ModelError
from whet.keys import digest

SpecForm = Literal["prose", "table"]


@dataclass(frozen=True, slots=True)
class Specification:
    """What the model should say, as a text. `sources`: the passages that each element rests on, by `row:NAME`."""

    text: str = ""
    sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)


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

    `suspects`: for each contradiction, the elements that could have been the wrong one; the culprit was drawn evenly
    among them. `drop_first`: whether dropping the first row of the subsystem, again and again, repaired the model;
    `drop_feasible`: whether it ended in a feasible one.
    """

    original_digest: str
    original_objective: float
    min_edits: int
    subsystem: Iis
    outside_subsystem: int
    """How many of the faults touch nothing that the subsystem shows."""
    needs_integrality: bool
    """Whether the model without its integrality is feasible."""
    suspects: tuple[tuple[str, ...], ...]
    drop_first: bool
    drop_feasible: bool


@dataclass(frozen=True, slots=True)
class Instance:
    """A broken model with its truth. `id` is neutral: it tells nothing about the fault."""

    id: str
    kind: str
    difficulty: str
    family: str
    content: str
    """What decides the split: the model as it was drawn, whatever was broken in it."""
    prose: Specification
    table: Specification
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

    def specification(self, form: SpecForm) -> Specification:
        return self.prose if form == "prose" else self.table

    def to_data(self) -> dict[str, Any]:
        """The instance as JSON-like data. The original is not written: it is the sabotaged model, repaired."""
        return {
            "id": self.id,
            "kind": self.kind,
            "difficulty": self.difficulty,
            "family": self.family,
            "content": self.content,
            "prose": specification_to_data(self.prose),
            "table": specification_to_data(self.table),
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
    named: dict[str, Any] = {key: str(data[key]) for key in ("id", "kind", "difficulty", "family", "content")}
    texts: dict[str, Any] = {form: specification_from_data(data[form]) for form in ("prose", "table")}
    return Instance(**named, **texts, original=original, sabotaged=sabotaged, faults=faults, certificate=certificate)


def instance_id(content: str, sabotaged: LinearProgram) -> str:
    """A neutral name."""
    return digest(content, sabotaged.digest)[:12]


def specification_to_data(specification: Specification) -> dict[str, Any]:
    return {"text": specification.text, "sources": {key: list(said) for key, said in specification.sources.items()}}


def specification_from_data(data: Mapping[str, Any]) -> Specification:
    return Specification(str(data["text"]), {key: tuple(said) for key, said in data["sources"].items()})


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
    suspects = tuple(tuple(str(name) for name in group) for group in data["suspects"])
    return Certificate(**{**data, "subsystem": iis_from_data(data["subsystem"]), "suspects": suspects})


def shown_elements(iis: Iis) -> frozenset[str]:
    """What a subsystem points at, as `row:NAME` or `column:NAME`."""
    rows = {f"row:{name}" for name in iis.row_names}
    return frozenset(rows | {f"column:{name}" for name in iis.column_names})
