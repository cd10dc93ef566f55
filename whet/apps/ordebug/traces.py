"""Oracle trajectories for supervised training: chat messages as JSON lines, from training tasks alone.

What is written is the conversation of the play itself, prompt and answers included, so a model is trained on exactly
what it will be asked and graded on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from whet.envs.base import Conversation, Driven, drive
from whet.envs.ordebug.demonstrations import demonstration
from whet.envs.ordebug.environment import OrDebug
from whet.envs.ordebug.family import FAMILY
from whet.envs.ordebug.protocol import say
from whet.envs.performing import Performing
from whet.errors import WhetError
from whet.keys import seed_for
from whet.ledger.projection import write_atomically
from whet.types import Ask, Message, Reply


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
    tick: Callable[[int, int], None] = lambda done, total: None,
) -> TraceFile:
    """Write `n` trajectories, cell after cell in turn. Every one must earn full credit, or nothing is written."""
    env = FAMILY.build("", "", args or {})
    assert isinstance(env, OrDebug)
    lines, replies = [], 0
    for done, (record, length) in enumerate(traces(env, n, seed), start=1):
        lines.append(orjson.dumps(record))
        replies += length
        tick(done, n)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(out, b"".join(line + b"\n" for line in lines))
    return TraceFile(out, len(lines), replies / max(1, len(lines)))


def traces(env: OrDebug, n: int, seed: int = 0) -> Iterator[tuple[dict[str, Any], int]]:
    """Records with the messages of one demonstration each, and how many replies it has."""
    with Performing() as perform:
        for index in range(n):
            instance = env.instance("train", index)
            told = iter(demonstration(instance, env.settings, seed_for("ordebug", "traces", seed, index)))

            def answer(said: Conversation, asked: Ask, told: Any = told) -> Reply:
                step = next(told)
                return say(step.action, env.settings.protocol, step.thought, place=len(said))

            driven = drive(env.play(env.task("train", index)), answer, perform, env.settings.max_steps + 1)
            if not driven.score.hard:
                raise WhetError(
                    f"train/{index}: a demonstration ended in {driven.score.reason} ({driven.score.detail})"
                )
            yield _record(instance.id, instance.kind, instance.difficulty, driven), len(driven.replies)


def _record(name: str, kind: str, difficulty: str, driven: Driven) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    for asked, reply in zip(driven.asks, driven.replies, strict=True):
        messages += [_chat(message) for message in asked.messages]
        messages.append(_chat(reply.as_message()))
    tools = [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
        }
        for tool in driven.asks[0].tools
    ]
    labels = {"id": name, "kind": kind, "difficulty": difficulty}
    return {"messages": messages, **({"tools": tools} if tools else {}), **labels}


def _chat(message: Message) -> dict[str, Any]:
    """A message in the form that chat templates take."""
    made: dict[str, Any] = {"role": message.author, "content": message.text}
    if message.calls:
        made["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.raw}}
            for call in message.calls
        ]
    if message.call_id:
        made["tool_call_id"] = message.call_id
    return made
