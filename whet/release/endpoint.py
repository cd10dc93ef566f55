"""The endpoint of a decider: POST /decide with a ticket as JSON; the answer is its decision, already on record."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

import orjson

from whet.errors import WhetError
from whet.outside import shown_json, shown_line
from whet.release.decider import Decider, NoDecision

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

LONGEST = 1 << 20
"""Bytes of a request."""


def decide_app(decider: Decider, token: str = "") -> Starlette:
    """A decider as a program: with a token, for whoever has it."""
    from starlette.applications import Starlette
    from starlette.routing import Route

    async def decide(request: Request) -> Response:
        return await answer_decide(decider, request, token)

    async def health(request: Request) -> Response:
        return _json(200, {"champion": decider.champion.title, "notes": list(decider.notes)})

    return Starlette(routes=[Route("/decide", decide, methods=["POST"]), Route("/health", health)])


async def answer_decide(decider: Decider, request: Request, token: str = "") -> Response:
    """The answer to one request: 400 no ticket, 401 no token, 413 too long, 502 no reply, 503 a budget is spent."""
    if token and not hmac.compare_digest(request.headers.get("authorization", ""), f"Bearer {token}"):
        return _json(401, {"error": "a token is needed: Authorization: Bearer TOKEN"})
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LONGEST:
            return _json(413, {"error": f"a ticket has at most {LONGEST} bytes"})
    try:
        decision = await decider.decide(bytes(body))
    except NoDecision as undecided:
        return _json(503 if undecided.budget else 502, {"error": shown_line(str(undecided))})
    except WhetError as refused:
        return _json(400, {"error": shown_line(str(refused))})
    return _json(200, decision.as_data())


def _json(status: int, data: object) -> Response:
    from starlette.responses import Response

    return Response(shown_json(orjson.dumps(data)), status, media_type="application/json")
