"""A server that bills by itself: for every request that reaches it, whatever becomes of it and whatever it says.

It counts a token for each byte of a prompt and bills the whole `max_tokens` of each choice, which is the most that a
service could. What it says it used is another matter (`says`), and so is what it answers (`answers`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

sys.path.insert(0, str(Path(__file__).parent))

from loopback import Behaviour, Loopback, Response, completion, fault

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
