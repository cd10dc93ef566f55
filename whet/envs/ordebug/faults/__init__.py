"""Fault types: A the sense of a row, B bounds or type of a variable, C a term, D a conflicting requirement."""

from __future__ import annotations

from whet.envs.ordebug.faults import bounds, requirements, senses, terms
from whet.envs.ordebug.faults.fault import Correction, FaultType, Scene

FAULTS: dict[str, FaultType] = {
    fault.kind: fault for fault in (senses.FAULT, bounds.FAULT, terms.FAULT, requirements.FAULT)
}

__all__ = ["FAULTS", "Correction", "FaultType", "Scene"]
