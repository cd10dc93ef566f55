"""The five steps from plain GRPO to DAPO, each adding one thing to the one before: what an ablation compares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

PresetName = Literal["baseline", "no_kl", "asym_clip", "dynamic", "token_loss"]


@dataclass(frozen=True, slots=True)
class GrpoPreset:
    """`loss`: 'grpo' averages over each attempt first, 'dapo' over the tokens of the whole batch."""

    beta: float = 0.0
    epsilon: float = 0.2
    epsilon_high: float = 0.28
    dynamic: bool = True
    loss: Literal["grpo", "dapo"] = "dapo"

    def as_data(self) -> dict[str, Any]:
        return asdict(self)


GRPO_PRESETS: Mapping[PresetName, GrpoPreset] = {
    "baseline": GrpoPreset(beta=0.001, epsilon_high=0.2, dynamic=False, loss="grpo"),
    "no_kl": GrpoPreset(epsilon_high=0.2, dynamic=False, loss="grpo"),
    "asym_clip": GrpoPreset(dynamic=False, loss="grpo"),
    "dynamic": GrpoPreset(loss="grpo"),
    "token_loss": GrpoPreset(),
}
assert set(GRPO_PRESETS) == set(get_args(PresetName))
