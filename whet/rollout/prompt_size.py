"""How many tokens a prompt can have at most, without knowing its tokeniser."""

from __future__ import annotations

import unicodedata

import orjson

from whet.models.base import Request
from whet.types import Message, ToolSpec

PROMPT_OVERHEAD = 128
"""Tokens that a chat template may add to any prompt, a default system text for one."""

MESSAGE_OVERHEAD = 16
"""Tokens that a chat template may add to a message, generously."""

IMAGE_TOKENS = 4096
"""Tokens that an image may take, generously."""

TOOLS_OVERHEAD = 1024
"""Tokens that a service may say about calling tools where there are any."""

LAYOUT = 4
"""How much longer than its shortest JSON a template may write a tool or a schema, indented for one."""


def most_prompt_tokens(request: Request) -> int:
    """An upper bound: a tokeniser makes at most one token of a byte, of the text or of its normal form."""
    most = PROMPT_OVERHEAD
    for message in request.messages:
        most += _message(message)
    if request.playbook is not None:
        most += _size(str(request.playbook))
    if request.tools:
        most += TOOLS_OVERHEAD + sum(_tool(tool) for tool in request.tools)
    shape = request.shape
    if shape.schema is not None:
        most += LAYOUT * len(orjson.dumps(dict(shape.schema), default=str))
    if shape.grammar is not None:
        most += _size(shape.grammar)
    return most


def _message(message: Message) -> int:
    content = message.content
    if isinstance(content, str):
        most = _size(content) + MESSAGE_OVERHEAD
    else:
        most = MESSAGE_OVERHEAD + sum(_size(part) if isinstance(part, str) else IMAGE_TOKENS for part in content)
    for call in message.calls:
        written = call.raw or orjson.dumps(dict(call.arguments), default=str).decode()
        most += LAYOUT * _size(call.name + call.id + written) + MESSAGE_OVERHEAD
    for bad in message.malformed:
        most += 2 * _size(bad.name + bad.id + bad.raw) + 4 * MESSAGE_OVERHEAD
    return most + _size(message.call_id)


def _tool(tool: ToolSpec) -> int:
    schema = len(orjson.dumps(dict(tool.parameters), default=str))
    return LAYOUT * (_size(tool.name) + _size(tool.description) + schema) + MESSAGE_OVERHEAD


def _size(text: str) -> int:
    """Bytes of a text. Some tokenisers normalise first, which can make one sign into eighteen."""
    if text.isascii():
        return len(text)
    plain = len(text.encode("utf-8", "replace"))
    return max(plain, len(unicodedata.normalize("NFKC", text).encode("utf-8", "replace")))
