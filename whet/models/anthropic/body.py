"""A request as the JSON body of a messages call."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import orjson

from whet.errors import WhetError
from whet.models.anthropic.thoughts import Blocks, called
from whet.models.base import Request
from whet.models.chat import fenced
from whet.models.chat.images import Blob, image_bytes
from whet.models.chat.json_body import Json
from whet.models.chat.toolcalls import safe_name
from whet.models.options import ModelOptions
from whet.types import Content, Image, Message, Sampling, Shape, ToolSpec

LEAST_THINKING = 1024
"""Tokens below which the service takes no thinking budget."""

SHARES = {"minimal": 0.1, "low": 0.2, "medium": 0.5, "high": 0.8}
"""The part of `max_tokens` that each effort may think with. Thinking counts against `max_tokens`, so it stays within
what was reserved for the call, and the rest is left for the answer."""


@dataclass(frozen=True, slots=True)
class MessagesDialect:
    """Writes requests for one model."""

    model: str
    options: ModelOptions

    def body(self, request: Request, thoughts: Mapping[int, Blocks]) -> bytes:
        """The JSON of one call; `thoughts` are raw blocks to send in place of a message, by its position."""
        spoken = self.options.tools == "fenced"
        messages = fenced.spoken(request.messages, request.tools, request.must_call) if spoken else request.messages
        told, turns = conversation(messages, request.blob, {} if spoken else thoughts)
        body: Json = {"model": self.model, "max_tokens": request.sampling.max_tokens, "messages": turns}
        if told:
            body["system"] = told
        self._add_thinking(body, request, thoughts)
        self._add_sampling(body, request.sampling)
        if request.tools and not spoken:
            self._add_tools(body, request)
        self._add_shape(body, request.shape)
        for name, value in self.options.extra.items():
            both = isinstance(value, dict) and isinstance(body.get(name), dict)
            body[name] = {**body[name], **value} if both else value
        try:
            return orjson.dumps(body)
        except TypeError as error:
            raise WhetError(f"the request to {self.model} cannot be written as JSON: {error}.") from error

    def _add_thinking(self, body: Json, request: Request, thoughts: Mapping[int, Blocks]) -> None:
        effort = request.sampling.effort
        if "thinking" in self.options.extra:
            body["thinking"] = dict(self.options.extra["thinking"])
        elif effort == "none":
            body["thinking"] = {"type": "disabled"}
        elif effort is not None and not _interrupted(request.messages, thoughts):
            tokens = thinking_tokens(effort, request.sampling.max_tokens)
            body["thinking"] = {"type": "enabled", "budget_tokens": tokens}

    def _add_sampling(self, body: Json, sampling: Sampling) -> None:
        if sampling.logprobs is not None:
            raise WhetError(f"anthropic:{self.model} tells no logprobs: leave logprobs out.")
        if thinks(body) and sampling.temperature not in (None, 1):
            raise WhetError(
                f"anthropic:{self.model} thinks at temperature 1 only, not {sampling.temperature:g}: "
                "leave temperature out, or effort."
            )
        if sampling.temperature is not None:
            body["temperature"] = sampling.temperature
        if sampling.top_p is not None:
            body["top_p"] = sampling.top_p
        # The service refuses stop sequences of blanks alone.
        if stops := [stop for stop in sampling.stop if stop.strip()]:
            body["stop_sequences"] = stops

    def _add_tools(self, body: Json, request: Request) -> None:
        body["tools"] = [_tool(spec) for spec in request.tools]
        # A model that thinks cannot be forced to call; a reply without a call is then told as malformed (`prose`).
        if request.must_call and not thinks(body):
            body["tool_choice"] = {"type": "any"}

    def _add_shape(self, body: Json, shape: Shape) -> None:
        shape = shape.kept("schema" if self.options.shapes != "none" else "none")
        if shape.grammar is not None:
            raise WhetError(f"anthropic:{self.model} follows no grammar: use a JSON schema, or another model.")
        if shape.schema is not None:
            body["output_config"] = {"format": {"type": "json_schema", "schema": dict(shape.schema)}}


def thinking_tokens(effort: str, max_tokens: int) -> int:
    """The thinking budget of an effort; refused where `max_tokens` would leave no room for an answer."""
    if max_tokens < 2 * LEAST_THINKING:
        raise WhetError(
            f"effort = {effort!r} takes at least {LEAST_THINKING} tokens of max_tokens = {max_tokens}: "
            f"raise max_tokens to {2 * LEAST_THINKING} or more, or leave effort out."
        )
    return max(LEAST_THINKING, int(SHARES[effort] * max_tokens))


def thinks(body: Json) -> bool:
    return body.get("thinking", {}).get("type") in ("enabled", "adaptive")


def _interrupted(messages: Sequence[Message], thoughts: Mapping[int, Blocks]) -> bool:
    """Whether the last reply called tools and its thinking is not known: then the service refuses to think on."""
    last = next((at for at in reversed(range(len(messages))) if messages[at].author == "assistant"), None)
    return last is not None and called(messages[last]) and last not in thoughts


def _tool(spec: ToolSpec) -> Json:
    return {"name": spec.name, "description": spec.description, "input_schema": dict(spec.parameters)}


def conversation(messages: Sequence[Message], blob: Blob, thoughts: Mapping[int, Blocks]) -> tuple[str, list[Json]]:
    """The system text, and the turns: sides alternate, results come first in theirs, no text is empty."""
    first = next((at for at, message in enumerate(messages) if message.author != "system"), len(messages))
    told = "\n\n".join(message.text for message in messages[:first] if message.text)
    turns: list[Json] = []
    for at, message in enumerate(messages[first:], first):
        role = "assistant" if message.author == "assistant" else "user"
        content = list(thoughts[at]) if at in thoughts else _blocks(message, blob)
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"].extend(content)
        elif content:
            turns.append({"role": role, "content": content})
    if not turns and told:
        return "", [{"role": "user", "content": told}]
    return told, turns


def _blocks(message: Message, blob: Blob) -> list[Json]:
    if message.author == "tool":
        result: Json = {"type": "tool_result", "tool_use_id": message.call_id}
        if content := _content(message.content, blob):
            result["content"] = content
        return [result]
    if message.author == "assistant":
        return _assistant(message, blob)
    return _content(message.content, blob)


def _content(content: Content, blob: Blob) -> list[Json]:
    parts = (content,) if isinstance(content, str) else content
    return [
        {"type": "text", "text": part} if isinstance(part, str) else _image(part, blob)
        for part in parts
        if not isinstance(part, str) or part.strip()
    ]


def _image(image: Image, blob: Blob) -> Json:
    data = base64.b64encode(image_bytes(image, blob)).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": image.media_type, "data": data}}


def _assistant(message: Message, blob: Blob) -> list[Json]:
    """An assistant's message with its calls. What a malformed one held stands in the text, beside an empty call."""
    blocks = _content(message.content, blob)
    calls = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments)} for call in message.calls
    ]
    for bad in message.malformed:
        if bad.id:
            blocks.append({"type": "text", "text": f"[malformed call of {bad.name or 'a tool'}: {bad.raw}]"})
            name = safe_name(bad.name)
            calls.append({"type": "tool_use", "id": bad.id, "name": name, "input": {}})
    return blocks + calls
