"""An arm of a comparison of trainings: trained once, kept as an adapter in bfloat16 and a file of figures, resumable.

The arms of `soup`, of `groupqc` and of the ablation are made of this; `bench/rl.py` has those of `ordebug`.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rl import _say
from rl_records import keep_adapter, made_by, peak_gib, weights_digest

import whet
from whet.run.ablate import stability

BASE = os.environ.get("RL_BASE", "hf:smollm2")
PLACES = ("target.model=", "sft.path=")
"""Settings that say where something lies on one machine; `start` and the recipe say what it was."""


def train_arm(
    environment: str,
    config: Path,
    given: Sequence[str],
    place: Path,
    recipe: Sequence[str] = (),
    learnt: Path | None = None,
) -> dict[str, Any]:
    """Train by a config with what is set by name; `place` holds the run and the adapter afterwards.

    `recipe` is what of `given` holds for all seeds, and `learnt` the file of conversations that is imitated.
    `signal` and `stability` are those of `whet ablate`; imitation has neither.
    """
    began = time.monotonic()
    made = whet.train(config, overrides=list(given), runs=place / "runs", name="train", watch=_say)
    folder = place / "runs" / "train"
    log = [json.loads(line) for line in (folder / "training_log.jsonl").read_text().splitlines()]
    last = json.loads((folder / "weights.json").read_text())["last"]
    keep_adapter(Path(last.partition("+")[2]), place / "adapter")
    loud = [row for row in log if "signal" in row]
    began_with = next((said for said in reversed(given) if said.startswith("target.model=")), "").partition("+")[2]
    return {
        **made_by(environment, config, recipe, learnt),
        "start": weights_digest(Path(began_with)) if began_with else "",
        "adapter": weights_digest(place / "adapter"),
        "overrides": [said for said in given if not said.startswith(PLACES)],
        "seconds": made.summary["train_seconds"],
        "wall": round(time.monotonic() - began, 1),
        "peak_gib": peak_gib(),
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
