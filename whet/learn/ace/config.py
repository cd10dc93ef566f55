"""What a training run with ACE is made from."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from whet.config.schema import Section
from whet.config.train import TrainConfig, TrainSection
from whet.errors import WhetError
from whet.learn.defaults import with_few_candidates
from whet.learn.prompt_text import refuse_unknown

ROOM = "whet.learn.ace"
"""Where its prompts lie."""


class AceTrainSection(TrainSection):
    """How often what is gone through."""

    epochs: int = Field(default=4, ge=1)
    batch_size: int = Field(default=20, ge=1, description="train tasks of a step")


class AceSection(Section):
    """Reflector, curator, and what becomes of the book."""

    minibatch: int = Field(default=5, ge=1, description="attempts in one reflector's prompt; 1 as published")
    failures_only: bool = Field(default=False, description="reflect on failed attempts alone")
    show: Literal["nothing", "score", "truth"] = Field(
        default="truth", description="beside an attempt: nothing, the grader's reason, or all of the feedback on it"
    )
    transcript_chars: int = Field(default=6000, ge=200, description="longer attempts are shortened in the middle")
    operations: int = Field(default=6, ge=1, description="operations of a step")
    harm: int = Field(default=3, ge=1, description="a bullet goes that harmed so many times more than it helped")
    bullets: int = Field(default=60, ge=1, description="the most bullets in the book; the least useful go")
    max_bytes: int = Field(default=16_000, ge=200, description="the longest that the body may get")
    bring: Literal["step", "epoch"] = Field(default="epoch", description="when the book is brought to the gate")
    patience: int = Field(
        default=2, ge=1, description="rejections after which the book goes back to the one that was accepted last"
    )
    prompts: dict[str, str] = Field(
        default={}, description="prompts in the place of those that come along; taken from prompts/ beside the config"
    )


class AceConfig(TrainConfig):
    """A playbook of bullets grown by ACE."""

    learner: str = "ace"
    train: AceTrainSection = AceTrainSection()
    ace: AceSection = AceSection()

    @model_validator(mode="before")
    @classmethod
    def _over_gate(cls, data: Any) -> Any:
        return with_few_candidates(data)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.optimizer is None:
            raise ValueError("reflector and curator need an [optimizer] model; name one: --set optimizer.model=...")
        try:
            refuse_unknown(self.ace.prompts, "ace.prompts", ROOM)
        except WhetError as error:
            raise ValueError(str(error)) from None
        return self
