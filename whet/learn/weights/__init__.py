"""Weights made better: by imitation (SFT) or by reinforcement on plays (GRPO), judged as a playbook is."""

from __future__ import annotations

from whet.learn.weights.learners import GRPO, SFT

__all__ = ["GRPO", "SFT"]
