"""What a status code says when the body says nothing special: try again, a mistake to mend, or a fault."""

from __future__ import annotations

from collections.abc import Mapping

from whet.errors import FaultError, WhetError
from whet.models.chat.endpoint import HttpAnswer
from whet.models.chat.retry import Trouble, asked_wait
from whet.types import Fault

AGAIN = {408: "timeout", 409: "server_error", 425: "server_error", 429: "rate_limited"}
"""Statuses after which the same request may succeed, beside those of 500 and above."""

_ADVICE = {
    401: "The key was refused. Key used: {key}.",
    402: "The account has no credit left: top it up.",
    403: "The key may not use this model or endpoint. Key used: {key}.",
    404: "Check the model's name, and base_url, which must end where {begins}.",
}


class ContentRefusal(Exception):
    """The service refused the prompt by its content rules: a reply that ended by `filter` before its first word."""


def refused(
    answer: HttpAnswer,
    status: int,
    said: str,
    *,
    where: str,
    key: str,
    begins: str,
    again: Mapping[int, str] = AGAIN,
) -> Exception:
    """The error that a status other than 2xx stands for. `begins` says where the path of this wire begins."""
    if status in again or (status >= 500 and status != 501):
        return Trouble(again.get(status, "server_error"), f"status {status}: {said}", asked_wait(answer.headers))
    if 300 <= status < 400:
        target = answer.quote(answer.headers.get("Location", "nowhere"))
        return WhetError(f"{where} answered {status} and points to {target}: mend base_url.")
    if advice := _ADVICE.get(status):
        return WhetError(f"{where} answered {status}: {said} {advice.format(key=key, begins=begins)}")
    return FaultError(Fault(f"http_{status}", where, f"status {status}: {said}"))
