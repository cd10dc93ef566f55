"""The body of a chat-completions answer as replies, or as the trouble it is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import orjson

from whet.models import fenced
from whet.models.base import FREE, Price, Request
from whet.models.options import ModelOptions
from whet.models.retry import Trouble
from whet.models.secrets import quoted
from whet.models.toolcalls import Read, Reader, demanded
from whet.types import Finish, Reply, Usage

Json = dict[str, Any]
Quote = Callable[[str], str]
"""Makes text of the server's fit for an error message: without the key, and short."""
Tokens = tuple[tuple[int, ...], tuple[float, ...], tuple[Json, ...]]


def decoded(body: bytes, quote: Quote = quoted) -> Any:
    """A body as JSON. Half surrogates and broken UTF-8, which a careless server may send, become U+FFFD."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        pass
    text = body.decode("utf-8", "replace")
    try:
        return _whole(json.loads(text))
    except (ValueError, RecursionError):
        pass
    # Raised out here: the decoder's own error would carry the whole body along.
    raise Trouble("bad_reply", f"the body of {len(body)} bytes is not JSON: {quote(text)}")


_HALF_SURROGATE = re.compile("[\ud800-\udfff]")


def _whole(value: Any) -> Any:
    """`value` with U+FFFD for every half of a surrogate pair, which nothing downstream could write as UTF-8."""
    if isinstance(value, str):
        return _HALF_SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_whole(one) for one in value]
    if isinstance(value, dict):
        return {_whole(key): _whole(one) for key, one in value.items()}
    return value


_FINISHES: Mapping[str, Finish] = {
    "length": "length",
    "max_tokens": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "filter",
}


def replies(
    data: Any, request: Request, n: int, options: ModelOptions, price: Price | None, quote: Quote = quoted
) -> tuple[Reply, ...]:
    """At most `n` replies of a decoded body; `Trouble` where it holds none. Their usages add up to the call's."""
    choices = data.get("choices") if isinstance(data, dict) else None
    if not isinstance(choices, list):
        raise Trouble("bad_reply", f"the body has no choices: {quote(repr(data))}")
    if not choices:
        raise Trouble("empty_reply", "the server sent no choices")
    usages = shares(usage_of(data, price), min(n, len(choices)))
    version = "@".join(filter(None, (_text(data.get("model")), _text(data.get("system_fingerprint")))))
    return tuple(
        _reply(choice, usage, version, request, options, quote) for choice, usage in zip(choices, usages, strict=False)
    )


def _reply(choice: Any, usage: Usage, version: str, request: Request, options: ModelOptions, quote: Quote) -> Reply:
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise Trouble("bad_reply", f"a choice has no message: {quote(repr(choice))}")
    ended = choice.get("finish_reason")
    if ended in ("error", "abort"):
        told = quote(repr(choice.get("error")))
        raise Trouble("server_error", f"the server broke off the reply ({ended}): {told}")
    finish: Finish = _FINISHES.get(ended or "", "stop")
    text = _text(message.get("content")) or _text(message.get("refusal"))
    found = Read()
    if request.tools:
        # Some servers report `tool_calls` for a call that ran into the limit; the token count gives it away.
        reader = Reader.of(request, finish == "length" or usage.completion_tokens >= request.sampling.max_tokens)
        wired = message.get("tool_calls")
        if options.tools == "fenced":
            found = fenced.read(text, reader)
        elif isinstance(wired, list):
            found = reader.native(wired)
    if any(bad.kind == "cut_off" for bad in found.malformed):
        finish = "length"
    elif found.calls and finish == "stop":
        finish = "tool_calls"
    reasoning = _text(message.get("reasoning_content")) or _text(message.get("reasoning"))
    tokens = _tokens(choice, quote) if request.sampling.logprobs is not None else ((), (), ())
    completion_ids, logprobs, trace = tokens
    reply = Reply(
        text,
        found.calls,
        found.malformed,
        finish,
        usage,
        version,
        reasoning,
        completion_ids=completion_ids,
        logprobs=logprobs,
        trace=trace,
    )
    return demanded(reply, request)


def _text(value: Any) -> str:
    """Text where a server may also send null, or a list of parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(_text(part.get("text")) for part in value if isinstance(part, dict))
    return ""


def _tokens(choice: Json, quote: Quote) -> Tokens:
    """Token ids where the server tells them, log-probabilities, and the alternatives to each token as a trace."""
    told = choice.get("logprobs")
    entries = (told.get("content") or ()) if isinstance(told, dict) else ()
    try:
        logprobs = tuple(float(one["logprob"]) for one in entries)
        ids = choice.get("token_ids") or [one["id"] for one in entries if "id" in one]
        trace = tuple(
            {"token": one["token"], "top": [[top["token"], top["logprob"]] for top in one["top_logprobs"]]}
            for one in entries
            if one.get("top_logprobs")
        )
        return tuple(ids), logprobs, trace
    except (KeyError, TypeError, ValueError) as error:
        raise Trouble("bad_reply", f"the logprobs cannot be read: {quote(repr(entries))}") from error


def usage_of(data: Json, price: Price | None) -> Usage:
    """What the call used. Dollars as the server reports them, else by `price`, else unknown."""
    told = data.get("usage")
    if not isinstance(told, dict):
        return Usage(calls=1, usd=0.0 if price == FREE else None)
    details = told.get("prompt_tokens_details")
    cached = _count(details.get("cached_tokens")) if isinstance(details, dict) else 0
    usage = Usage(1, _count(told.get("prompt_tokens")), _count(told.get("completion_tokens")), cached, None)
    cost = told.get("cost")
    if isinstance(cost, int | float):
        return replace(usage, usd=float(cost))
    return usage if price is None else replace(usage, usd=price.of(usage))


def _count(value: Any) -> int:
    return value if isinstance(value, int) else 0


def shares(whole: Usage, n: int) -> list[Usage]:
    """`whole` split over `n` replies of one call: the first carries what the call cost once."""
    if n == 1:
        return [whole]
    each, rest = divmod(whole.completion_tokens, n)
    first = Usage(1, whole.prompt_tokens, each + rest, whole.cached_tokens, whole.usd)
    return [first, *([Usage(0, 0, each, 0, None if whole.usd is None else 0.0)] * (n - 1))]
