"""Tool calls in plain text, for models and servers without tool calling of their own: one ```tool fence is one call.

    ```tool
    {"name": "run_python", "arguments": {"code": "print(1)"}}
    ```

The specs stand in the system text, calls stay in the assistant's text as written, and results come as user messages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import orjson

from whet.models.chat.images import parts
from whet.models.chat.toolcalls import CallProblem, CallReader, ReplyCalls, checked, parsed
from whet.types import MalformedCall, Message, ToolCall, ToolSpec, system

OPENING = "```tool"
_FENCE = re.compile(
    r"^[ \t]*```tool[ \t]*(?:\r?\n|\Z)(?P<body>.*?)(?:(?P<closing>^[ \t]*```[ \t]*\r?$)|\Z)", re.MULTILINE | re.DOTALL
)


def read(text: str, reader: CallReader) -> ReplyCalls:
    """The calls in a reply's text."""
    calls: list[ToolCall] = []
    malformed: list[MalformedCall] = []
    for position, fence in enumerate(_FENCE.finditer(text)):
        raw = fence["body"].strip()
        call_id, name = f"{reader.prefix}_{position}", ""
        try:
            if fence["closing"] is None:
                if reader.cut:
                    raise CallProblem("cut_off", reader.cut_problem("its ```tool block was complete"))
                raise CallProblem(
                    "bad_json", "Your ```tool block is not closed: end it with a line of three backticks."
                )
            fields = parsed(raw, "the contents of your ```tool block")
            name = _name(fields)
            spec = reader.spec(name)
            calls.append(ToolCall(call_id, name, checked(fields.get("arguments", {}), spec), raw))
        except CallProblem as broken:
            malformed.append(MalformedCall(call_id, name, raw, broken.kind, broken.problem))
    return ReplyCalls(tuple(calls), tuple(malformed))


def _name(fields: Any) -> str:
    if not isinstance(fields, dict) or not isinstance(fields.get("name"), str):
        raise CallProblem(
            "bad_arguments",
            'A ```tool block must hold one JSON object of the form {"name": "...", "arguments": {...}}.',
        )
    return str(fields["name"])


def manual(tools: Sequence[ToolSpec], must_call: bool) -> str:
    """What the model is told about its tools."""
    listed = "\n".join(
        f"- {spec.name}: {spec.description}\n  arguments as JSON schema: {orjson.dumps(dict(spec.parameters)).decode()}"
        for spec in tools
    )
    duty = "Every reply must call a tool." if must_call else "Call a tool only when it helps."
    return (
        f"You can call these tools:\n{listed}\n\n"
        "To call one, end your reply with a block of this form, a single JSON object between the two fence lines:\n"
        f'{OPENING}\n{{"name": "TOOL", "arguments": {{"NAME": "VALUE"}}}}\n```\n'
        'Inside JSON strings write line breaks as \\n and quotes as \\". '
        f"The result comes in the next message. {duty}"
    )


def spoken(messages: Sequence[Message], tools: Sequence[ToolSpec], must_call: bool) -> tuple[Message, ...]:
    """The conversation without tool messages: specs in the system text, results as user messages.

    Results that follow one another become one message, because many chat templates want the two sides to alternate.
    """
    said: list[Message] = []
    names = {call.id: call.name for message in messages for call in message.calls}
    names |= {bad.id: bad.name for message in messages for bad in message.malformed}
    previous = ""
    for message in messages:
        if message.author == "tool":
            told = _result(message, names.get(message.call_id, ""))
            if previous == "tool":
                told = Message("user", (*parts(said.pop()), "\n\n", *parts(told)))
            said.append(_plain(told))
        elif message.author == "assistant":
            said.append(Message("assistant", _with_fences(message)))
        else:
            said.append(message)
        previous = message.author
    return _placed(said, manual(tools, must_call)) if tools else tuple(said)


def _placed(said: list[Message], text: str) -> tuple[Message, ...]:
    if said and said[0].author == "system":
        first = replace(said[0], content=(*parts(said[0]), "\n\n", text))
        return (_plain(first), *said[1:])
    return (system(text), *said)


def _plain(message: Message) -> Message:
    """Parts that are all text, as one text."""
    return replace(message, content=message.text) if all(isinstance(p, str) for p in parts(message)) else message


def _result(message: Message, name: str) -> Message:
    return Message("user", (f"Result of {name or 'your tool call'}:\n", *parts(message)))


def _with_fences(message: Message) -> str:
    """An assistant's text with its calls in it; a call that came from elsewhere (a worked example) is written out."""
    if OPENING in message.text or not message.calls:
        return message.text
    blocks = (
        f"{OPENING}\n{orjson.dumps({'name': call.name, 'arguments': dict(call.arguments)}).decode()}\n```"
        for call in message.calls
    )
    return "\n".join(filter(None, (message.text, *blocks)))
