"""The body of a chat-completions answer as replies, or as the trouble it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from whet.models.base import FREE, Price, Request
from whet.models.chat import fenced
from whet.models.chat.json_body import Json, Quote, plausible
from whet.models.chat.retry import Trouble
from whet.models.chat.toolcalls import CallReader, ReplyCalls, demanded
from whet.models.options import ModelOptions
from whet.models.secrets import quoted
from whet.types import Finish, Reply, Usage

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
        _with_tokens(_reply(choice, usage, version, request, options, quote), choice, data, request, quote)
        for choice, usage in zip(choices, usages, strict=False)
    )


def _reply(choice: Any, usage: Usage, version: str, request: Request, options: ModelOptions, quote: Quote) -> Reply:
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise Trouble("bad_reply", f"a choice has no message: {quote(repr(choice))}")
    ended = choice.get("finish_reason")
    if ended in ("error", "abort"):
        told = quote(repr(choice.get("error")))
        raise Trouble("server_error", f"the server broke off the reply ({ended}): {told}")
    finish: Finish = _FINISHES.get(_text(ended), "stop")
    text = _text(message.get("content")) or _text(message.get("refusal"))
    found = ReplyCalls()
    if request.tools:
        # Some servers report `tool_calls` for a call that ran into the limit; the token count gives it away.
        reader = CallReader.of(request, finish == "length" or usage.completion_tokens >= request.sampling.max_tokens)
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
    return demanded(Reply(text, found.calls, found.malformed, finish, usage, version, reasoning), request)


def _text(value: Any) -> str:
    """Text where a server may also send null, or a list of parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(_text(part.get("text")) for part in value if isinstance(part, dict))
    return ""


TOKENS = frozenset({"token_ids", "prompt_token_ids", "__verbose"})
"""Keys under which servers tell token ids."""


def _with_tokens(reply: Reply, choice: Json, data: Json, request: Request, quote: Quote) -> Reply:
    """`reply` with the tokens that the server tells: ids, log-probabilities, and alternatives as a trace.

    vLLM tells the ids of the prompt beside the choices and SGLang in each of them, where `return_token_ids` is asked
    for; llama.cpp tells those of the reply alone, with its logprobs or, by `verbose` and `return_tokens`, apart.
    """
    if request.sampling.logprobs is None and not (choice.keys() | data.keys()) & TOKENS:
        return reply
    told = choice.get("logprobs") if request.sampling.logprobs is not None else None
    entries = (told.get("content") or ()) if isinstance(told, dict) else ()
    try:
        logprobs = tuple(float(entry["logprob"]) for entry in entries)
        trace = tuple(
            {"token": entry["token"], "top": [[top["token"], top["logprob"]] for top in entry["top_logprobs"]]}
            for entry in entries
            if entry.get("top_logprobs")
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Trouble("bad_reply", f"the logprobs cannot be read: {quote(repr(entries))}") from error
    aside = data.get("__verbose") if len(data["choices"]) == 1 else None
    drawn = (
        _ids(choice.get("token_ids"))
        or _ids([entry.get("id") for entry in entries])
        or _ids(aside.get("tokens") if isinstance(aside, dict) else None)
    )
    read = _ids(choice.get("prompt_token_ids")) or _ids(data.get("prompt_token_ids"))
    return replace(reply, prompt_ids=read, completion_ids=drawn, logprobs=logprobs, trace=trace)


def _ids(told: Any) -> tuple[int, ...]:
    """Token ids where the server sent a whole list of them; none where one is no place in a vocabulary."""
    return tuple(told) if isinstance(told, list) and all(_is_id(token) for token in told) else ()


def _is_id(token: Any) -> bool:
    return type(token) is int and 0 <= token < 2**31


def usage_of(data: Json, price: Price | None) -> Usage:
    """What the call used. Dollars as the server reports them, else by `price`, else unknown."""
    told = data.get("usage")
    if not isinstance(told, dict) or not plausible(told):
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
