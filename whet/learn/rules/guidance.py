"""A rule book as `guidance.json`: the mission's section with its texts by id, and what is known of each rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whet.learn.rules.book import RuleBook
from whet.types import Rule


def guidance_data(mission: str, step: int, book: RuleBook, moments: Mapping[int, str]) -> dict[str, Any]:
    """The file's content. `moments` says when each step came; `experiences` are what the policy is told."""
    moment = moments.get(step, "")
    return {
        mission: {
            "step": step,
            "updated_at": moment,
            "experiences": {rule.id: rule.text for rule in book.active},
            "metadata": {rule.id: _known(rule, moments) for rule in book.rules},
        }
    }


def _known(rule: Rule, moments: Mapping[int, str]) -> dict[str, Any]:
    return {
        "text": rule.text,
        "status": rule.status,
        "scope": rule.scope,
        "sources": list(rule.evidence),
        "parent": rule.parent,
        "created": rule.created,
        "retired": rule.retired,
        "predicate": None if rule.predicate is None else dict(rule.predicate),
        "updated_at": moments.get(rule.created if rule.retired is None else rule.retired, ""),
    }
