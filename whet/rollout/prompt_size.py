"""How many tokens a prompt can have at most, without knowing its tokeniser."""

from __future__ import annotations

from whet.models.base import Request

MESSAGE_OVERHEAD = 16
"""Tokens that a chat template may add to a message, generously."""

IMAGE_TOKENS = 4096
"""Tokens that an image may take, generously."""


def most_prompt_tokens(request: Request) -> int:
    """An upper bound: a byte-level tokeniser makes at most one token of a byte."""
    said = sum(
        len(message.text.encode("utf-8", "replace"))
        + MESSAGE_OVERHEAD
        + (0 if isinstance(message.content, str) else IMAGE_TOKENS * len(message.content))
        for message in request.messages
    )
    if request.playbook is not None:
        said += len(str(request.playbook).encode("utf-8", "replace"))
    return said + sum(len(str(tool.parameters)) + len(tool.description) + MESSAGE_OVERHEAD for tool in request.tools)
