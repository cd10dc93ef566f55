"""The environment: instances by split and index, the opening message, the play, and the reference policies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Protocol

from whet.envs import splits
from whet.envs.base import Baseline, Environment, Play
from whet.envs.fingerprint import fingerprint
from whet.envs.ordebug import baselines, prompt
from whet.envs.ordebug.instance import CELLS, Cell, Instance, assembled
from whet.envs.ordebug.model import LinearProgram
from whet.envs.ordebug.play import OrDebugSettings, play
from whet.envs.ordebug.solver import library
from whet.errors import WhetError
from whet.keys import digest
from whet.types import Label, Split, Task, user


class InstanceSource(Protocol):
    """Where instances come from."""

    digest: str
    about: str

    def size(self, split: Split) -> int | None: ...

    def label(self, split: Split, index: int) -> Label: ...

    def instance(self, split: Split, index: int) -> Instance: ...


class GeneratedInstances:
    """Certified instances of some cells, which take turns; made when first asked for, then read from the cache."""

    about = "certified problems in twelve cells"

    def __init__(self, cells: tuple[str, ...]) -> None:
        self._cells: tuple[Cell, ...] = tuple(cell for cell in CELLS if cell.name in cells)
        self.digest = digest(cells)

    def size(self, split: Split) -> int | None:
        return None

    def label(self, split: Split, index: int) -> Label:
        cell = self._cells[index % len(self._cells)]
        return Label(cell.kind, cell.difficulty)

    def instance(self, split: Split, index: int) -> Instance:
        from whet.envs.ordebug.cache import certified

        turn, place = divmod(index, len(self._cells))
        cell = self._cells[place]
        return certified(cell.kind, cell.difficulty, split, turn)


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
    ) -> None:
        library()  # says at once what is missing
        self._made_from = (name, settings, folder, cells, split)
        self._settings = settings
        self._source: InstanceSource = ImportedInstances(folder, split) if folder else GeneratedInstances(cells)
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

    def baselines(self) -> Mapping[str, Baseline]:
        return baselines.all_baselines(self._settings.protocol, instance_of)


def task_of(instance: Instance, split: Split, index: int, label: Label, settings: OrDebugSettings) -> Task:
    """The instance as a task."""
    text = prompt.opening(
        instance.sabotaged,
        instance.specification,
        reveal=settings.reveal,
        protocol=settings.protocol,
        max_steps=settings.max_steps,
    )
    record = instance.to_data()
    data = {"model": record.pop("sabotaged"), "specification": record.pop("specification")}
    return Task(split, index, label, (user(text),), record, data)


def instance_of(task: Task) -> Instance:
    """The instance that a task was made of."""
    model = LinearProgram.from_data(task.data["model"])
    return assembled(model, {**task.truth, "specification": task.data["specification"]})
