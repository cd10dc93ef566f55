"""A world for the weight learners: a language model of few letters, and tasks that it can learn in a minute."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file
from tiny_weights import READING, talking_weights

from whet.config.load import validate
from whet.envs.base import Baseline, Environment, Messages, Play, ask
from whet.learn.weights.config import GrpoConfig, SftConfig
from whet.types import Label, Score, Split, Task, user


class Hail(Environment):
    """Begin with an h: as small as something to learn can be. `turns` asks again that often."""

    name = "hail"
    fingerprint = "hail-1"

    def __init__(self, turns: int = 1, flat: bool = False) -> None:
        self.turns = turns
        self.flat = flat

    def size(self, split: Split) -> int | None:
        return 40

    def label(self, split: Split, index: int) -> Label:
        return Label("even" if index % 2 == 0 else "odd", ("easy", "medium", "hard")[index % 3])

    def task(self, split: Split, index: int) -> Task:
        said = "abcdefg"[index % 7] * (1 + index % 4)
        return Task(split, index, self.label(split, index), (user(said),), "h")

    def play(self, task: Task) -> Play:
        hits = 0
        said = task.messages
        for _ in range(self.turns):
            reply = yield from ask(said)
            hits += reply.text.startswith("h")
            said = (user("bad" if hits == 0 else "deaf"),)
        share = 0.0 if self.flat else hits / self.turns
        return Score(int(share == 1.0), share, share, {"hits": float(hits)}, "hailed" if share == 1.0 else "silent")

    def baselines(self) -> Mapping[str, Baseline]:
        return {"oracle": _hail}


def _hail(task: Task, said: Messages) -> str:
    return "h" + task.messages[0].text[:1]


def tiny(folder: Path, loudness: float = 40.0) -> Path:
    """A model whose words depend on what it thinks: a new head hardly listens, and adapters below it do nothing."""
    talking_weights(folder, READING)
    file = folder / "model.safetensors"
    tensors = load_file(file)
    tensors["lm_head.weight"] *= loudness
    save_file(tensors, file, {"format": "pt"})
    return folder


def grpo_config(base: Path, **sections: Any) -> GrpoConfig:
    return validate(GrpoConfig, _laid(_common("grpo", base, {"lr": 0.01}), sections), "test")


def sft_config(base: Path, **sections: Any) -> SftConfig:
    return validate(SftConfig, _laid(_common("sft", base, {"lr": 0.01}), sections), "test")


def _common(learner: str, base: Path, tune: dict[str, Any]) -> dict[str, Any]:
    return {
        "learner": learner,
        "env": {"name": "hail"},
        "target": {"model": f"hf:{base}", "sampling": {"max_tokens": 3, "temperature": 0.0}},
        "train": {"tasks": 20, "select": 20, "test": 20},
        "tune": {"blocks": "all", "rank": 8, "alpha": 16, "micro": 64, "schedule": "constant", "warmup": 0, **tune},
        "control": {"target": {"slots": 32}},
    }


def _laid(data: dict[str, Any], sections: dict[str, Any]) -> dict[str, Any]:
    for name, section in sections.items():
        data[name] = {**data.get(name, {}), **section} if isinstance(section, dict) else section
    return data
