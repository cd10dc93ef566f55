"""An environment of verifiers as one of ours: `verifiers:MODULE` for the v1 line, `verifiers0:MODULE` for the v0 line.

Its tasks are those of the environment, divided into our splits; its loop and its grading run in a worker. A reward
function that raises is a fault that names it, in both lines, never a score.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from whet.envs.arguments import Argument, accept
from whet.envs.base import Environment, Play, call, work
from whet.envs.fingerprint import fingerprint
from whet.envs.near import split_texts
from whet.envs.verifiers.peer import WORKER, Json, PeerSettings, peer_for
from whet.errors import FaultError, LimitReached, WhetError
from whet.keys import bytes_digest
from whet.types import (
    SPLITS,
    Ask,
    Fault,
    Label,
    MalformedCall,
    Message,
    Reply,
    Score,
    Split,
    Task,
    ToolCall,
    ToolSpec,
)

ARGUMENTS = (
    Argument("python", str, "", "interpreter that has verifiers and the environment; [the one of Whet]"),
    Argument("args", dict, {}, "what the environment itself takes, as in -a args.split=train"),
    Argument("tasks", int, 1000, "how many of its tasks to load, the first ones"),
    Argument("solved_at", float | None, None, "reward from which a task counts as solved; [its own threshold, or 1]"),
    Argument("deadline", float, 300.0, "seconds for one step of the environment"),
)

V1_ARGUMENTS = (
    *ARGUMENTS,
    Argument("harness", str, "", "harness of verifiers to play with; [none where a reply is enough, else null]"),
    Argument("runtime", str, "subprocess", "runtime of verifiers for tasks that are played by a harness"),
)


class VerifiersEnvironment(Environment):
    """The tasks of one environment of verifiers. What it holds is plain data; the worker is found by its settings."""

    def __init__(self, scheme: str, settings: PeerSettings, solved_at: float | None, deadline: float) -> None:
        welcome = peer_for(settings).welcome
        self._settings = asdict(settings)
        self._deadline = deadline
        self._rows: list[Json] = welcome["tasks"]
        if not self._rows:
            raise WhetError(f"{scheme}:{settings.module} has no tasks")
        self._solved_at = welcome["solved_at"] if solved_at is None else solved_at
        self._sides = _sides(self._rows)
        self.name = f"{scheme}:{settings.module}"
        self.about = f"{len(self._rows)} tasks of {settings.module}, scored by verifiers {welcome['version']}"
        made = (settings.module, dict(settings.args), settings.most, settings.harness, settings.runtime)
        found = (welcome["version"], welcome["source"], self._rows, _worker_digest())
        self.fingerprint = fingerprint(f"{scheme}-{settings.module}", self, (made, self._solved_at), found)

    def size(self, split: Split) -> int | None:
        return len(self._sides[split])

    def label(self, split: Split, index: int) -> Label:
        return Label(self._rows[self._row(split, index)]["kind"] or self._settings["module"])

    def task(self, split: Split, index: int) -> Task:
        number = self._row(split, index)
        row = self._rows[number]
        messages = tuple(map(_message, row["messages"]))
        return Task(split, index, self.label(split, index), messages, row["truth"], {"row": number, "way": row["way"]})

    def play(self, task: Task) -> Play:
        row = task.data["row"]
        if task.data["way"] == "loop":
            reply: Reply = yield Ask(task.messages)
            return self._scored((yield from self._step({"do": "score", "task": row, "reply": _wired(reply)})))
        came = yield from self._step({"do": "begin", "task": row})
        while "ask" in came:
            try:
                reply = yield _asked(came["ask"])
            except LimitReached:
                yield from self._step({"do": "drop", "attempt": came["attempt"]})
                raise
            came = yield from self._step({"do": "reply", "attempt": came["attempt"], "reply": _wired(reply)})
        return self._scored(came)

    def _step(self, request: Json) -> Any:
        seconds = self._deadline
        job = call(
            "whet.envs.verifiers.peer:step",
            deadline=seconds + 600.0,  # the first step may have to start a worker
            settings=self._settings,
            request=request,
            seconds=seconds,
        )
        result = yield from work(job)
        if not result.ok:
            raise FaultError(Fault("worker_lost", "verifiers", f"{result.error}: {result.detail}"))
        if "fault" in result.value:
            raise FaultError(Fault(result.value["fault"]["kind"], "verifiers", result.value["fault"]["message"]))
        return result.value

    def _scored(self, came: Json) -> Score:
        end = came["end"]
        reward = float(end["reward"])
        if not math.isfinite(reward):
            raise FaultError(Fault("grader_raised", "verifiers", f"a reward of {reward}"))
        hard = int(reward >= self._solved_at)
        soft = min(1.0, max(0.0, reward))
        reason = "correct" if hard else "partial" if soft > 0.0 else "wrong"
        return Score(hard, soft, reward, end["parts"], reason, end["stop"])

    def _row(self, split: Split, index: int) -> int:
        rows = self._sides[split]
        if not 0 <= index < len(rows):
            raise WhetError(f"{self.name}: the split {split!r} has {len(rows)} tasks, none of number {index}")
        return rows[index]


def _sides(rows: Sequence[Json]) -> dict[Split, list[int]]:
    """Its own evaluation rows are the test; otherwise rows are divided, near-duplicates on one side."""
    texts = ["\n".join(message["content"] for message in row["messages"]) for row in rows]
    own = [number for number, row in enumerate(rows) if row["side"] == "test"]
    free = [number for number, row in enumerate(rows) if row["side"] != "test"]
    fractions = (2 / 3, 1 / 3, 0.0) if own else (0.5, 0.25, 0.25)
    given = split_texts([texts[number] for number in free], fractions)
    sides: dict[Split, list[int]] = {split: [] for split in SPLITS}
    for number, side in zip(free, given, strict=True):
        sides[side].append(number)
    sides["test"] += own
    return sides


def _worker_digest() -> str:
    """The code on the other side, which is run by its path and imported by nobody."""
    return bytes_digest(b"\0".join(file.read_bytes() for file in sorted(WORKER.glob("*.py"))))


def _asked(ask: Json) -> Ask:
    tools = tuple(ToolSpec(tool["name"], tool["description"], tool["parameters"]) for tool in ask["tools"])
    return Ask(tuple(map(_message, ask["messages"])), tools)


def _message(fields: Mapping[str, Any]) -> Message:
    """A message from over there; arguments of calls in it are text that some model wrote, and stay text."""
    calls = tuple(
        MalformedCall(found["id"], found["name"], found["arguments"], "prose", "")
        for found in fields.get("tool_calls") or ()
    )
    return Message(fields["role"], fields["content"], (), calls, fields.get("tool_call_id") or "")


def _wired(reply: Reply) -> Json:
    """A reply as the library's own clients bring it: what is wrong with a call is for its environment to say."""
    wired: Json = {"content": reply.text, "finish": reply.finish}
    calls: list[ToolCall | MalformedCall] = [*reply.calls, *(bad for bad in reply.malformed if bad.name)]
    if calls:
        wired["tool_calls"] = [_call(found) for found in calls]
    wired["usage"] = {"prompt": reply.usage.prompt_tokens, "completion": reply.usage.completion_tokens}
    return wired


