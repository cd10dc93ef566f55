"""GEPA: a pool of texts evolved by reflection on a Pareto front, as its own package does it, under our gate."""

from __future__ import annotations

from whet.learn.gepa.training import GepaLearner

LEARNER = GepaLearner()

__all__ = ["LEARNER"]
