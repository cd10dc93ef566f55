"""The body of an answer as JSON, however careless the server was with its encoding."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import orjson

from whet.models.chat.retry import Trouble
from whet.models.secrets import quoted
from whet.outside import KEYS

Json = dict[str, Any]
Quote = Callable[[str], str]
"""Makes text of the server's fit for an error message: without the key, and short."""


def decoded(body: bytes, quote: Quote = quoted) -> Any:
    """A body as JSON. Half surrogates and broken UTF-8, which a careless server may send, become U+FFFD."""
    try:
        return KEYS.hide_in_json(orjson.loads(body), body)
    except orjson.JSONDecodeError:
        pass
    text = body.decode("utf-8", "replace")
    try:
        return KEYS.hide_in_json(_whole(json.loads(text)), body)
    except (ValueError, TypeError, RecursionError):
        pass
    # Raised out here: the decoder's own error would carry the whole body along.
    raise Trouble("bad_reply", f"the body of {len(body)} bytes is not JSON: {quote(text)}")


def error_of(body: bytes, quote: Quote = quoted) -> Json:
    """The `error` object of a body that is one; empty where it is not."""
    try:
        data = decoded(body, quote)
    except Trouble:
        return {}
    error = data.get("error") if isinstance(data, dict) else None
    return error if isinstance(error, dict) else {}


_HALF_SURROGATE = re.compile("[\ud800-\udfff]")


def _whole(value: Any) -> Any:
    """`value` with U+FFFD for every half of a surrogate pair, which nothing downstream could write as UTF-8."""
    if isinstance(value, str):
        return _HALF_SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {_whole(name): _whole(member) for name, member in value.items()}
    return value