def _call(found: ToolCall | MalformedCall) -> Json:
    raw = found.raw
    if not raw and isinstance(found, ToolCall):
        raw = orjson.dumps(dict(found.arguments)).decode()
    return {"id": found.id, "name": found.name, "arguments": raw}


class VerifiersFamily:
    """What the registry knows about one line of verifiers, without the library."""

    def __init__(self, name: str, line: str, about: str, takes: Sequence[Argument]) -> None:
        self.name = name
        self.about = about
        self._line = line
        self._takes = takes

    def variants(self) -> Sequence[str]:
        return ()

    def arguments(self, variant: str) -> Sequence[Argument]:
        return self._takes

    def build(self, variant: str, source: str, args: Mapping[str, Any]) -> Environment:
        if variant or not source:
            raise WhetError(f"{self.name} needs the module of an environment, as in {self.name}:my_env")
        given = accept(f"{self.name}:{source}", self._takes, args)
        settings = PeerSettings(
            self._line,
            source,
            given.get("python") or sys.executable,
            given.get("args", {}),
            given.get("tasks", 1000),
            given.get("harness", ""),
            given.get("runtime", "subprocess"),
            str(Path.cwd()),
        )
        return VerifiersEnvironment(self.name, settings, given.get("solved_at"), given.get("deadline", 300.0))


V1_FAMILY = VerifiersFamily("verifiers", "v1", "an installed taskset of verifiers 0.4: verifiers:MODULE", V1_ARGUMENTS)
V0_FAMILY = VerifiersFamily(
    "verifiers0", "v0", "an installed environment of verifiers up to 0.3: verifiers0:MODULE", ARGUMENTS
)
