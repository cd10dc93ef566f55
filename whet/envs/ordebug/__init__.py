"""Environment `ordebug`: repair an optimisation model that has become infeasible."""

from __future__ import annotations

from whet.envs.ordebug.family import FAMILY

__all__ = ["FAMILY"]
