"""Scripted transcripts: what a policy says to each question, a function of what was asked and nothing else.

`serving()` answers with it on loopback, streaming or not, for the home harness; `respond` answers a play of ours.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from typing import Any

from whet.envs.base import Messages
from whet.envs.verifiers.worker.bridge import Bridge
from whet.types import Ask, MalformedCall, Reply, ToolCall

Calls = list[tuple[str, str]]
"""Names of tools, each with its arguments as text."""


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


def acts(question: str, results: list[str]) -> str | Calls:
    """What is called over a basket, or said: as one should, in one go, or in ways that tools and their callers mind."""
    mood = hashlib.sha256(question.encode()).digest()[0] % 5
    pen, cup = ("till_price", '{"item": "pen"}'), ("till_price", '{"item": "cup"}')
    add = (
        ("till_add", json.dumps({"left": int(results[0]), "right": int(results[1])}))
        if mood in (0, 4) and results[1:]
        else pen
    )
    steps: list[Calls] = [
        [[pen], [cup], [add]],
        [[("till_price", '{"item": ')], [("parity", '{"number": 3}')]],
        [[("till_price", '{"item": "hat"}')], [("parity", '{"number": -4}')]],
        [[("no_such_tool", "{}"), ("till_price", "[1]")], [("till_price", '{"thing": 1}'), ("parity", "{}")]],
        [[pen, cup], [add, add], [("parity", '{"number": 2}')]],
    ][mood]
    done = 0
    for step in steps:
        if len(results) <= done:
            return step
        done += len(step)
    return str(int(results[0]) + int(results[1])) if mood in (0, 4) else "I do not know."


def respond(said: Messages, asked: Ask) -> str | Reply:
    told = [message.text for message in said if message.author == "user"]
    if not told[0].startswith("Basket"):
        return says(told[0], told[1:])
    results = [message.text for message in said if message.author == "tool"]
    act = acts(told[0], results)
    return act if isinstance(act, str) else _called(act, len(results))


def _called(act: Calls, number: int) -> Reply:
    """The calls as a model of ours brings them, those that are no call included."""
    calls: list[ToolCall] = []
    malformed: list[MalformedCall] = []
    for at, (name, raw) in enumerate(act, number):
        try:
            arguments = json.loads(raw or "{}")
        except ValueError:
            arguments = None
        if isinstance(arguments, dict):
            calls.append(ToolCall(f"call-{at}", name, arguments, raw))
        else:
            malformed.append(MalformedCall(f"call-{at}", name, raw, "prose", "not an object"))
    return Reply("", tuple(calls), tuple(malformed))


class Server:
    """Stands where an attempt would: answers what the bridge asks."""

    number = 1

    async def ask(self, messages: list[dict[str, Any]], tools: list[Any]) -> dict[str, Any]:
        told = [message["content"] for message in messages if message["role"] == "user"]
        about = {"finish": "stop", "usage": {"prompt": 1, "completion": 1}}
        if not told[0].startswith("Basket"):
            return {"content": says(told[0], told[1:]), **about}
        results = [message["content"] for message in messages if message["role"] == "tool"]
        act = acts(told[0], results)
        if isinstance(act, str):
            return {"content": act, **about}
        calls = [
            {"id": f"call-{at}", "name": name, "arguments": raw} for at, (name, raw) in enumerate(act, len(results))
        ]
        return {"content": "", "tool_calls": calls, **about}


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
        asyncio.run_coroutine_threadsafe(bridge.stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
