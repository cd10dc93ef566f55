"""Builders of outcomes: from a pattern of solved and unsolved, or drawn at random by hypothesis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from whet.types import Label, Outcome, Ticket, Usage


def outcome(
    index: int, hard: int = 1, *, draw: int = 0, kind: str = "sum", difficulty: str = "easy", **more: Any
) -> Outcome:
    """One rollout. Without more said, credit and reward are what `hard` is."""
    fields = {"soft": float(hard), "reward": float(hard), "reason": "correct" if hard else "wrong", **more}
    return Outcome(Ticket("eval", "test", index, draw), Label(kind, difficulty), hard, **fields)


def fault(index: int, *, draw: int = 0, kind: str = "sum", cause: str = "timeout") -> Outcome:
    return outcome(index, 0, draw=draw, kind=kind, reason="", fault=cause)


def pattern(solved: str, *, kind: str = "sum") -> list[Outcome]:
    """A single draw for each task: `1` solved, `0` not, `x` a fault, `.` not attempted."""
    made = {"1": lambda i: outcome(i, 1, kind=kind), "0": lambda i: outcome(i, 0, kind=kind), "x": fault}
    return [made[mark](index) for index, mark in enumerate(solved) if mark != "."]


def repeated(solved: Sequence[int], draws: int) -> list[Outcome]:
    """`draws` draws for each task, the first `solved[index]` of them solved."""
    return [outcome(index, int(draw < count), draw=draw) for index, count in enumerate(solved) for draw in range(draws)]


@st.composite
def evaluations(draw: st.DrawFn, tasks: int = 12, repeats: int = 3) -> list[Outcome]:
    """The rollouts of one policy: credit, faults, kinds, tokens and seconds of every sort."""
    rollouts = []
    for index in range(draw(st.integers(1, tasks))):
        label = {"kind": f"kind{index % 3}", "difficulty": ("easy", "hard")[index % 2]}
        for which in range(draw(st.integers(1, repeats))):
            if draw(st.integers(0, 9)) == 0:
                rollouts.append(fault(index, draw=which, kind=label["kind"]))
                continue
            soft = draw(st.sampled_from([0.0, 0.1, 0.3, 0.77, 1.0]))
            usage = Usage(1, 100, draw(st.integers(0, 2000)), 0, draw(st.sampled_from([0.1, 0.2, 0.3])))
            reward = soft - draw(st.sampled_from([0.0, 0.1, 0.7]))
            more = {"soft": soft, "reward": reward, "usage": usage, "seconds": draw(st.floats(0, 100))}
            rollouts.append(outcome(index, int(soft == 1.0), draw=which, **label, **more))
    return rollouts
