"""A request as the JSON body of a chat-completions call."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from whet.errors import WhetError
from whet.models.base import Request
from whet.models.chat import fenced
from whet.models.chat.images import Blob, image_bytes
from whet.models.chat.json_body import Json
from whet.models.chat.toolcalls import safe_name
from whet.models.options import ModelOptions
from whet.types import Image, Message, Sampling, Shape, ToolCall, ToolSpec


@dataclass(frozen=True, slots=True)
class ChatDialect:
    """What differs between servers of this format."""

    model: str
    limit_field: Literal["max_tokens", "max_completion_tokens"]
    options: ModelOptions
    nested_effort: bool = False
    """OpenRouter reads the reasoning effort from an object of its own."""

    def body(self, request: Request, n: int = 1) -> bytes:
        """The JSON of one call that asks for `n` replies."""
        spoken = self.options.tools == "fenced"
        messages = fenced.spoken(request.messages, request.tools, request.must_call) if spoken else request.messages
        body: Json = {"model": self.model, "messages": conversation(messages, request.blob)}
        self._add_sampling(body, request.sampling)
        if n > 1:
            body["n"] = n
        if request.tools and not spoken:
            body["tools"] = [_tool(spec) for spec in request.tools]
            if request.must_call:
                body["tool_choice"] = "required"
        self._add_shape(body, request.shape)
        body.update(self.options.extra)
        try:
            return orjson.dumps(body)
        except TypeError as error:
            raise WhetError(f"the request to {self.model} cannot be written as JSON: {error}.") from error

    def _add_sampling(self, body: Json, sampling: Sampling) -> None:
        body[self.limit_field] = sampling.max_tokens
        if sampling.temperature is not None:
            body["temperature"] = sampling.temperature
        if sampling.top_p is not None:
            body["top_p"] = sampling.top_p
        if sampling.seed is not None and self.options.seed:
            body["seed"] = sampling.seed
        if sampling.stop:
            body["stop"] = sampling.stop
        if sampling.logprobs is not None:
            body["logprobs"] = True
            if sampling.logprobs:
                body["top_logprobs"] = sampling.logprobs
        if sampling.effort is not None and self.nested_effort:
            body["reasoning"] = {"effort": sampling.effort}
        elif sampling.effort is not None:
            body["reasoning_effort"] = sampling.effort

    def _add_shape(self, body: Json, shape: Shape) -> None:
        shape = shape.kept(self.options.shapes or "schema")
        if shape.schema is not None:
            schema = {"name": "reply", "schema": dict(shape.schema), "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        if shape.grammar is not None:
            as_vllm = self.options.grammar_field == "structured_outputs"
            body[self.options.grammar_field] = {"grammar": shape.grammar} if as_vllm else shape.grammar


def _tool(spec: ToolSpec) -> Json:
    function = {"name": spec.name, "description": spec.description, "parameters": dict(spec.parameters)}
    return {"type": "function", "function": function}


def conversation(messages: Sequence[Message], blob: Blob) -> list[Json]:
    """Messages as the format has them. Images of tool results follow in a user message: a tool message is text only."""
    wired: list[Json] = []
    shown: list[Image] = []
    for message in messages:
        if message.author == "tool":
            wired.append({"role": "tool", "tool_call_id": message.call_id, "content": message.text})
            if not isinstance(message.content, str):
                shown.extend(part for part in message.content if isinstance(part, Image))
            continue
        if shown:
            wired.append({"role": "user", "content": _content(tuple(shown), blob)})
            shown = []
        if message.author == "assistant":
            wired.append(_assistant(message))
        else:
            wired.append({"role": message.author, "content": _content(message.content, blob)})
    if shown:
        wired.append({"role": "user", "content": _content(tuple(shown), blob)})
    return wired


def _content(content: str | tuple[str | Image, ...], blob: Blob) -> Any:
    if isinstance(content, str):
        return content
    return [
        {"type": "text", "text": part}
        if isinstance(part, str)
        else {"type": "image_url", "image_url": {"url": _data_url(part, blob)}}
        for part in content
    ]


def _data_url(image: Image, blob: Blob) -> str:
    return f"data:{image.media_type};base64,{base64.b64encode(image_bytes(image, blob)).decode()}"


def _assistant(message: Message) -> Json:
    """An assistant's message with its calls.

    Many servers parse the arguments of earlier calls and refuse the conversation, or crash in the chat template, when
    one is not valid JSON; some refuse odd tool names. So a malformed call keeps its id, which its answer refers to,
    gets empty arguments, and what the model really wrote stands in the text beside it.
    """
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": _arguments_text(call)}}
        for call in message.calls
    ]
    text = message.text
    for bad in message.malformed:
        if bad.id:
            name = safe_name(bad.name)
            calls.append({"id": bad.id, "type": "function", "function": {"name": name, "arguments": "{}"}})
            text = f"{text}\n[malformed call of {bad.name or 'a tool'}: {bad.raw}]".lstrip()
    if not calls:
        return {"role": "assistant", "content": text}
    return {"role": "assistant", "content": text or None, "tool_calls": calls}


def _arguments_text(call: ToolCall) -> str:
    """The arguments as the model wrote them; a call that was made by a program is written out."""
    return call.raw if call.raw.strip() else orjson.dumps(dict(call.arguments)).decode()
