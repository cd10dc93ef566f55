"""A champion as a promotion leaves it, without a run: for tests of what comes after."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from whet.models.load import load_model
from whet.models.options import ModelOptions
from whet.release.champion import Champion, Champions
from whet.types import Playbook, Policy, Sampling

SKILL = Playbook("Add the two numbers, and say the sum alone.")


def draft(playbook: Playbook = SKILL, *, name: str = "sums", model: str = "openai:any", **more: Any) -> Champion:
    """What `whet release promote` would make of a run of that model."""
    endpoint = more.pop("endpoint", {})
    sampling = more.pop("sampling", Sampling(temperature=0.0, max_tokens=64))
    fingerprint = load_model(model, ModelOptions(base_url=endpoint.get("base_url"))).fingerprint
    told: dict[str, Any] = {
        "environment": "sums",
        "fingerprint": "f" * 32,
        "run": "r1",
        "decision": {"says": "accepted by paired (gain_shown)", "verdict": "accept"},
        "claim": {"metric": "hard", "value": 0.9, "interval": [0.8, 0.95], "says": "better", "tasks": 40, "opening": 1},
        "about": "sums of two numbers",
        "head": "whet-ledger 3 r1 7 00",
    }
    return Champion(name, Policy(fingerprint, sampling, playbook), {"model": model}, endpoint, **{**told, **more})


def promoted(releases: Path, playbook: Playbook = SKILL, **more: Any) -> Champion:
    return Champions(releases).promote(draft(playbook, **more))
