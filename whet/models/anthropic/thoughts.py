"""Thinking that a server wants back word for word: kept beside the model, because a `Message` has no place for it.

A model that thinks between tool calls goes on with its thought only if the signed blocks return with the results. A
conversation is append-only, so the digest of its beginning up to the reply finds the blocks of that reply.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any

from whet.keys import canonical
from whet.types import Message

Blocks = tuple[dict[str, Any], ...]

ROOM = 4096
"""Replies remembered at once: more than there are attempts under way. What fell out is sent without its thinking."""


class Thoughts:
    """The raw blocks of replies, by the conversation that led to them; the oldest give way."""

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._kept: OrderedDict[bytes, Blocks] = OrderedDict()

    def keep(self, messages: Sequence[Message], said: Message, blocks: Blocks) -> None:
        """Remember that `said`, the answer to `messages`, was made of `blocks`."""
        *_, (_, name) = _names((*messages, said))
        self._kept[name] = blocks
        self._kept.move_to_end(name)
        while len(self._kept) > self._room:
            self._kept.popitem(last=False)

    def of(self, messages: Sequence[Message]) -> dict[int, Blocks]:
        """The blocks that are remembered of a conversation, by position of the message."""
        if not self._kept:
            return {}
        return {at: self._kept[name] for at, name in _names(messages) if name in self._kept}


def _names(messages: Sequence[Message]) -> Iterator[tuple[int, bytes]]:
    """The position of every assistant message that called a tool, with the digest of all up to it."""
    so_far = hashlib.blake2b(digest_size=16)
    for at, message in enumerate(messages):
        so_far.update(canonical(message))
        if called(message):
            yield at, so_far.digest()


def called(message: Message) -> bool:
    """Whether an assistant's message holds calls that tool results refer to."""
    return bool(message.calls) or any(bad.id for bad in message.malformed)
