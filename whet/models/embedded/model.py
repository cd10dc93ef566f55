"""A real language model that needs no key, no network, no GPU and no compiler: llama.cpp in this process.

Replies are repeatable only in the same order of calls on the same slots: how a prompt is split into batches, and what
of it a slot still held, moves the last bits of the numbers. The ledger is what makes a run repeatable.
"""

from __future__ import annotations

import _thread
import asyncio
import threading
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NoReturn

from whet.errors import FaultError, LimitReached, WhetError
from whet.keys import digest
from whet.models.base import FREE, Model, Request
from whet.models.chat.images import parts
from whet.models.chat.json_body import decoded
from whet.models.chat.retry import Trouble
from whet.models.embedded.gguf import GgufFile, find_weights, read_weights
from whet.models.embedded.llama import CallStopped, Llama, LlamaError
from whet.models.openai.body import ChatDialect
from whet.models.openai.reply import replies
from whet.models.options import ModelOptions
from whet.types import Fault, Image, Reply, Shape

SCHEME = "embedded:"

CONTEXT = 2048
"""Tokens of context in each slot unless the options say otherwise (or the model was trained with fewer)."""

_SEEDS = 2**32 - 1
"""llama.cpp reads seeds of 32 bits, and the last one as `draw a seed yourself`."""

_STREAMED = {"stream": True, "stream_options": {"include_usage": True}, "return_progress": True}


def open_embedded(address: str, options: ModelOptions) -> Model:
    """The model that `embedded:`, `embedded:smollm2` or `embedded:/path/to/file.gguf` names."""
    identifier = address.removeprefix(SCHEME)
    return EmbeddedModel(SCHEME + identifier, read_weights(find_weights(identifier)), options)


class EmbeddedModel(Model):
    """Weights of a GGUF file behind the `Model` protocol. They are loaded at the first call.

    A call whose awaiting task is cancelled ends at its next token (one that asks for logprobs: at its end, because
    llama.cpp reports the logprobs of every token only in an unstreamed reply). Where the chat template knows no tools,
    as with the default weights, tools are described and called in text (`fenced`).

    The tokens of a reply are told with its logprobs, the end token among them. Those of the prompt are not: llama.cpp's
    chat answers name none, and the binding has no tokenizer to make them of the rendered text. A streamed reply names
    its tokens without the last one, so without logprobs none are told.
    """

    def __init__(self, name: str, weights: GgufFile, options: ModelOptions) -> None:
        for what, value in (("threads", options.threads), ("slots", options.slots)):
            if value < 1:
                raise WhetError(f"{name}: {what} = {value}; give at least 1")
        self.name = name
        self.width = options.slots
        self.context = _context(weights, options)
        self.price = FREE if options.price is None else options.price
        tools = options.tools if weights.knows_tools else "fenced"
        held = () if options.shapes is None else (options.shapes,)
        self.fingerprint = digest("embedded", weights.digest, tools, options.seed, dict(options.extra), *held)
        self._options = replace(options, tools=tools, grammar_field="grammar", shapes=options.shapes or "grammar")
        self._label = weights.path.stem
        self._llama = Llama(weights.path, self.context, options.threads, options.slots)
        # Frees the weights when the model is dropped, if nobody closed it. Whoever drops it may be the garbage
        # collector in the middle of anything, a lock of `threading` included, so it does not wait for the release.
        self._dropped = weakref.finalize(self, _thread.start_new_thread, self._llama.release, ())
        self._dropped.atexit = False

    async def complete(self, request: Request) -> Reply:
        stop = threading.Event()
        try:
            chunks = await asyncio.wrap_future(self._llama.chat(self._body(request), stop))
            data = {**joined(chunks), "model": self._label, "system_fingerprint": self._llama.version}
            (reply,) = replies(data, request, 1, self._options, self.price)
        except CallStopped:
            raise self._fault("the model was closed") from None
        except Trouble as trouble:
            raise self._fault(trouble.message) from trouble
        except LlamaError as error:
            self._explain(request, error)
        finally:
            stop.set()
        return reply if request.sampling.logprobs else replace(reply, trace=())

    async def close(self) -> None:
        self._dropped.detach()
        await asyncio.to_thread(self._llama.release)

    def _body(self, request: Request) -> bytes:
        if any(isinstance(part, Image) for message in request.messages for part in parts(message)):
            raise WhetError(f"{self.name} reads text only, and a message holds an image; choose a model that sees")
        sampling = request.sampling
        if sampling.seed is not None:
            sampling = replace(sampling, seed=sampling.seed % _SEEDS)
        if sampling.logprobs is not None:
            sampling = replace(sampling, logprobs=max(1, sampling.logprobs))
        ours = {"cache_prompt": True, **(_STREAMED if sampling.logprobs is None else {})}
        options = replace(self._options, extra={**ours, **self._options.extra})
        return ChatDialect(self._label, "max_tokens", options).body(replace(request, sampling=sampling))

    def _explain(self, request: Request, error: LlamaError) -> NoReturn:
        if error.kind == "exceed_context_size_error":
            size = error.told.get("n_prompt_tokens", "?")
            raise LimitReached("context_overflow", f"a prompt of {size} tokens in a context of {self.context}")
        if request.shape != Shape() and error.kind != "server_error":
            raise WhetError(f"{self.name} cannot follow the grammar or schema of this request: {error}")
        raise self._fault(str(error)) from error

    def _fault(self, message: str) -> FaultError:
        return FaultError(Fault("embedded_error", self.name, message))


def joined(chunks: Iterable[bytes]) -> dict[str, Any]:
    """A chat completion put together from its chunks; an unstreamed one is a single chunk."""
    text, reasoning, ended = "", "", None
    calls: list[dict[str, Any]] = []
    tokens: list[dict[str, Any]] = []
    usage: Mapping[str, Any] = {}
    for chunk in map(decoded, chunks):
        if "error" in chunk:
            raise LlamaError(chunk["error"])
        usage = chunk.get("usage") or usage
        for choice in chunk.get("choices", ()):
            said = choice.get("delta") or choice.get("message") or {}
            text += said.get("content") or ""
            reasoning += said.get("reasoning_content") or ""
            ended = choice.get("finish_reason") or ended
            tokens += (choice.get("logprobs") or {}).get("content") or ()
            _join_calls(calls, said.get("tool_calls") or ())
    if ended is None:
        raise Trouble("bad_reply", "the answer broke off")
    message = {"content": text, "reasoning_content": reasoning, "tool_calls": calls}
    return {"choices": [{"message": message, "finish_reason": ended, "logprobs": {"content": tokens}}], "usage": usage}


def _join_calls(calls: list[dict[str, Any]], pieces: Iterable[Mapping[str, Any]]) -> None:
    """Add what a chunk tells of tool calls. Their ids are random, so they are left out and the reader numbers them."""
    for position, piece in enumerate(pieces):
        at = piece.get("index", position)
        while len(calls) <= at:
            calls.append({"function": {"name": "", "arguments": ""}})
        function = piece.get("function") or {}
        for key in ("name", "arguments"):
            calls[at]["function"][key] += function.get(key) or ""


def _context(weights: GgufFile, options: ModelOptions) -> int:
    if options.context is None:
        return min(CONTEXT, weights.context)
    if not 0 < options.context <= weights.context:
        raise WhetError(
            f"context = {options.context}: {weights.path.name} was trained for 1 to {weights.context} tokens"
        )
    return options.context
