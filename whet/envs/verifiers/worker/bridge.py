"""The endpoint that a harness of verifiers calls: each request of an attempt is handed out, each reply handed back.

A chat-completions server on loopback, by hand: it has one route, and its own library would be the reader's to trust.
The path names the attempt, `/ATTEMPT/chat/completions`.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from .attempts import Json, WorkerAttempt, plain, told, tool

MOST = 64 << 20


class Bridge:
    def __init__(self) -> None:
        self._attempts: dict[str, WorkerAttempt] = {}
        self._port = 0
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=MOST)
        self._port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Take no more; who is connected is let go."""
        if self._server is not None:
            self._server.close()
        talking = asyncio.all_tasks() - {asyncio.current_task()}
        for task in talking:
            task.cancel()
        await asyncio.gather(*talking, return_exceptions=True)

    def open(self, attempt: WorkerAttempt) -> str:
        self._attempts[str(attempt.number)] = attempt
        return f"http://127.0.0.1:{self._port}/{attempt.number}"

    def close(self, attempt: WorkerAttempt) -> None:
        self._attempts.pop(str(attempt.number), None)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                request, *lines = head.split("\r\n")
                fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
                body = await reader.readexactly(int(fields.get("content-length", "0")))
                writer.write(await self._answer(request.split(" ")[1], body))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(self, path: str, body: bytes) -> bytes:
        attempt = self._attempts.get(path.split("/")[1])
        if attempt is None:
            return _wire(404, "application/json", json.dumps({"error": {"message": "no such attempt"}}).encode())
        try:
            asked = json.loads(body)
            messages = [plain(message) for message in asked["messages"]]
            reply = await attempt.ask(messages, [tool(spec) for spec in asked.get("tools") or ()])
        except Exception as error:  # noqa: BLE001 - told to the harness as an endpoint tells it
            return _wire(400, "application/json", json.dumps({"error": {"message": told(error)}}).encode())
        if asked.get("stream"):
            return _wire(200, "text/event-stream", b"".join(map(_event, _chunks(reply))) + b"data: [DONE]\n\n")
        return _wire(200, "application/json", json.dumps(_completion(reply)).encode())


def _wire(status: int, media: str, body: bytes) -> bytes:
    head = f"HTTP/1.1 {status} Answer\r\nContent-Type: {media}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def _event(chunk: Json) -> bytes:
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def _chunks(reply: Json) -> list[Json]:
    about = {"id": "whet", "object": "chat.completion.chunk", "created": 0, "model": "whet"}
    whole = {"role": "assistant", "content": reply["content"]}
    calls = [{"index": at, **call} for at, call in enumerate(_calls(reply))]
    delta = {**whole, "tool_calls": calls} if calls else whole
    return [
        {**about, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**about, "choices": [{"index": 0, "delta": {}, "finish_reason": _finish(reply)}]},
        {**about, "choices": [], "usage": _usage(reply)},
    ]


def _completion(reply: Json) -> Json:
    choice = {"index": 0, "message": chat_message(reply), "finish_reason": _finish(reply)}
    about = {"id": "whet", "object": "chat.completion", "created": 0, "model": "whet"}
    return {**about, "choices": [choice], "usage": _usage(reply)}


def chat_message(reply: Json) -> Json:
    """A reply as a message of chat completions."""
    message: Json = {"role": "assistant", "content": reply["content"]}
    if _calls(reply):
        message["tool_calls"] = _calls(reply)
    return message


def _calls(reply: Json) -> list[Json]:
    return [
        {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["arguments"]}}
        for call in reply.get("tool_calls") or ()
    ]


def _finish(reply: Json) -> str:
    return "length" if reply["finish"] == "length" else "tool_calls" if reply.get("tool_calls") else "stop"


def _usage(reply: Json) -> Any:
    told_usage = reply.get("usage") or {}
    prompt, completion = int(told_usage.get("prompt", 0)), int(told_usage.get("completion", 0))
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
