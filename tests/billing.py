"""A server that bills by itself: for every request that reaches it, whatever becomes of it and whatever it says.

It counts a token for each byte of a prompt and bills the whole `max_tokens` of each choice, which is the most that a
service could. What it says it used is another matter (`says`), and so is what it answers (`answers`).
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

sys.path.insert(0, str(Path(__file__).parent))

from driving import play_out
from loopback import Behaviour, Loopback, Response, completion, fault

from whet.models.base import Model, Price
from whet.models.load import load_model
from whet.models.options import ModelOptions
from whet.rollout.purse import PurseLimits
from whet.types import Ticket

Says = Callable[[dict[str, Any], int], Any]
"""The usage that is told, made from the true one and the number of the request; LEFT_OUT: none."""

LEFT_OUT = object()

PRICE = (1.0, 4.0)
"""Dollars for a million tokens in and out."""


@dataclass
class Bill:
    """What a service will ask for in the end."""

    calls: int = 0
    prompt: int = 0
    completion: int = 0

    @property
    def tokens(self) -> int:
        return self.prompt + self.completion

    @property
    def usd(self) -> float:
        return (self.prompt * PRICE[0] + self.completion * PRICE[1]) / 1e6

    def add(self, prompt: int, completion: int) -> None:
        self.calls += 1
        self.prompt += prompt
        self.completion += completion


def honest(usage: dict[str, Any], request: int) -> Any:
    return usage


class BillingServer(Loopback):
    """Answers as `Loopback` does, or with the faults of `answers` in turn, and bills."""

    def __init__(self, says: Says = honest, answers: tuple[str, ...] = (), behaviour: Behaviour = Behaviour()) -> None:
        super().__init__(behaviour)
        self.bill = Bill()
        self.replied = 0
        self._says = says
        self._answers = answers

    def respond(self, method: str, path: str, headers: bytes, body: bytes) -> Response:
        if not path.endswith("/chat/completions"):
            return super().respond(method, path, headers, body)
        self.requests += 1
        fields = orjson.loads(body)
        most = (fields.get("max_tokens") or fields.get("max_completion_tokens") or 10**6) * (fields.get("n") or 1)
        prompt = prompt_tokens(fields)
        self.bill.add(prompt, most)
        answer = self._answers[self.requests % len(self._answers)] if self._answers else "ok"
        if answer != "ok":
            return fault(answer, fields, self.behaviour)
        self.replied += 1
        whole = completion(fields, self.behaviour)
        data = orjson.loads(whole.body)
        data["usage"] = self._says({"prompt_tokens": prompt, "completion_tokens": most}, self.requests)
        if data["usage"] is LEFT_OUT:
            del data["usage"]
        return replace(whole, body=orjson.dumps(data))


def prompt_tokens(fields: dict[str, Any]) -> int:
    """As many as any tokeniser could make: one for each byte, and a few around each message."""
    text = sum(_bytes(message.get("content")) + 8 for message in fields["messages"])
    calls = sum(_bytes(message.get("tool_calls")) for message in fields["messages"] if message.get("tool_calls"))
    return text + calls + sum(_bytes(tool) for tool in fields.get("tools", ()))


def _bytes(content: Any) -> int:
    return len(content.encode()) if isinstance(content, str) else len(orjson.dumps(content))


# --------------------------------------------------------------------------------------------- scenarios

LIMITS = {
    "calls": PurseLimits(calls=17),
    "tokens": PurseLimits(tokens=20_000),
    "usd": PurseLimits(usd=0.05),
}

SAYS: dict[str, Any] = {
    "the truth": honest,
    "nothing": lambda usage, n: LEFT_OUT,
    "nothing at times": lambda usage, n: LEFT_OUT if n % 11 == 0 else usage,
    "null": lambda usage, n: None,
    "a text": lambda usage, n: "none of your business",
    "the prompt alone": lambda usage, n: {"prompt_tokens": 3},
    "the completion alone": lambda usage, n: {"completion_tokens": 1},
    "negative numbers": lambda usage, n: {"prompt_tokens": -500, "completion_tokens": -500},
    "a negative completion": lambda usage, n: {**usage, "completion_tokens": -10_000},
    "numbers as texts": lambda usage, n: {"prompt_tokens": "3", "completion_tokens": "1"},
    "fractions": lambda usage, n: {"prompt_tokens": 0.5, "completion_tokens": 0.5},
    "truth values": lambda usage, n: {"prompt_tokens": True, "completion_tokens": False},
    "no completion": lambda usage, n: {**usage, "completion_tokens": 0},
    "zeros": lambda usage, n: {"prompt_tokens": 0, "completion_tokens": 0},
    "ten times as much": lambda usage, n: {name: 10 * count for name, count in usage.items()},
    "past all measure": lambda usage, n: dict.fromkeys(usage, 10**15),
    "more cached than there was": lambda usage, n: {**usage, "prompt_tokens_details": {"cached_tokens": 10**6}},
    "no cost": lambda usage, n: {**usage, "cost": 0},
    "a negative cost": lambda usage, n: {**usage, "cost": -5.0},
}

ANSWERS = {
    "too many requests": ("429", "ok"),
    "server errors": ("500", "500", "ok"),
    "cuts in the body": ("cut", "ok"),
    "dropped connections": ("drop", "ok"),
    "broken JSON": ("invalid", "ok"),
    "empty replies": ("empty", "ok"),
    "stalls": ("stall", "ok", "ok", "ok"),
    "nothing but errors": ("503",),
    "all of it": ("429", "cut", "500", "ok", "drop", "invalid", "ok"),
}


def metered(server: BillingServer, **options: Any) -> Model:
    """A model at the server that does not wait between attempts."""
    settings = {"base_url": server.base_url, "price": Price(*PRICE), "timeout": 0.3, **options}
    model: Any = load_model("openai:any", ModelOptions(**settings))

    async def at_once(seconds: float) -> None:
        await asyncio.sleep(0)

    model._persistence = replace(model._persistence, sleep=at_once)
    return model  # type: ignore[no-any-return]


def played(
    folder: Path,
    server: BillingServer,
    limits: PurseLimits,
    tasks: int = 60,
    model: Model | None = None,
    **options: Any,
) -> Any:
    plan = [Ticket("eval", "select", index) for index in range(tasks)]

    async def session(model: Model) -> Any:
        try:
            return await play_out(folder, model, plan, budget=limits, concurrency=8, patience=0, **options)
        finally:
            await model.close()

    return asyncio.run(session(model or metered(server)))
