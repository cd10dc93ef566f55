"""ReflACT: a playbook improved by reflection on attempts, one judged step after another."""

from __future__ import annotations

from whet.learn.reflact.training import Training

__all__ = ["Training"]
