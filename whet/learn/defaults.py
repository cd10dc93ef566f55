"""What the learners of a playbook start from where a config says nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whet.config.load import merge
from whet.config.train import section_of

LEARNING: Mapping[str, Any] = {"gate": {"pace": "steady", "alpha": 0.1}}
"""The gate of a learner: what is claimed at the end comes from the sealed test, so it may try a little more."""


ROUNDS: Mapping[str, Any] = {"gate": {"pace": "brief", "alpha": 0.1}}
"""The gate of a learner that brings few candidates, each a whole text: every task, where a race would drop one that
gains a little on many of them."""


def with_few_candidates(data: Any) -> Any:
    """A config's data over that gate; one of the published rules, which have neither alpha nor pace, stays alone."""
    if not isinstance(data, Mapping) or section_of(data, "gate").get("name", "paired") != "paired":
        return data
    merged: dict[str, Any] = {}
    merge(merged, ROUNDS)
    merge(merged, data)
    return merged
