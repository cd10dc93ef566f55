"""An arm of a comparison of trainings: trained once, kept as an adapter in bfloat16 and a file of figures, resumable.

The arms of `soup` and of the ablation are made of this; `bench/rl.py` has those of `ordebug`.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rl import _keep_adapter, _say

import whet
from whet.keys import digest
from whet.run.ablate import stability

BASE = os.environ.get("RL_BASE", "hf:smollm2")
PACKAGES = ("torch", "transformers", "trl", "peft")


def train_arm(config: Path, given: Sequence[str], place: Path) -> dict[str, Any]:
    """Train by a config with what is set by name; `place` holds the run and the adapter afterwards.

    `signal` and `stability` are those of `whet ablate`; imitation has neither.
    """
    began = time.monotonic()
    made = whet.train(config, overrides=list(given), runs=place / "runs", name="train", watch=_say)
    folder = place / "runs" / "train"
    log = [json.loads(line) for line in (folder / "training_log.jsonl").read_text().splitlines()]
    last = json.loads((folder / "weights.json").read_text())["last"]
    _keep_adapter(Path(last.partition("+")[2]), place / "adapter")
    loud = [row for row in log if "signal" in row]
    return {
        "config": config.name,
        "overrides": list(given),
        "seconds": made.summary["train_seconds"],
        "wall": round(time.monotonic() - began, 1),
        "rollouts": made.summary["train_rollouts"],
        "steps": len(log),
        "log": log,
        "stopped": made.stopped or getattr(made.training, "spent", ""),
        **(_course_of(loud) if loud else {}),
    }


def _course_of(log: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    return {
        "signal": sum(row["signal"] for row in log) / len(log),
        "stability": stability([row["solved"] for row in log]),
    }


def keep(place: Path, told: Mapping[str, Any]) -> None:
    """What is known of an arm so far."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "arm.json").write_text(json.dumps(told, indent=1))


def kept(place: Path) -> dict[str, Any]:
    """What is known of an arm; nothing where it was not begun."""
    file = place / "arm.json"
    found: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    return found


def arms_of(work: Path) -> list[dict[str, Any]]:
    """All arms in a folder."""
    return [json.loads(file.read_text()) for file in sorted(work.glob("*/arm.json"))]


def circumstances(configs: Sequence[Path], device: str = "") -> dict[str, Any]:
    """By what results were made: contents of configs, versions, the machine."""
    return {
        "configs": {file.name: digest(file.read_text())[:12] for file in configs},
        "versions": {name: version(name) for name in PACKAGES},
        "device": device or device_name(),
    }


def device_name() -> str:
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else "a processor"
