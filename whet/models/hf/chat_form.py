"""Requests as prompts of a chat template, and rows as replies: what every way of running local weights shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from whet.errors import WhetError
from whet.models.base import FREE, Price, Request
from whet.models.chat import fenced
from whet.models.chat.images import image_bytes, parts
from whet.models.hf.prompt import Chat, Prompt
from whet.models.openai.reply import replies
from whet.models.options import ModelOptions
from whet.types import Image, Message, Reply, Shape

if TYPE_CHECKING:
    from whet.models.hf.rows import RowResult

_FENCED = ModelOptions(tools="fenced")


@dataclass(frozen=True, slots=True)
class ChatForm:
    """How one model is spoken to. `name` stands in messages, `version` in replies.

    Tools are described and called in text (`fenced`). `settings` are further variables of the chat template.
    """

    name: str
    version: str
    sees: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    price: Price | None = FREE

    def prompt(self, request: Request) -> Prompt:
        if request.shape.kept("none") != Shape():
            raise WhetError(f"{self.name} cannot be held to a grammar or a schema; use an endpoint that can")
        messages = fenced.spoken(request.messages, request.tools, request.must_call)
        images = [part for message in messages for part in parts(message) if isinstance(part, Image)]
        if images and not self.sees:
            raise WhetError(f"{self.name} reads text only, and a message holds an image; choose a model that sees")
        data = tuple(image_bytes(image, request.blob) for image in images)
        settings = dict(self.settings)
        if request.sampling.effort is not None:
            settings["enable_thinking"] = request.sampling.effort != "none"
        return Prompt(_chat(messages, self.sees), data, request.sampling, settings, request.prior_ids)

    def reply(self, made: RowResult, request: Request) -> Reply:
        """The reply that a row came to, with its tokens; alternatives as a trace, where these were asked for."""
        (reply,) = replies(_answer(made, self.version), request, 1, _FENCED, self.price)
        return replace(
            reply,
            prompt_ids=tuple(made.prompt_ids),
            completion_ids=tuple(made.completion_ids),
            logprobs=tuple(made.logprobs),
            trace=reply.trace if request.sampling.logprobs else (),
        )


def _answer(made: RowResult, version: str) -> Mapping[str, Any]:
    """A reply in the shape of a chat completion, which one reader reads for every model."""
    choice = {
        "message": {"content": made.text},
        "finish_reason": made.finish,
        "logprobs": {"content": list(made.entries)} if made.entries else None,
    }
    usage = {
        "prompt_tokens": len(made.prompt_ids),
        "completion_tokens": len(made.completion_ids),
        "prompt_tokens_details": {"cached_tokens": made.known},
    }
    return {"model": version, "choices": [choice], "usage": usage}


def _chat(messages: Sequence[Message], sees: bool) -> Chat:
    """Messages as chat templates take them: a text, or for a model that sees a list of parts."""
    if not sees:
        return [{"role": message.author, "content": message.text} for message in messages]
    return [
        {
            "role": message.author,
            "content": [
                {"type": "text", "text": part} if isinstance(part, str) else {"type": "image"}
                for part in parts(message)
            ],
        }
        for message in messages
    ]
