"""Small broken models with known truth, and plays of them in one call."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path

from whet.envs.base import Messages
from whet.envs.ordebug.edits import AddRow, DropRow, Edit, SetBounds, SetRhs, SetSense, SetType, apply_all
from whet.envs.ordebug.environment import task_of
from whet.envs.ordebug.iis import find_iis
from whet.envs.ordebug.instance import Certificate, Instance, PlantedFault, Specification, instance_id
from whet.envs.ordebug.ladder import EVERY_CELL
from whet.envs.ordebug.maker import make
from whet.envs.ordebug.model import Column, LinearProgram, LinearRow
from whet.envs.ordebug.play import OrDebugSettings, play
from whet.envs.ordebug.solver import solve
from whet.rollout.drive import Transcript, drive
from whet.rollout.workbench import Workbench
from whet.types import Ask, Label, Reply, Task

SAMPLE = Path(__file__).parent / "sample"

BAKERY = LinearProgram(
    "bakery",
    (
        Column("x1", 0.0, 40.0, "continuous", 3.0),
        Column("x2", 0.0, 30.0, "continuous", 2.0),
        Column("x3", 0.0, 10.0, "integer", 5.0),
    ),
    (
        LinearRow("r1", (("x1", 1.0), ("x2", 2.0), ("x3", 3.0)), "<=", 60.0),
        LinearRow("r2", (("x1", 2.0), ("x2", 1.0)), "<=", 50.0),
        LinearRow("r3", (("x1", 1.0), ("x2", 1.0)), ">=", 10.0),
        LinearRow("r4", (("x2", 1.0), ("x3", 1.0)), ">=", 5.0),
    ),
    maximize=True,
)
"""A feasible model in which every row shapes the feasible points."""

SPECIFICATION = """\
x1 and x2 are trays of bread and rolls, x3 ovens hired (whole, at most 10). Flour: x1 + 2 x2 + 3 x3 is at most 60. \
Work: 2 x1 + x2 is at most 50 hours. At least 10 trays are baked, and x2 + x3 is at least 5."""


def instance(*repair: Edit, original: LinearProgram = BAKERY, breaking: Sequence[Edit]) -> Instance:
    """`original` broken by the edits, with the repair that undoes them."""
    sabotaged = apply_all(original, breaking)
    iis = find_iis(sabotaged)
    assert iis is not None
    best = solve(original).objective
    assert best is not None
    certificate = Certificate(original.digest, best, len(repair), iis, 0, False, (), False, True)
    fault = PlantedFault("A", "by_hand", tuple(repair), "Something was changed.")
    name = instance_id(SPECIFICATION, sabotaged)
    text = Specification(SPECIFICATION, {"row:r2": ("Work: 2 x1 + x2 is at most 50 hours.",)})
    return Instance(
        name, "A", "easy", "bakery", original.digest, text, text, original, sabotaged, (fault,), certificate
    )


@functools.cache
def flipped() -> Instance:
    """The flour row with its sense the wrong way round and the demand row too high to live with it."""
    return instance(SetSense("r2", "<="), breaking=[SetSense("r2", ">=")], original=_tight())


def _tight() -> LinearProgram:
    """The bakery with so little flour that the hours cannot be reached from below."""
    return apply_all(BAKERY, [SetRhs("r1", 20.0), SetBounds("x1", 0.0, 15.0)])


@functools.cache
def crossed() -> Instance:
    """A lower bound above the upper one."""
    return instance(SetBounds("x1", 0.0, 40.0), breaking=[SetBounds("x1", 60.0, 40.0)])


@functools.cache
def typed() -> Instance:
    """An integer column made binary, where more than one is needed."""
    original = apply_all(BAKERY, [SetRhs("r4", 20.0), SetBounds("x2", 0.0, 15.0)])
    return instance(SetType("x3", "integer", (0.0, 10.0)), breaking=[SetType("x3", "binary")], original=original)


@functools.cache
def doubled() -> Instance:
    """A row too many that contradicts the hours; the repair drops it."""
    return instance(DropRow("r5"), breaking=[AddRow("r5", (("x1", 2.0), ("x2", 1.0)), ">=", 80.0)])


@functools.cache
def twofold() -> Instance:
    """Two independent faults: both must be undone."""
    original = _tight()
    breaking = [SetSense("r2", ">="), SetBounds("x3", 9.0, 8.0)]
    return instance(SetSense("r2", "<="), SetBounds("x3", 0.0, 10.0), breaking=breaking, original=original)


def task(one: Instance, settings: OrDebugSettings = OrDebugSettings()) -> Task:
    return task_of(one, "train", 0, Label(one.kind, one.difficulty), settings)


def played(one: Instance, replies: Sequence[str | Reply], settings: OrDebugSettings = OrDebugSettings()) -> Transcript:
    """The attempt of a policy that says `replies` in turn, and then nothing."""
    rest = iter(replies)
    return driven(one, lambda said, asked: next(rest, ""), settings)


def driven(
    one: Instance, answer: Callable[[Messages, Ask], Reply | str], settings: OrDebugSettings = OrDebugSettings()
) -> Transcript:
    with Workbench() as perform:
        return drive(play(one, task(one, settings).messages, settings), answer, perform)


@functools.cache
def made(name: str, index: int = 0) -> Instance:
    """A problem of a cell, made once for all tests."""
    return make(EVERY_CELL[name], None, index, seed=3)


def acts(*lines: str) -> list[str]:
    """Replies in the text protocol."""
    return [f"Let me see.\nAction: {line}" for line in lines]
