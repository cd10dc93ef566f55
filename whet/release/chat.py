"""Chat completions as they come over the wire, with a champion's playbook placed in them.

The playbook stands where it stood when the champion was measured (`whet.rollout.placement`): in the opening, which is
all that was said before the first answer. What the client wrote stays as it wrote it, parts that we do not know too.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from whet.keys import digest
from whet.models.chat.toolcalls import safe_name
from whet.models.openai.body import conversation
from whet.rollout.placement import for_task, place, place_rules
from whet.types import Image, MalformedCall, Message, Playbook, Reply, Sampling, Shape, ToolCall, ToolSpec

Json = dict[str, Any]

_AUTHORS = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
_LIMITS = ("max_completion_tokens", "max_tokens")
_FINISH = {"stop": "stop", "length": "length", "tool_calls": "tool_calls", "filter": "content_filter"}
_EFFORTS = ("none", "minimal", "low", "medium", "high")

MOST_CHOICES = 128

DEEPEST = 200
"""Lists and objects in one another that can be written again wherever they stand; more are looked at."""


class ChatError(Exception):
    """A request that cannot be answered, as the client is told: a status, a code, a line."""

    def __init__(self, status: int, code: str, message: str, kind: str = "invalid_request_error") -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.kind = status, code, message, kind

    @property
    def body(self) -> bytes:
        error = {"message": self.message, "type": self.kind, "param": None, "code": self.code}
        return orjson.dumps({"error": error})


@dataclass(frozen=True, slots=True)
class ChatAsk:
    """What a client asks for."""

    fields: Json
    messages: tuple[Message, ...]
    parts: Mapping[str, Any] = field(default_factory=dict)
    """Parts of messages that are no text, by the name that an `Image` has for them."""
    originals: Mapping[int, Json] = field(default_factory=dict)
    """The messages as the client wrote them, by the identity of ours."""

    @classmethod
    def read(cls, body: bytes) -> ChatAsk:
        try:
            fields = orjson.loads(body)
        except orjson.JSONDecodeError as error:
            raise ChatError(400, "invalid_json", f"the body is not valid JSON: {error}") from None
        said = fields.get("messages") if isinstance(fields, dict) else None
        if not isinstance(said, list) or not said:
            raise ChatError(400, "invalid_messages", "'messages' must be a list of at least one message")
        if body.count(b"[") + body.count(b"{") > DEEPEST:
            _refuse_deep(fields)
        parts: dict[str, Any] = {}
        messages = tuple(_message(message, place, parts) for place, message in enumerate(said))
        originals = {id(ours): theirs for ours, theirs in zip(messages, said, strict=True)}
        return cls(fields, messages, parts, originals)

    @property
    def stream(self) -> bool:
        return self.fields.get("stream") is True

    @property
    def choices(self) -> int:
        many = self.fields.get("n", 1)
        if many is None:
            return 1
        if type(many) is not int or not 1 <= many <= MOST_CHOICES:
            raise ChatError(400, "invalid_n", f"'n' must be a whole number from 1 to {MOST_CHOICES}")
        return many

    def placed(self, playbook: Playbook) -> tuple[Message, ...]:
        """The conversation with the playbook in its opening."""
        opening, rest = self._parted()
        return (*place(playbook, place_rules(playbook, opening)), *rest)

    def handed(self, playbook: Playbook) -> tuple[tuple[Message, ...], Playbook]:
        """The same for a model that places a playbook itself: the rules in what is asked, the rest beside it."""
        opening, rest = self._parted()
        return (*place_rules(playbook, opening), *rest), for_task(playbook, opening)

    def _parted(self) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
        said = self.messages
        cut = next((at for at, message in enumerate(said) if message.author == "assistant"), len(said))
        return said[:cut], said[cut:]

    def wired(self, messages: Sequence[Message]) -> list[Json]:
        """Messages for the wire: the client's own as they came, ours as the format has them."""
        return [self.originals.get(id(message)) or self._wired(message) for message in messages]

    def _wired(self, message: Message) -> Json:
        if isinstance(message.content, str):
            return conversation((message,), None)[0]
        content = [
            {"type": "text", "text": part} if isinstance(part, str) else self.parts[part.sha256]
            for part in message.content
        ]
        return {"role": message.author, "content": content}

    # ------------------------------------------------------------------------------------------- for our own models

    def limit(self, own: int) -> int:
        """The most tokens of a reply: the client's word, or else the champion's."""
        told = next((self.fields[name] for name in _LIMITS if self.fields.get(name) is not None), own)
        if type(told) is not int or not 1 <= told <= 1 << 30:
            raise ChatError(400, "invalid_max_tokens", "'max_tokens' must be a whole number above zero")
        return told

    def sampling(self, own: Sampling) -> Sampling:
        """The champion's sampling, with what the client says over it."""
        told: Json = {"max_tokens": self.limit(own.max_tokens), "votes": 1, "until_settled": False}
        for name in ("temperature", "top_p"):
            value = self.fields.get(name)
            if value is not None:
                if isinstance(value, bool) or not isinstance(value, int | float):
                    raise ChatError(400, f"invalid_{name}", f"'{name}' must be a number")
                told[name] = float(value)
        stop, seed, effort = (self.fields.get(name) for name in ("stop", "seed", "reasoning_effort"))
        if stop is not None:
            texts = [stop] if isinstance(stop, str) else stop
            if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
                raise ChatError(400, "invalid_stop", "'stop' must be a text or a list of texts")
            told["stop"] = tuple(texts)
        if type(seed) is int:
            told["seed"] = seed
        if effort in _EFFORTS:
            told["effort"] = effort
        return replace(own, **told)

    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools that are well formed; a server of its own judges the rest."""
        found, told = [], self.fields.get("tools")
        for tool in told if isinstance(told, list) else ():
            function = tool.get("function") if isinstance(tool, dict) else None
            if isinstance(function, dict) and isinstance(function.get("name"), str):
                parameters = function.get("parameters")
                shape = {"parameters": parameters} if isinstance(parameters, dict) else {}
                found.append(ToolSpec(function["name"], str(function.get("description") or ""), **shape))
        return tuple(found)

    @property
    def shape(self) -> Shape:
        form = self.fields.get("response_format")
        told = form.get("json_schema") if isinstance(form, dict) else None
        schema = told.get("schema") if isinstance(told, dict) else None
        return Shape(schema=schema) if isinstance(schema, dict) else Shape()

    def with_images(self, messages: Sequence[Message]) -> tuple[tuple[Message, ...], Mapping[str, bytes]]:
        """Messages whose parts are images by their bytes, for a model in this process."""
        blobs: dict[str, bytes] = {}
        return tuple(self._seen(message, blobs) for message in messages), blobs

    def _seen(self, message: Message, blobs: dict[str, bytes]) -> Message:
        if isinstance(message.content, str):
            return message
        content: list[str | Image] = []
        for part in message.content:
            if isinstance(part, str):
                content.append(part)
            else:
                media, data = _image(self.parts[part.sha256])
                name = hashlib.sha256(data).hexdigest()
                blobs[name] = data
                content.append(Image(name, media))
        return replace(message, content=tuple(content))


def _refuse_deep(fields: Json) -> None:
    """What can be read is not all that can be written again: a server of its own is sent the whole of it."""
    try:
        orjson.dumps(fields)
    except TypeError:
        raise ChatError(400, "too_deep", "the body holds lists or objects too deep in one another") from None


def _message(told: Any, place: int, parts: dict[str, Any]) -> Message:
    role = told.get("role") if isinstance(told, dict) else None
    author = _AUTHORS.get(role) if isinstance(role, str) else None
    if author is None:
        raise ChatError(
            400, "invalid_messages", f"message {place}: its 'role' must be one of {', '.join(sorted(_AUTHORS))}"
        )
    content = told.get("content")
    if isinstance(content, list):
        made = tuple(_part(part, place, parts) for part in content)
        text: str | tuple[str | Image, ...] = made if any(isinstance(part, Image) for part in made) else "".join(made)  # type: ignore[arg-type]
    elif content is None or isinstance(content, str):
        text = content or ""
    else:
        raise ChatError(400, "invalid_messages", f"message {place}: its 'content' must be text or a list of parts")
    calls, malformed = _calls(told.get("tool_calls") or ())
    return Message(author, text, calls, malformed, str(told.get("tool_call_id") or ""))  # type: ignore[arg-type]


def _part(part: Any, place: int, parts: dict[str, Any]) -> str | Image:
    if not isinstance(part, dict):
        raise ChatError(400, "invalid_messages", f"message {place}: a part of its 'content' is no object")
    if part.get("type") == "text" and isinstance(part.get("text"), str):
        return str(part["text"])
    name = digest(part)
    parts[name] = part
    return Image(name)


def _calls(told: Any) -> tuple[tuple[ToolCall, ...], tuple[MalformedCall, ...]]:
    calls, malformed = [], []
    for call in told if isinstance(told, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict):
            continue
        raw, name = str(function.get("arguments") or ""), str(function.get("name") or "")
        try:
            arguments = orjson.loads(raw or "{}")
        except orjson.JSONDecodeError:
            arguments = None
        known = str(call.get("id") or "")
        if isinstance(arguments, dict):
            calls.append(ToolCall(known, name, arguments, raw))
        else:
            malformed.append(MalformedCall(known, safe_name(name), raw, "bad_json", "its arguments are no JSON object"))
    return tuple(calls), tuple(malformed)


def _image(part: Any) -> tuple[str, bytes]:
    """Media type and bytes of an image that stands in the request itself."""
    shown = part.get("image_url") if part.get("type") == "image_url" else None
    url = shown.get("url") if isinstance(shown, dict) else shown
    head, comma, data = url.partition(",") if isinstance(url, str) else ("", "", "")
    if not comma or not head.startswith("data:image/") or not head.endswith(";base64"):
        raise ChatError(
            400, "unsupported_part", "this champion's model takes texts and images, these as data:image/...;base64 URLs"
        )
    try:
        return head.removeprefix("data:").removesuffix(";base64"), base64.b64decode(data, validate=True)
    except binascii.Error:
        raise ChatError(400, "invalid_image", "an image is not valid base64") from None


# --------------------------------------------------------------------------------------------- answers


def completion(replies: Sequence[Reply], name: str, identity: str, created: int) -> Json:
    """Replies of one of our own models as a chat completion."""
    choices = [
        {"index": index, "message": _said(reply), "finish_reason": _FINISH[reply.finish], "logprobs": None}
        for index, reply in enumerate(replies)
    ]
    return {
        "id": identity,
        "object": "chat.completion",
        "created": created,
        "model": name,
        "choices": choices,
        "usage": _usage(replies),
    }


def stream_events(made: Json, *, with_usage: bool) -> list[bytes]:
    """The same as the events of a stream: our own models answer whole, so each choice comes in one piece."""
    head = {name: made[name] for name in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    events = []
    for choice in made["choices"]:
        delta = dict(choice["message"])
        for index, call in enumerate(delta.get("tool_calls", ())):
            call["index"] = index
        for piece, finish in ((delta, None), ({}, choice["finish_reason"])):
            told = {"index": choice["index"], "delta": piece, "finish_reason": finish}
            events.append({**head, "choices": [told]})
    if with_usage:
        events.append({**head, "choices": [], "usage": made["usage"]})
    return [b"data: %b\n\n" % orjson.dumps(event) for event in events] + [b"data: [DONE]\n\n"]


def _said(reply: Reply) -> Json:
    wired = conversation((reply.as_message(),), None)[0]
    return {**wired, **({"reasoning_content": reply.reasoning} if reply.reasoning else {})}


def _usage(replies: Sequence[Reply]) -> Json:
    prompt = sum(reply.usage.prompt_tokens for reply in replies)
    drawn = sum(reply.usage.completion_tokens for reply in replies)
    return {"prompt_tokens": prompt, "completion_tokens": drawn, "total_tokens": prompt + drawn}
