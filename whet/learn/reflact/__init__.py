"""ReflACT: a playbook improved by reflection on attempts, one judged step after another."""

from __future__ import annotations

from whet.learn.reflact.training import ReflactLearner

LEARNER = ReflactLearner()

__all__ = ["LEARNER"]
