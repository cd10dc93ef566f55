"""Rule search: a rule book that grows under a gate, one judged operation after another."""

from __future__ import annotations

from whet.learn.rules.learner import RulesLearner

LEARNER = RulesLearner()

__all__ = ["LEARNER"]
