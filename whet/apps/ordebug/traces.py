"""Oracle trajectories for supervised training: chat messages as JSON lines, from training tasks alone.

What is written is the conversation of the play itself, prompt and answers included, so a model is trained on exactly
what it will be asked and graded on. Replies that are slips have `"weight": 0`: they are read and not learnt.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import orjson

from whet.envs.base import Messages
from whet.envs.ordebug.demonstrations import DemonstrationStep, demonstration
from whet.envs.ordebug.environment import OrDebug
from whet.envs.ordebug.family import FAMILY
from whet.envs.ordebug.protocol import say
from whet.errors import WhetError
from whet.files import write_atomically
from whet.keys import seed_for
from whet.rollout.chat import ChatRecord, chat_record
from whet.rollout.drive import drive
from whet.rollout.workbench import Workbench
from whet.types import Ask, Playbook, Reply

PART = 20
"""Trajectories that a process makes before it tells of them."""


@dataclass(frozen=True, slots=True)
class TraceFile:
    """How many trajectories were written, and how long they are on average, in replies."""

    path: Path
    count: int
    replies: float


def write_traces(
    out: Path,
    *,
    n: int,
    seed: int = 0,
    args: Mapping[str, Any] | None = None,
    processes: int = 1,
    looked_up: float = 0.0,
    tick: Callable[[int, int], None] = lambda done, total: None,
) -> TraceFile:
    """Write `n` trajectories, cell after cell in turn. Every one must earn full credit, or nothing is written.

    `looked_up`: the share in which requirements are looked up, not read in the prompt.
    """
    parts = [range(start, min(n, start + PART)) for start in range(0, n, PART)]
    told = functools.partial(_part, dict(args or {}), seed, looked_up)
    lines: list[bytes] = []
    replies = 0
    with ExitStack() as stack:
        if processes > 1:
            pool = stack.enter_context(ProcessPoolExecutor(processes, mp_context=get_context("spawn")))
            made = pool.map(told, parts)
        else:
            made = map(told, parts)
        for new, said in made:
            lines += new
            replies += said
            tick(len(lines), n)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(out, b"".join(line + b"\n" for line in lines))
    return TraceFile(out, len(lines), replies / max(1, len(lines)))


def _part(args: Mapping[str, Any], seed: int, looked_up: float, indices: Sequence[int]) -> tuple[list[bytes], int]:
    """The lines of some trajectories, and how many replies they have together."""
    env = FAMILY.build("", "", args)
    assert isinstance(env, OrDebug)
    found = list(traces(env, indices, seed, looked_up))
    return [orjson.dumps(record) for record, _ in found], sum(replies for _, replies in found)


def traces(
    env: OrDebug, indices: Iterable[int], seed: int = 0, looked_up: float = 0.0
) -> Iterator[tuple[ChatRecord, int]]:
    """Records with the messages of one demonstration each, and how many replies it has."""
    with Workbench() as bench:
        for index in indices:
            instance = env.instance("train", index)
            told_by = seed_for("ordebug", "traces", seed, index)
            steps = demonstration(instance, env.settings, told_by, looked_up)

            def answer(said: Messages, asked: Ask, told: Iterator[DemonstrationStep] = iter(steps)) -> Reply:
                step = next(told)
                return say(step.action, env.settings.protocol, step.thought, place=len(said))

            played = drive(env.play(env.task("train", index)), answer, bench, env.settings.max_steps + 1)
            if not played.score.hard:
                raise WhetError(
                    f"train/{index}: a demonstration ended in {played.score.reason} ({played.score.detail})"
                )
            labels = {"id": instance.id, "kind": instance.kind, "difficulty": instance.difficulty}
            record = chat_record(Playbook(), played.turns, **labels)
            replies = [message for message in record["messages"] if message["role"] == "assistant"]
            for message, step in zip(replies, steps, strict=True):
                if step.slip:
                    message["weight"] = 0
            yield record, len(replies)
