"""What a training run with GEPA is made from: the settings of `gepa.optimize` that a run's result depends on."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from whet.config.schema import Section
from whet.config.train import TrainConfig
from whet.learn.defaults import with_few_candidates


class GepaSection(Section):
    """How GEPA searches. Both of its sets are train tasks: those of the gate it never sees."""

    calls: int = Field(default=500, ge=1, description="attempts at train tasks that the search may take")
    minibatch: int = Field(default=3, ge=1, description="train tasks on which a child must beat its parent")
    validation: float = Field(
        default=0.5, gt=0, lt=1, description="share of the train tasks that the Pareto front is made on"
    )
    parents: Literal["pareto", "current_best", "epsilon_greedy", "top_k_pareto"] = Field(
        default="pareto", description="how the candidate that is changed next is chosen"
    )
    accept: Literal["strict_improvement", "improvement_or_equal"] = Field(
        default="strict_improvement", description="GEPA's own rule for a child on its minibatch"
    )
    merge: bool = Field(default=False, description="also combine candidates that are good at different tasks")
    show: Literal["nothing", "score", "truth"] = Field(
        default="truth", description="beside an attempt: nothing, the grader's reason, or all of the feedback on it"
    )
    transcript_chars: int = Field(default=6000, ge=200, description="longer attempts are shortened in the middle")
    max_bytes: int = Field(default=16_000, ge=200, description="a longer text is not tried at all")


class GepaConfig(TrainConfig):
    """A playbook evolved by GEPA."""

    learner: str = "gepa"
    gepa: GepaSection = GepaSection()

    @model_validator(mode="before")
    @classmethod
    def _over_gate(cls, data: Any) -> Any:
        return with_few_candidates(data)

    @model_validator(mode="after")
    def _optimizer_present(self) -> Self:
        if self.optimizer is None:
            raise ValueError("GEPA's reflection needs an [optimizer] model; name one: --set optimizer.model=...")
        return self
