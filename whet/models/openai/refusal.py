"""What a chat-completions server says instead of an answer: try again, a limit, a mistake to mend, or a fault."""

from __future__ import annotations

import re
from typing import Any

from whet.errors import LimitReached, WhetError
from whet.models.chat.endpoint import HttpAnswer
from whet.models.chat.json_body import error_of
from whet.models.chat.status import ContentRefusal, refused

BEGINS = "/chat/completions begins (often in /v1)"

_OVERFLOW = re.compile(
    r"context_length_exceeded|exceed_context_size|maximum context length|maximum model length|prompt is too long|"
    r"(?:longer than|exceeds?) (?:the )?(?:model's |available |maximum )*context|too long to fit into the model|"
    r"context (?:length|window|size) exceeded",
    re.IGNORECASE,
)
_SHAPE = re.compile(r"response_format|json_schema|structured_output|guided_|grammar", re.IGNORECASE)
_UNWANTED = re.compile(
    r"unsupported|not supported|unrecognized|unknown|unexpected|not permitted|extra inputs|does not support|instead",
    re.IGNORECASE,
)
_OTHER_LIMIT = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
_CONTEXT = re.compile(r"(?:context length|context size|n_ctx\W*)\D{0,8}(\d+)", re.IGNORECASE)


def judge(answer: HttpAnswer, status: int, *, where: str, key: str, max_tokens: int, limit_field: str) -> Exception:
    """The error that an answer other than 2xx stands for. `key` names the source of the key for a person."""
    body = answer.body.decode("utf-8", "replace")
    said = answer.quote(body)
    told = f"{where} answered {status}: {said}"
    code = str(error_of(answer.body, answer.quote).get("code") or "")
    if status in (400, 413, 422, 500) and _OVERFLOW.search(body):
        return _overflow(body, told, max_tokens)
    if status in (400, 422) and _UNWANTED.search(body) and re.search(rf"\b{limit_field}\b", body):
        other = _OTHER_LIMIT[limit_field]
        return WhetError(f"{told} It knows the limit by another name: --set control.target.limit_field={other}")
    if code == "content_filter" or (status == 403 and "flagged_input" in body):
        return ContentRefusal(told)
    if status == 429 and code == "insufficient_quota":
        return WhetError(f"{told} Top up the account or raise its limit: waiting does not help.")
    return refused(answer, status, said, where=where, key=key, begins=BEGINS)


def refuses_shape(answer: HttpAnswer, status: int, where: str) -> WhetError | None:
    """The mistake of asking a server for a shape that it cannot keep to; None where that is not what it says."""
    body = answer.body.decode("utf-8", "replace")
    if status not in (400, 422, 501) or not _SHAPE.search(body):
        return None
    return WhetError(
        f"{where} answered {status}: {answer.quote(body)} It cannot be held to a shape so: set target.shapes to "
        "'grammar', or to 'none' (the beginning of a reply is then read)."
    )


def _overflow(body: str, told: str, max_tokens: int) -> Exception:
    """A conversation that outgrew the context is the policy's doing; a limit no conversation could meet is not."""
    found = _CONTEXT.search(body)
    if found and int(found[1]) <= max_tokens:
        room = f"max_tokens = {max_tokens} leaves no room for a prompt in a context of {found[1]} tokens"
        return WhetError(f"{room}: lower it. {told}")
    return LimitReached("context_overflow", told)


def inner_status(data: Any) -> int:
    """The status of an error that came under a 200, as gateways send it when the server behind them failed; else 0."""
    if not isinstance(data, dict) or data.get("choices") or not isinstance(data.get("error"), dict):
        return 0
    code = data["error"].get("code")
    return code if isinstance(code, int) and 300 <= code < 600 else 500
