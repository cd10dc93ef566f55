"""What a training run is made from, whichever learner works in it; a learner adds keys and sections of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from whet.config.schema import GateSection, PolicyConfig, RoleSection, SamplingSection, Section

Count = int | Literal["all"]

DEFAULT_LEARNER = "reflact"


class OptimizerSampling(SamplingSection):
    max_tokens: int = Field(default=4096, ge=1)


class OptimizerSection(RoleSection):
    """The model that proposes changes; its replies are longer than a target's."""

    sampling: OptimizerSampling = OptimizerSampling()


class TrainSection(Section):
    """Where training starts, and on which tasks it learns, is judged and makes its claim."""

    playbook: str = Field(default="blank", description="where training starts: a file, a folder, or 'blank'")
    tasks: Count = Field(default="all", description="train tasks of an epoch: a stratified sample, or 'all'")
    select: Count = Field(default="all", description="tasks for the gate")
    test: Count = Field(default="all", description="sealed tasks for the claim at the end; 0: no claim")
    repeats: int = Field(default=1, ge=1, description="draws of each test task")
    max_rollouts: int | None = Field(
        default=None, ge=1, description="target rollouts that learning may take; then the run goes on to its test"
    )
    seed: int = 0


class ContinuesSection(Section):
    """The run that a training continues; written by `whet train --continue`, so that the config holds all of it."""

    run: str
    identity: str = Field(description="of that run: another one under its name is refused")
    optimizer: str = Field(default="", description="the fingerprint of its optimiser; '': it had none")
    config: dict[str, Any] = Field(description="what that run was made from")


class TrainConfig(PolicyConfig):
    """A policy made better by a learner, under a gate, with a claim on sealed tasks at the end."""

    starts_from: ClassVar[str] = "train"

    learner: str = Field(default=DEFAULT_LEARNER, description="who learns: the name of an entry point whet.learners")
    optimizer: OptimizerSection | None = None
    train: TrainSection = TrainSection()
    gate: GateSection = GateSection()
    continues: ContinuesSection | None = None

    def identity(self) -> dict[str, Any]:
        """A run that continues none has no word about it in its identity."""
        found = PolicyConfig.identity(self)
        if self.continues is None:
            del found["continues"]
        return found


def section_of(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A section as data, whether somebody wrote it or built it; empty where it is neither."""
    found = data.get(name)
    return found if isinstance(found, Mapping) else found.model_dump() if isinstance(found, Section) else {}
