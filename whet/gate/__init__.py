"""Accept what is better, quickly, and not what is noise: the gate, the published rules beside it, and the simulator."""

from __future__ import annotations

from whet.gate.alpha import AlphaBudget
from whet.gate.base import Gate, answer
from whet.gate.decision import Answer, Decision, NeedDraws, expected_false_accepts
from whet.gate.evidence import Arm, Bank, Draw, Reading, Trial
from whet.gate.guard import Guard
from whet.gate.pace import PACES
from whet.gate.paired import PairedGate
from whet.gate.presets import GepaGate, NoGate, RuleSearchGate, StrictGate
from whet.gate.registry import gate_named
from whet.gate.report import SimulationReport
from whet.gate.simulate import simulate
from whet.gate.world import SimulatedWorld, load_world, world_from

__all__ = [
    "PACES",
    "AlphaBudget",
    "Answer",
    "Arm",
    "Bank",
    "Decision",
    "Draw",
    "Gate",
    "GepaGate",
    "Guard",
    "NeedDraws",
    "NoGate",
    "PairedGate",
    "Reading",
    "RuleSearchGate",
    "SimulatedWorld",
    "SimulationReport",
    "StrictGate",
    "Trial",
    "answer",
    "expected_false_accepts",
    "gate_named",
    "load_world",
    "simulate",
    "world_from",
]
