"""The body of a messages answer as a reply, or as the trouble it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson

from whet.errors import LimitReached, WhetError
from whet.models.anthropic.thoughts import Blocks
from whet.models.base import FREE, Price, Request
from whet.models.chat import fenced
from whet.models.chat.endpoint import HttpAnswer
from whet.models.chat.json_body import Json, Quote, error_of, plausible
from whet.models.chat.retry import Trouble
from whet.models.chat.status import AGAIN, ContentRefusal, refused
from whet.models.chat.toolcalls import CallReader, ReplyCalls, demanded
from whet.models.options import ModelOptions
from whet.models.secrets import quoted
from whet.types import Finish, Reply, Usage

_FINISHES: Mapping[str, Finish] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "filter",
}

THINKING = ("thinking", "redacted_thinking")


def reply_of(
    data: Any, request: Request, options: ModelOptions, price: Price | None, quote: Quote = quoted
) -> tuple[Reply, Blocks]:
    """The reply in a decoded body, and the raw blocks it was made of."""
    content = data.get("content") if isinstance(data, dict) else None
    if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
        raise Trouble("bad_reply", f"the body has no content: {quote(repr(data))}")
    finish: Finish = _FINISHES.get(data.get("stop_reason") or "", "stop")
    text = "".join(_text(block, "text") for block in content if block.get("type") == "text")
    found = _calls(content, text, request, options, cut=finish == "length")
    if any(bad.kind == "cut_off" for bad in found.malformed):
        finish = "length"
    elif found.calls and finish == "stop":
        finish = "tool_calls"
    thinking = tuple(block for block in content if block.get("type") in THINKING)
    reply = Reply(
        text,
        found.calls,
        found.malformed,
        finish,
        usage_of(data, price),
        data["model"] if isinstance(data.get("model"), str) else "",
        "\n\n".join(filter(None, (_text(block, "thinking") for block in thinking))),
        trace=thinking,
    )
    return demanded(reply, request), tuple(content)


def _calls(content: list[Json], text: str, request: Request, options: ModelOptions, *, cut: bool) -> ReplyCalls:
    """The calls of a reply. The service sends arguments parsed, so what a cut-off call had left looks whole: where the
    limit ended the reply, its last call is taken for cut off."""
    if not request.tools:
        return ReplyCalls()
    reader = CallReader.of(request, cut)
    if options.tools == "fenced":
        return fenced.read(text, reader)
    used = [block for block in content if block.get("type") == "tool_use"]
    broken_off = cut and bool(used) and content[-1] is used[-1]
    wired = [_wired(block, None if broken_off and block is used[-1] else block.get("input")) for block in used]
    found = reader.native(wired)
    if not broken_off:
        return found
    *others, last = found.malformed
    return ReplyCalls(found.calls, (*others, replace(last, raw=orjson.dumps(used[-1].get("input")).decode())))


def _wired(block: Json, arguments: Any) -> Json:
    return {"id": block.get("id"), "function": {"name": block.get("name"), "arguments": arguments}}


def _text(block: Json, name: str) -> str:
    value = block.get(name)
    return value if isinstance(value, str) else ""


def usage_of(data: Json, price: Price | None) -> Usage:
    """What the call used. The service counts cached prompt tokens apart; here they are part of the prompt."""
    told = data.get("usage")
    if not isinstance(told, dict) or not plausible(told):
        return Usage(calls=1, usd=0.0 if price == FREE else None)
    fresh, written, cached, completion = (
        told[name] if isinstance(told.get(name), int) else 0
        for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
    )
    usage = Usage(1, fresh + written + cached, completion, cached, None)
    return usage if price is None else replace(usage, usd=price.of(usage))


# --------------------------------------------------------------------------------------------- refusals

_STATUS_OF = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
BEGINS = "/v1/messages begins"

_OVERFLOW = re.compile(
    r"prompt is too long|exceeds? (?:the )?context|request_too_large|too many total text bytes", re.I
)
_MENDABLE = re.compile(r"credit balance|max_tokens: \d+ >|budget_tokens|does not support", re.I)


def inner_status(data: Any) -> int:
    """The status of an error that came under a 200, as gateways send it; else 0."""
    if not isinstance(data, dict) or data.get("type") != "error":
        return 0
    error = data.get("error")
    return _STATUS_OF.get(str(error.get("type")) if isinstance(error, dict) else "", 500)


def refusal(answer: HttpAnswer, status: int, *, where: str, key: str) -> Exception:
    """The error that an answer other than a reply stands for."""
    body = answer.body.decode("utf-8", "replace")
    said = answer.quote(str(error_of(answer.body, answer.quote).get("message") or body))
    told = f"{where} answered {status}: {said}"
    if status in (400, 413) and _OVERFLOW.search(body):
        return LimitReached("context_overflow", told)
    if status == 400 and "content filtering policy" in body:
        return ContentRefusal(told)
    if status == 400 and _MENDABLE.search(body):
        return WhetError(told)
    return refused(answer, status, said, where=where, key=key, begins=BEGINS, again={**AGAIN, 529: "overloaded"})
