"""The environment: instances by split and index, the opening message, the play, and the reference policies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Protocol

from whet.envs import splits
from whet.envs.base import Baseline, Environment, Play
from whet.envs.fingerprint import fingerprint
from whet.envs.ordebug import baselines, prompt
from whet.envs.ordebug.families import FAMILIES, HELD_OUT, SEEN
from whet.envs.ordebug.feedback import repair_feedback
from whet.envs.ordebug.instance import Instance, assembled
from whet.envs.ordebug.ladder import EVERY_CELL, MISSING, Cell
from whet.envs.ordebug.model import LinearProgram
from whet.envs.ordebug.play import OrDebugSettings, play
from whet.envs.ordebug.solver import library
from whet.errors import WhetError
from whet.keys import digest
from whet.types import Feedback, Label, Rollout, Split, Task, user

FamilyChoice = Literal["seen", "held_out", "all"]


class InstanceSource(Protocol):
    """Where instances come from."""

    digest: str
    about: str

    def size(self, split: Split) -> int | None: ...

    def label(self, split: Split, index: int) -> Label: ...

    def instance(self, split: Split, index: int) -> Instance: ...


class GeneratedInstances:
    """Certified instances of some cells, which take turns; made when first asked for, then read from the cache."""

    about = "certified problems in cells by type, size and subtlety of the fault"

    def __init__(self, cells: tuple[str, ...], families: FamilyChoice = "seen") -> None:
        self._cells: tuple[Cell, ...] = tuple(EVERY_CELL[name] for name in cells)
        self._choice = families
        self.digest = digest(cells, families)

    def size(self, split: Split) -> int | None:
        return 0 if split == "train" and self._choice == "held_out" else None

    def label(self, split: Split, index: int) -> Label:
        cell = self._cells[index % len(self._cells)]
        return Label(cell.kind, cell.difficulty)

    def instance(self, split: Split, index: int) -> Instance:
        from whet.envs.ordebug.cache import certified

        turn, place = divmod(index, len(self._cells))
        return certified(self._cells[place], split, turn, families=self.families(split))

    def families(self, split: Split) -> tuple[str, ...]:
        """The trades that problems of a split are drawn from; those held out are never trained on."""
        if self._choice == "held_out" and split == "train":
            raise WhetError("ordebug: families that are held out have no training problems; take select or test")
        if self._choice == "held_out":
            return HELD_OUT
        return SEEN if self._choice == "seen" or split == "train" else tuple(sorted(FAMILIES))


class ImportedInstances:
    """The instances of a folder, all in one split or each where its content belongs."""

    def __init__(self, folder: str, split: Literal["train", "select", "test", "content"]) -> None:
        from whet.envs.ordebug.directory import load_directory

        found = load_directory(Path(folder))
        self.refused = found.refused
        self._places: dict[Split, list[Instance]] = {"train": [], "select": [], "test": []}
        for instance in found.instances:
            self._places[splits.split_of(instance.content) if split == "content" else split].append(instance)
        self.about = f"{len(found.instances)} problems of {folder}, {len(found.refused)} refused"
        self.digest = digest([instance.to_data() for instance in found.instances], split)

    def size(self, split: Split) -> int | None:
        return len(self._places[split])

    def label(self, split: Split, index: int) -> Label:
        instance = self.instance(split, index)
        return Label(instance.kind, instance.difficulty)

    def instance(self, split: Split, index: int) -> Instance:
        there = self._places[split]
        if index >= len(there):
            raise WhetError(f"the folder has {len(there)} problems in split {split!r}, and none at {index}")
        return there[index]


class OrDebug(Environment):
    """Broken models to repair. A task's data is what the policy may see; its truth is the rest of the instance."""

    def __init__(
        self,
        name: str,
        settings: OrDebugSettings,
        folder: str = "",
        cells: tuple[str, ...] = (),
        split: Literal["train", "select", "test", "content"] = "select",
        families: FamilyChoice = "seen",
    ) -> None:
        library()  # says at once what is missing
        self._made_from = (name, settings, folder, cells, split, families)
        self._settings = settings
        self._source: InstanceSource = (
            ImportedInstances(folder, split) if folder else GeneratedInstances(cells, families)
        )
        self.name = name
        self.about = f"repair an optimisation model that has become infeasible: {self._source.about}"
        self.fingerprint = fingerprint(
            "ordebug", self, arguments=settings, data=self._source.digest, without=("gurobipy",)
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return OrDebug, self._made_from

    @property
    def settings(self) -> OrDebugSettings:
        return self._settings

    def size(self, split: Split) -> int | None:
        return self._source.size(split)

    def label(self, split: Split, index: int) -> Label:
        return self._source.label(split, index)

    def instance(self, split: Split, index: int) -> Instance:
        """The whole problem, truth included: for oracles, traces and benchmarks."""
        return self._source.instance(split, index)

    def task(self, split: Split, index: int) -> Task:
        return task_of(self.instance(split, index), split, index, self.label(split, index), self._settings)

    def play(self, task: Task) -> Play:
        return play(instance_of(task), task.messages, self._settings)

    def feedback(self, task: Task, rollout: Rollout) -> Feedback:
        return repair_feedback(instance_of(task), rollout)

    def baselines(self) -> Mapping[str, Baseline]:
        return baselines.all_baselines(self._settings.protocol, instance_of)


def task_of(instance: Instance, split: Split, index: int, label: Label, settings: OrDebugSettings) -> Task:
    """The instance as a task."""
    specification = instance.specification(settings.spec).text
    text = prompt.opening(
        instance.sabotaged,
        specification,
        reveal=settings.reveal,
        protocol=settings.protocol,
        max_steps=settings.max_steps,
        lacking=instance.kind == MISSING,
    )
    record = instance.to_data()
    data = {"model": record.pop("sabotaged"), "specification": specification}
    return Task(split, index, label, (user(text),), record, data)


def instance_of(task: Task) -> Instance:
    """The instance that a task was made of."""
    model = LinearProgram.from_data(task.data["model"])
    return assembled(model, task.truth)
