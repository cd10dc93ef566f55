"""What a run of rule search is made from, and the presets: Whet's own, and the published loop with its thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from whet.config.load import merge
from whet.config.schema import Section
from whet.config.train import Count, TrainConfig, TrainSection, section_of
from whet.errors import WhetError
from whet.learn.prompt_text import refuse_unknown

ROOM = "whet.learn.rules"
"""Where the prompts of rule search lie."""


class RulesTrainSection(TrainSection):
    """How long the book grows, and who proposes."""

    proposer: str = Field(
        default="llm", description="llm: an optimiser model; miner: induced from the tickets, no model"
    )
    steps: int = Field(default=20, ge=1, description="rounds of proposals at most")
    patience: int = Field(default=3, ge=1, description="rounds without a gain after which learning ends")
    beam: int = Field(default=1, ge=1, description="books that live side by side")
    pool: Count = Field(default="all", description="tickets of the propose pool that a round looks at")
    reuse: bool = Field(default=True, description="do not attempt a ticket again with the very same book")
    stand: bool = Field(
        default=True,
        description="nor with the next book, where the rules that changed say that they do not speak of it",
    )


class BookSection(Section):
    """The rule book and what is done to it in a round."""

    candidates: int = Field(default=4, ge=1, description="operations that are judged in a round")
    hard_cases: int = Field(default=16, ge=1, description="cases that a proposer is shown")
    order: Literal["hard_first", "easy_first"] = "hard_first"
    ablations: bool = Field(default=True, description="fill spare places with removals of rules that stand")
    screen: int = Field(
        default=16, ge=0, description="tickets of the propose pool a candidate is tried on before the gate; 0: none"
    )
    race: bool = Field(
        default=True, description="where a proposer counts what each is worth: what is behind one that passed waits"
    )
    floor: bool = Field(default=True, description="measure the noise floor on the gate pool first")
    approval: bool = Field(default=False, description="a change that passes waits for a person: whet rules approve")
    golden: tuple[int, ...] = Field(default=(), description="train tasks that no rule may break, by their index")
    audit_only: bool = Field(default=False, description="the baseline on all tickets of the propose pool, and no more")
    retention: int = Field(default=0, ge=0, description="snapshots that are kept; 0: all")
    case_chars: int = Field(default=4000, ge=200, description="characters of one case in the proposer's prompt")
    memory: int = Field(default=20, ge=0, description="operations tried before that the proposer is reminded of")
    prompts: dict[str, str] = Field(
        default={}, description="prompts in the place of those that come along; taken from prompts/ beside the config"
    )


class BoundsSection(Section):
    """Harm that must be ruled out before a change is accepted; 1: no bound."""

    false_release: float = Field(
        default=0.05, ge=0, description="upper bound of the rise of false releases among failing tickets"
    )
    false_block: float = Field(
        default=0.10, ge=0, description="upper bound of the rise of false blocks among passing tickets"
    )
    level: float = Field(default=0.9, ge=0.5, lt=1, description="level of these bounds, one-sided")
    slight: float = Field(
        default=0.0085, ge=0, description="the same as false_release where rules say which tickets they are about"
    )
    confirm: int = Field(
        default=9000, ge=0, description="further select tickets: a change is looked at on those that its rules speak of"
    )
    regressions: float = Field(
        default=0.05, ge=0, le=1, description="share of gate tickets that may go from right to wrong"
    )


class CostsSection(Section):
    """What errors cost: no change may lower the utility, and of several that pass the one of most utility is taken."""

    false_release: float = Field(default=2.0, ge=0)
    false_block: float = Field(default=1.0, ge=0)
    invalid: float = Field(default=2.0, ge=0)

    @property
    def metric(self) -> str:
        """The name of the metric that prices errors so."""
        prices = (f"{name}={getattr(self, name):g}" for name in ("false_release", "false_block", "invalid"))
        return f"utility({','.join(prices)})"


class DistillSection(Section):
    """Chats for fine-tuning, written at the end from what the final book answers on the propose pool."""

    use: bool = False
    size: Count = Field(default="all", description="tickets at most")


class RulesConfig(TrainConfig):
    """A rule book grown by rule search."""

    learner: str = "rules"
    preset: Literal["whet", "published"] = "whet"
    train: RulesTrainSection = RulesTrainSection()
    rules: BookSection = BookSection()
    bounds: BoundsSection = BoundsSection()
    costs: CostsSection = CostsSection()
    distill: DistillSection = DistillSection()

    @model_validator(mode="before")
    @classmethod
    def _over_preset(cls, data: Any) -> Any:
        """The preset's values below what the user wrote, and the gate's guards made from bounds and costs."""
        if not isinstance(data, Mapping):
            return data
        merged: dict[str, Any] = {}
        merge(merged, PRESETS.get(data.get("preset", "whet"), {}))
        named = section_of(data, "gate").get("name")
        if named is not None and named != merged.get("gate", {}).get("name"):
            merged["gate"] = dict(PAIRED) if named == "paired" else {}
        merge(merged, data)
        if section_of(merged, "rules").get("audit_only") and isinstance(merged.get("train", {}), Mapping | Section):
            merged["train"] = {**section_of(merged, "train"), "test": 0}  # nothing to claim: the test stays closed
        gate = merged.get("gate", {})
        if isinstance(gate, Mapping) and gate.get("name", "paired") == "paired":
            try:
                bounds = BoundsSection.model_validate(section_of(merged, "bounds"))
                costs = CostsSection.model_validate(section_of(merged, "costs"))
            except ValidationError:
                return merged  # refused below, where the key is known
            made = {"guards": guards(bounds, costs), "max_regressions": bounds.regressions}
            merged["gate"] = {**made, **gate}
        return merged

    @model_validator(mode="after")
    def _sound(self) -> Self:
        try:
            refuse_unknown(self.rules.prompts, "rules.prompts", ROOM)
        except WhetError as error:
            raise ValueError(str(error)) from None
        if self.train.proposer == "llm" and self.optimizer is None and not self.rules.audit_only:
            raise ValueError(
                "the proposer 'llm' needs an [optimizer] model; name one, or set train.proposer = 'miner', "
                "which needs none"
            )
        return self


def guards(bounds: BoundsSection, costs: CostsSection) -> list[dict[str, Any]]:
    """What the gate holds a change against: bounds on either error among the tickets concerned, and the utility."""
    concerned = (("false_release", "failing"), ("false_block", "passing"))
    made: list[dict[str, Any]] = [
        {
            "metric": part,
            "bound": getattr(bounds, part),
            "better": "down",
            "level": bounds.level,
            "among": among,
            "optional": True,
        }
        for part, among in concerned
    ]
    return [*made, {"metric": costs.metric, "bound": 0.0, "optional": True}]


PAIRED: Mapping[str, Any] = {"name": "paired", "pace": "brief", "alpha": 0.05}
"""Every ticket to both sides: a rule mends one ticket in ten, and a race would drop it at the first it leaves alone."""

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "whet": {"gate": PAIRED},
    "published": {
        "train": {"patience": 3, "beam": 1, "stand": False},
        "rules": {"candidates": 3, "hard_cases": 16, "screen": 0, "race": False, "floor": False, "retention": 5},
        "gate": {
            "name": "rule_search",
            "args": {"samples": 1, "min_reduction": 0.10, "max_changed": 0.05, "min_prob": 0.8, "resamples": 200},
        },
    },
}
"""Recipes by name. `published`: its thresholds, three candidates, and no bound on false releases of an upsert."""
