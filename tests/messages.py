"""A server on loopback that speaks the messages format, and lists models: sums are solved, and it follows a plan."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import orjson
from loopback import Json, Loopback, Response, _headers, _json, answer, serving


class Messages(Loopback):
    """Answers `/v1/messages`; a step of the plan is `{"content", "stop_reason", "usage"}` or `{"status", "body"}`."""

    models: tuple[str, ...] = ()

    def respond(self, method: str, path: str, headers: bytes, body: bytes) -> Response:
        if path.endswith("/models") and method == "GET":
            return _json({"object": "list", "data": [{"id": name, "object": "model"} for name in self.models]})
        if not path.endswith("/v1/messages"):
            return super().respond(method, path, headers, body)
        self.requests += 1
        fields = orjson.loads(body)
        self.seen.append({"path": path, "headers": _headers(headers), "body": fields})
        step = self.plan.popleft() if self.plan else None
        if isinstance(step, dict) and "status" in step:
            extra = "".join(f"{name}: {value}\r\n" for name, value in step.get("headers", {}).items())
            return Response(step["status"], orjson.dumps(step["body"]), extra)
        return _json(said(fields, step or {}, self))


def said(fields: Json, step: Json, server: Loopback) -> Json:
    """A message of the format; what the step leaves out is answered."""
    _, text, _ = answer(fields["messages"], orjson.dumps(fields["messages"]), 0, server.behaviour)
    content: list[Json] = [{"type": "text", "text": text}]
    if fields.get("tool_choice") == {"type": "any"}:
        content = [{"type": "tool_use", "id": "toolu_1", "name": fields["tools"][0]["name"], "input": {"code": text}}]
    stop = "tool_use" if content[-1]["type"] == "tool_use" else "end_turn"
    usage = {"input_tokens": 10, "output_tokens": 5}
    whole: Json = {"type": "message", "role": "assistant", "model": fields["model"], "content": content}
    return {**whole, "stop_reason": stop, "usage": usage, **step}


@contextlib.contextmanager
def messages_server(models: tuple[str, ...] = ()) -> Iterator[Messages]:
    server = Messages()
    server.models = models
    with serving(server=server):
        yield server


def refused(status: int, kind: str, message: str, **headers: Any) -> Json:
    """A step of a plan: an error as the service words it."""
    body = {"type": "error", "error": {"type": kind, "message": message}}
    return {"status": status, "body": body, "headers": {name.replace("_", "-"): str(v) for name, v in headers.items()}}
