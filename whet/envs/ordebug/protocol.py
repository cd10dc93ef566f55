"""How a policy says an action and how it is read: the one parser of training, reinforcement and evaluation.

As text, a reply ends in one line `Action: set_rhs r3 40`; what stands before it is free. As tools, each action is a
function. A reply that is neither is malformed: it is told what was wrong, and it has used up its step.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from whet.envs.ordebug.actions import ACTIONS, Action, ActionError, arguments_of, read_action
from whet.envs.ordebug.algebra import number
from whet.types import MalformedCall, Message, Reply, ToolCall, tool_result, user

Protocol = Literal["text", "tools"]

MARK = "Action:"

_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
"""A thought that is not closed lasts to the end: what stands in it is not said."""


@dataclass(frozen=True, slots=True)
class MalformedStep:
    """A step that said no action; `problem` is told to the policy."""

    problem: str


Step = Action | MalformedStep


def read_reply(reply: Reply, protocol: Protocol) -> list[Step]:
    """The steps in a reply, in order: exactly one as text, one for each call as tools."""
    if protocol == "tools":
        calls: list[Step] = [_read_call(call) for call in reply.calls]
        if reply.malformed:
            # Sound calls beside a broken one are not run: the policy is told to send them again.
            return [MalformedStep(bad.problem) for bad in reply.malformed]
        return calls or [MalformedStep("no tool was called; call exactly one of the tools")]
    if reply.calls or reply.malformed:
        return [MalformedStep(f"there are no tools here; end the reply with one line that begins with {MARK}")]
    if reply.truncated:
        return [MalformedStep("the reply was cut off by the limit of tokens; keep it shorter")]
    return [read_text(reply.text)]


def read_text(text: str) -> Step:
    """The action in the last line of a text."""
    lines = [line.strip() for line in _THOUGHT.sub("", text).splitlines() if line.strip()]
    marked = [line for line in lines if line.startswith(MARK)]
    if not marked and MARK in text:
        return MalformedStep(f"the line that begins with {MARK} stands inside <think>; close it with </think> first")
    if not marked:
        return MalformedStep(f"there is no action; end the reply with one line such as: {MARK} get_iis")
    if len(marked) > 1:
        return MalformedStep(f"there are {len(marked)} lines that begin with {MARK}; give one action at a time")
    if lines[-1] != marked[0]:
        return MalformedStep(f"the line that begins with {MARK} must be the last")
    try:
        return read_line(marked[0].removeprefix(MARK).strip())
    except ActionError as problem:
        return MalformedStep(str(problem))


def read_line(line: str) -> Action:
    """An action as it is written after the mark: `set_rhs r3 40`."""
    name, _, rest = line.partition(" ")
    signature = ACTIONS.get(name)
    if signature is None:
        return read_action(name[:60], {})
    if name == "add":
        row, colon, constraint = rest.partition(":")
        if not colon:
            raise ActionError(f"add is used as: {signature.usage}")
        return read_action(name, {"row": row.strip(), "constraint": constraint.strip()})
    words, keys = rest.split(), list(signature.arguments)
    if keys == ["names"]:
        return read_action(name, {"names": words})
    if len(words) > len(keys):
        raise ActionError(f"{name} is used as: {signature.usage}")
    return read_action(name, dict(zip(keys, words, strict=False)))


def _read_call(call: ToolCall) -> Step:
    try:
        return read_action(call.name, call.arguments)
    except ActionError as problem:
        return MalformedStep(str(problem))


def write_line(action: Action) -> str:
    """The action as `read_line` reads it."""
    arguments = arguments_of(action)
    if action.name == "add":
        return f"add {arguments['row']}: {arguments['constraint']}"
    words = [action.name]
    for value in arguments.values():
        words += [_said(item) for item in (value if isinstance(value, list) else [value])]
    return " ".join(words)


def say(action: Action, protocol: Protocol, thought: str = "", place: int = 0) -> Reply:
    """The reply that says `action` after a thought; `place` tells tool calls of one conversation apart."""
    if protocol == "text":
        return Reply(f"{thought}\n{MARK} {write_line(action)}" if thought else f"{MARK} {write_line(action)}")
    arguments = arguments_of(action)
    call = ToolCall(f"call_{place}", action.name, arguments, orjson.dumps(arguments).decode())
    return Reply(thought, (call,), finish="tool_calls")


def said_before(messages: Sequence[Message], protocol: Protocol) -> list[Step]:
    """Every step that the assistant took in a conversation: with the first model, they give the state again."""
    found: list[Step] = []
    for message in messages:
        if message.author == "assistant":
            found += read_reply(Reply(message.text, message.calls, message.malformed), protocol)
    return found


def answers(reply: Reply, texts: Sequence[str]) -> tuple[Message, ...]:
    """What the policy is told: a result for each call, or one message of a user's."""
    called: list[ToolCall | MalformedCall] = [*reply.calls, *(bad for bad in reply.malformed if bad.id)]
    if not called:
        return (user("\n".join(texts)),)
    if reply.malformed and reply.calls:
        held = "Not run: another call in the same message was malformed. Send it again."
        texts = [*([held] * len(reply.calls)), *texts]
    padded = [*texts, *([""] * len(called))]
    told = [tool_result(call, text) for call, text in zip(called, padded, strict=False)]
    left = padded[len(called) : len(texts)]
    return (*told, *((user("\n".join(left)),) if left else ()))


def _said(value: Any) -> str:
    if value is None:
        return "none"
    return number(value) if isinstance(value, float) else str(value)
