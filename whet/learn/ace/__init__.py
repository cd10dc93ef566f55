"""ACE: a playbook of bullets that grows and is refined, delta by delta, never rewritten."""

from __future__ import annotations

from whet.learn.ace.training import AceLearner

LEARNER = AceLearner()

__all__ = ["LEARNER"]
