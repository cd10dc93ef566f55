"""Scripted transcripts: what a policy says to each question, a function of what was asked and nothing else.

`serving()` answers with it on loopback, streaming or not, for the home harness; `respond` answers a play of ours.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import re
import threading
from collections.abc import Iterator
from typing import Any

from whet.envs.base import Messages
from whet.envs.verifiers.worker.bridge import Bridge
from whet.types import Ask


def says(question: str, hints: list[str]) -> str:
    """Right, wrong by a little, no number, or at length; on a hunt, halving by the hints, and now and then lost."""
    mood = hashlib.sha256(question.encode()).digest()[0] % 5
    if question.startswith("Hunt"):
        return _hunted(mood, hints)
    numbers = [int(found) for found in re.findall(r"-?\d+", question)]
    right = numbers[0] // 2 if "half" in question else numbers[0] - numbers[1] if " - " in question else sum(numbers)
    return [str(right), str(right + 1), "I do not know.", f" {right}\n", "no"][mood]


def _hunted(mood: int, hints: list[str]) -> str:
    if mood == 4:
        return "anything"
    low, high = 0, 63
    for hint in hints:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if hint == "Higher." else (low, middle - 1) if hint == "Lower." else (low, high)
    return str((low + high) // 2)


def respond(said: Messages, asked: Ask) -> str:
    told = [message.text for message in said if message.author == "user"]
    return says(told[0], told[1:])


class Server:
    """Stands where an attempt would: answers what the bridge asks."""

    number = 1

    async def ask(self, messages: list[dict[str, Any]], tools: list[Any]) -> dict[str, Any]:
        told = [message["content"] for message in messages if message["role"] == "user"]
        return {"content": says(told[0], told[1:]), "finish": "stop", "usage": {"prompt": 1, "completion": 1}}


@contextlib.contextmanager
def serving() -> Iterator[str]:
    """The address of an endpoint that says what is scripted."""
    loop, bridge = asyncio.new_event_loop(), Bridge()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(bridge.start(), loop).result()
        yield bridge.open(Server())  # type: ignore[arg-type]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
