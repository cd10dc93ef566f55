"""The play of `ordebug`: what reference policies repair, and how fast it is in steps a second, milliseconds for a
subsystem, two processes against one.

Functions for `bench/ordebug.py`; CPU time, because a machine may be shared.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from whet.envs.ordebug.environment import OrDebug, task_of
from whet.envs.ordebug.iis import find_iis
from whet.envs.ordebug.instance import Instance
from whet.envs.ordebug.ladder import CELLS
from whet.envs.ordebug.model import LinearProgram
from whet.envs.ordebug.play import OrDebugSettings, play
from whet.rollout.drive import drive
from whet.rollout.workbench import Workbench
from whet.types import Label

SHOWN = 100
"""Rows above which a model is not shown at once: its attempts are played under `reveal=query`."""


def repaired(played: tuple[Instance, str]) -> bool:
    """Whether a reference policy repairs the model in the play."""
    instance, policy = played
    shown = len(instance.sabotaged.rows) <= SHOWN
    settings = OrDebugSettings(max_steps=40, reveal="full" if shown else "query")
    task = task_of(instance, "test", 0, Label(instance.kind, instance.difficulty), settings)
    environment = OrDebug("ordebug", settings, cells=(CELLS[0].name,))
    answer = environment.baselines()[policy]
    with Workbench() as perform:
        driven = drive(environment.play(task), lambda said, _: answer(task, said), perform)
    return driven.score.hard == 1


@dataclass(frozen=True, slots=True)
class Pace:
    """Steps taken, and what they cost."""

    steps: int
    cpu: float
    wall: float

    @property
    def per_cpu_second(self) -> float:
        return self.steps / max(self.cpu, 1e-9)


def script(instance: Instance, edits: int = 9) -> list[str]:
    """Edits with a look or an undo after each, a subsystem, a submission: every kind of step that solves."""
    said = []
    for place in range(edits):
        row = instance.sabotaged.rows[place % len(instance.sabotaged.rows)]
        said.append(f"Action: set_rhs {row.name} {row.rhs + 1}")
        said.append("Action: undo" if place % 3 == 2 else f"Action: check_slack {row.name}")
    return [*said, "Action: get_iis", "Action: submit"]


def pace(instances: Sequence[Instance], rounds: int = 1) -> Pace:
    """Scripted attempts at the instances, one after the other, grading included."""
    settings = OrDebugSettings(max_steps=40)
    tasks = [
        (instance, task_of(instance, "train", 0, Label(instance.kind, instance.difficulty), settings))
        for instance in instances
    ]
    steps, cpu, wall = 0, time.process_time(), time.perf_counter()
    with Workbench() as perform:
        for _ in range(rounds):
            for instance, task in tasks:
                said = iter(script(instance))
                driven = drive(play(instance, task.messages, settings), lambda _, __, said=said: next(said), perform)
                steps += len(driven.replies)
    return Pace(steps, time.process_time() - cpu, time.perf_counter() - wall)


def iis_milliseconds(models: Sequence[LinearProgram]) -> list[float]:
    """CPU milliseconds of `get_iis` on each model."""
    found = []
    for model in models:
        began = time.process_time()
        find_iis(model)
        found.append(1e3 * (time.process_time() - began))
    return found


def two_against_one(instances: Sequence[Instance], rounds: int = 5) -> tuple[float, float]:
    """How many times the steps of one process two take in the same time: by the wall clock, and by CPU time.

    The second is what an idle machine would show: what two processes at once cost each other in CPU.
    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        list(pool.map(pace, [instances] * 2))  # imports, caches
        one = pool.submit(pace, instances, rounds).result()
        began = time.perf_counter()
        both = list(pool.map(pace, [instances] * 2, [rounds] * 2))
        wall = time.perf_counter() - began
    steps = sum(each.steps for each in both)
    return (steps / wall) / (one.steps / one.wall), sum(each.per_cpu_second for each in both) / one.per_cpu_second
