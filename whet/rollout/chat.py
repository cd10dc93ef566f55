"""Attempts as chat records: what a model was sent and what it answered, in the form that chat templates take.

chat_record(policy.playbook, rollout.turns, task="train/3", reward=1.0)

{"messages": [{"role": "system", "content": "..."}, {"role": "user", "content": "..."},
              {"role": "assistant", "content": "...", "tool_calls": [...]},
              {"role": "tool", "content": "...", "tool_call_id": "..."}, ...],
 "tools": [...], "task": "train/3", "reward": 1.0}
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from whet.rollout.placement import place
from whet.rollout.tokens import token_sequences
from whet.types import Content, Image, MalformedCall, Message, Playbook, ToolCall, ToolSpec, Turn

ChatRecord = dict[str, Any]


def chat_record(playbook: Playbook, turns: Iterable[Turn], **about: Any) -> ChatRecord:
    """The turns of the target as one conversation, then what there is to say `about` it.

    The playbook stands where a chat model sees it. `tools` are all that were offered. Where the tokens are known,
    `token_ids` and `mask` (1: drawn by the model) have a list for each sequence that the model saw, `logprobs` one of
    its drawn ids.
    """
    own = [turn for turn in turns if turn.role == "target"]
    messages: list[ChatRecord] = []
    tools: list[ToolSpec] = []
    for number, turn in enumerate(own):
        said = turn.messages if number else place(playbook, turn.messages)
        messages += [chat_message(message) for message in (*said, turn.reply.as_message())]
        tools += [tool for tool in turn.tools or () if tool not in tools]
    offered = {"tools": [_tool(tool) for tool in tools]} if tools else {}
    return {"messages": messages, **offered, **about, **_tokens(own)}


def chat_message(message: Message) -> ChatRecord:
    """A message. Calls that could not be read stand in `malformed_calls` as the model wrote them, never in between."""
    made: ChatRecord = {"role": message.author, "content": _content(message.content)}
    if message.calls:
        made["tool_calls"] = [_call(call) for call in message.calls]
    if message.malformed:
        made["malformed_calls"] = [_malformed(bad) for bad in message.malformed]
    if message.call_id:
        made["tool_call_id"] = message.call_id
    return made


def _content(content: Content) -> str | list[ChatRecord]:
    """Text as it is; with images, parts. An image is named by the hash of its bytes."""
    if isinstance(content, str):
        return content
    return [
        {"type": "image", "sha256": part.sha256, "media_type": part.media_type}
        if isinstance(part, Image)
        else {"type": "text", "text": part}
        for part in content
    ]


def _call(call: ToolCall) -> ChatRecord:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": _arguments(call)}}


def _arguments(call: ToolCall) -> str:
    """The arguments as JSON: in the model's own words where these are the arguments and nothing else."""
    arguments = dict(call.arguments)
    try:
        if orjson.loads(call.raw) == arguments:
            return call.raw
    except orjson.JSONDecodeError:
        pass
    return orjson.dumps(arguments).decode()


def _malformed(bad: MalformedCall) -> ChatRecord:
    return {"id": bad.id, "name": bad.name, "text": bad.raw, "kind": bad.kind, "problem": bad.problem}


def _tool(tool: ToolSpec) -> ChatRecord:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def _tokens(turns: Sequence[Turn]) -> ChatRecord:
    sequences = token_sequences(turns)
    if not sequences:
        return {}
    known: ChatRecord = {
        "token_ids": [list(sequence.ids) for sequence in sequences],
        "mask": [list(sequence.mask) for sequence in sequences],
    }
    if all(sequence.logprobs for sequence in sequences):
        known["logprobs"] = [list(sequence.logprobs) for sequence in sequences]
    return known
