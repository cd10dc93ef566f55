"""What a training run with ReflACT is made from, and the presets that set a whole published recipe at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from whet.config.load import merge
from whet.config.schema import Section
from whet.config.train import TrainConfig, TrainSection, section_of
from whet.errors import WhetError
from whet.learn.defaults import LEARNING
from whet.learn.prompt_text import refuse_unknown

OptimizerStage = Literal[
    "analyst",
    "merge",
    "ranking",
    "lr_autonomous",
    "rewrite",
    "mend",
    "appendix_consolidate",
    "slow_update",
    "meta_skill",
]
"""What the optimiser is consulted for."""

Effort = Literal["none", "minimal", "low", "medium", "high"]


class ReflactTrainSection(TrainSection):
    """How often what is gone through, and who proposes."""

    proposer: Literal["analyst", "examples"] = Field(
        default="analyst", description="analyst: an optimiser model; examples: worked examples, no model needed"
    )
    epochs: int = Field(default=4, ge=1)
    batch_size: int = Field(default=40, ge=1)
    accumulation: int = Field(default=1, ge=1, description="batches rolled out before one update")
    eval_feedback: bool = Field(
        default=False, description="tell the policy how a train attempt was graded and let it try once more"
    )
    reuse: bool = Field(default=False, description="do not attempt a train task again with the very same policy")

    @property
    def per_step(self) -> int:
        """Train tasks of one step."""
        return self.batch_size * self.accumulation


class ReflectSection(Section):
    """What the analyst is shown and asked for."""

    minibatch: int = Field(default=5, ge=1, description="attempts in one analyst's prompt")
    calls: int = Field(default=1, ge=0, description="analysts of a step, failures first; 0: as many as it takes")
    enough: int = Field(
        default=20,
        ge=1,
        description="pending edits in doubt from which on none is asked for; only where edits are weighed",
    )
    failures_only: bool = False
    draws: int = Field(default=1, ge=1, description="attempts at each train task; above 1, solved beside failed")
    show: Literal["nothing", "score", "truth"] = Field(
        default="truth", description="beside an attempt: nothing, the grader's reason, or all of the feedback on it"
    )
    transcript_chars: int = Field(default=6000, ge=200, description="longer attempts are shortened in the middle")
    images: int = Field(
        default=0, ge=0, description="images of the tasks in one prompt, for an optimiser that sees them"
    )
    effort: dict[OptimizerStage, Effort] = Field(
        default={}, description="reasoning effort by stage, such as {analyst = 'high', merge = 'low'}"
    )
    prompts: dict[str, str] = Field(
        default={}, description="prompts in the place of those that come along; taken from prompts/ beside the config"
    )
    memory: int = Field(default=12, ge=0, description="earlier steps that the optimiser is reminded of")
    forget: bool = Field(default=False, description="begin each epoch without the steps of the one before")
    lapses: bool = Field(default=False, description="reminders for rules that stood there and were not followed")
    lapses_from: Literal["both", "failures"] = "both"
    consolidate_above: int = Field(default=0, ge=0, description="reminders above which they are condensed; 0: never")
    gate_notes: bool = Field(default=True, description="false: reminders are added without evidence")


class UpdateSection(Section):
    """How much of what was proposed goes into a candidate, and how it is brought to the gate."""

    mode: Literal["patch", "rewrite_from_suggestions", "full_rewrite_minibatch"] = "patch"
    scheduler: Literal["constant", "linear", "cosine", "autonomous", "none"] = "cosine"
    edits: int = Field(default=4, ge=0, description="edits of the first step; 0 means 0")
    min_edits: int = Field(default=2, ge=0, description="edits of the last step, at most those of the first")
    merge: int = Field(default=8, ge=2, description="patches merged in one call")
    bring: Literal["bundle", "halves", "each"] = Field(
        default="bundle",
        description="edits of a step are judged together; if rejected, also in halves; or each by itself",
    )
    credit: bool = Field(default=False, description="thin an accepted bundle by leaving out one edit at a time")
    evidence: bool = Field(
        default=True, description="weigh edits by all rollouts so far, and bring to the gate what they speak for"
    )
    probes: int = Field(default=4, ge=1, description="playbooks of a step that are tried on train tasks, for evidence")
    probe_tasks: int = Field(default=6, ge=1, description="train tasks that each of them is tried on")
    max_bytes: int = Field(default=16_000, ge=200, description="the longest that body, hindsight and reminders may get")
    rewrite_tokens: int = Field(default=16_384, ge=256, description="tokens of a reply that holds a whole body")

    @property
    def weighs(self) -> bool:
        """Whether edits are weighed; whole bodies and suggestions are no edits."""
        return self.evidence and self.mode == "patch"


class SlowSection(Section):
    """Guidance written from how the same tasks went before and after an epoch; off, because it costs rollouts."""

    use: bool = False
    samples: int = Field(default=20, ge=1)
    pairs: Literal["mixed", "changed", "unchanged"] = "mixed"
    gated: bool = Field(default=True, description="false: written into the playbook without evidence")
    idle: bool = Field(default=False, description="also after an epoch that changed nothing")


class MetaSection(Section):
    """The optimiser's own memory: it never reaches the target."""

    use: bool = False


