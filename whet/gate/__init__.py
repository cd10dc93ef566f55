"""Accept what is better, quickly, and not what is noise: the gate, the published rules beside it, and the simulator."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from whet.errors import WhetError, nearest
from whet.gate.base import Gate, answer
from whet.gate.decision import Answer, Decision, NeedDraws, expected_false_accepts
from whet.gate.evidence import Arm, Bank, Draw, Reading, Trial
from whet.gate.metric import Guard, Metric
from whet.gate.paired import Futility, PairedGate
from whet.gate.presets import GepaGate, NoGate, RuleSearchGate, StrictGate
from whet.gate.report import SimulationReport
from whet.gate.simulate import simulate
from whet.gate.spending import Spending
from whet.gate.world import World, load_world, world_from

GATES: Mapping[str, Callable[..., Gate]] = {
    "paired": PairedGate,
    "strict": StrictGate,
    "none": NoGate,
    "gepa": GepaGate,
    "rule_search": RuleSearchGate,
}


def gate_named(name: str, **options: object) -> Gate:
    """A gate by name, with its options as keyword arguments."""
    if name not in GATES:
        raise WhetError(f"unknown gate {name!r}.{nearest(name, GATES)} Known: {', '.join(GATES)}.")
    try:
        return GATES[name](**options)
    except TypeError as problem:
        raise WhetError(f"gate {name}: {problem}") from problem


__all__ = [
    "GATES",
    "Answer",
    "Arm",
    "Bank",
    "Decision",
    "Draw",
    "Futility",
    "Gate",
    "GepaGate",
    "Guard",
    "Metric",
    "NeedDraws",
    "NoGate",
    "PairedGate",
    "Reading",
    "RuleSearchGate",
    "SimulationReport",
    "Spending",
    "StrictGate",
    "Trial",
    "World",
    "answer",
    "expected_false_accepts",
    "gate_named",
    "load_world",
    "simulate",
    "world_from",
]