class ExamplesSection(Section):
    """The proposer that needs no optimiser: worked examples from train tasks."""

    most: int = Field(default=8, ge=1, description="examples in the playbook")
    take: int = Field(default=4, ge=1, description="examples added or exchanged in one proposal")
    sources: tuple[Literal["solved", "corrected"], ...] = ("solved", "corrected")
    choice: Literal["fixed", "nearest", "both"] = Field(
        default="fixed", description="fixed: the same before every task; nearest: from a bank, those most like the task"
    )
    bank: int = Field(default=200, ge=1, description="examples in the bank")
    chars: int = Field(default=6000, ge=100, description="the longest attempt, in characters, that makes an example")
    tries: int = Field(default=3, ge=1, description="sets tried on train tasks; the best is brought to the gate")
    probe: int = Field(default=12, ge=1, description="train tasks that each set is tried on")


class ReflactConfig(TrainConfig):
    """A playbook trained with ReflACT."""

    preset: Literal["whet", "skillopt"] = "whet"
    train: ReflactTrainSection = ReflactTrainSection()
    reflect: ReflectSection = ReflectSection()
    update: UpdateSection = UpdateSection()
    slow: SlowSection = SlowSection()
    meta: MetaSection = MetaSection()
    examples: ExamplesSection = ExamplesSection()

    @model_validator(mode="before")
    @classmethod
    def _over_preset(cls, data: Any) -> Any:
        """The preset's values below what the user wrote."""
        if not isinstance(data, Mapping):
            return data
        merged: dict[str, Any] = {}
        if section_of(data, "gate").get("name", "paired") == "paired":
            merge(merged, LEARNING)
        if (preset := PRESETS.get(data.get("preset", "whet"), {})).get("gate"):
            merged = {}  # a published rule has neither alpha nor pace
        if section_of(data, "train").get("proposer", "analyst") == "analyst":
            merge(merged, ANALYST)
        merge(merged, preset)
        if data.get("optimizer") is None:
            merged.pop("optimizer", None)
        if section_of(data, "train").get("proposer") == "examples":
            merge(merged, FEW if section_of(data, "gate").get("name", "paired") == "paired" else {})
        merge(merged, data)
        return merged

    @model_validator(mode="after")
    def _prompts_known(self) -> Self:
        try:
            refuse_unknown(self.reflect.prompts, "reflect.prompts")
        except WhetError as error:
            raise ValueError(str(error)) from None
        return self

    @model_validator(mode="after")
    def _proposer_present(self) -> Self:
        if self.train.proposer == "analyst" and self.optimizer is None:
            raise ValueError(
                "the analyst needs an [optimizer] model; name one, or set train.proposer = 'examples', which needs none"
            )
        return self


ANALYST: Mapping[str, Any] = {"train": {"batch_size": 20, "reuse": True}}
"""Where an analyst reads: a batch has about as many failures as one prompt shows, and is read again rather than drawn
again. Worked examples live on new draws."""

FEW: Mapping[str, Any] = {"update": {"bring": "bundle"}, "gate": {"pace": "patient", "alpha": 0.05}}
"""Where proposals are few and tried before: each is judged whole, and on all tasks."""

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "whet": {},
    "skillopt": {
        "train": {"epochs": 4, "batch_size": 40, "accumulation": 1, "reuse": False, "seed": 42},
        "optimizer": {"sampling": {"max_tokens": 16_384}},
        "reflect": {
            "minibatch": 8,
            "calls": 0,
            "failures_only": False,
            "show": "truth",
            "gate_notes": False,
            "transcript_chars": 1_000_000,
            "memory": 1000,
            "forget": True,
        },
        "update": {
            "mode": "patch",
            "scheduler": "cosine",
            "edits": 4,
            "min_edits": 2,
            "merge": 8,
            "bring": "bundle",
            "evidence": False,
            "max_bytes": 1_000_000,
            "rewrite_tokens": 64_000,
        },
        "slow": {"use": True, "samples": 20, "pairs": "mixed", "gated": False, "idle": True},
        "meta": {"use": True},
        "gate": {"name": "strict", "metric": "hard"},
    },
}
"""Recipes by name. `skillopt` is the published one, its ungated slow update and reminders included."""
