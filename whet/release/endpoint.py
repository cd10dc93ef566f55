"""POST /decide: a ticket as JSON in, its decision out, on record before it is told; by whichever version is current.

`whet serve` has it beside its chat endpoint, for champions of environments that have an intake. A version that was
promoted or rolled back to decides from the next request on; the one before closes when its last answer is out.
"""

from __future__ import annotations

import asyncio
import gc
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from aiohttp import web

from whet.errors import WhetError
from whet.outside import shown_json, shown_line
from whet.release.champion import Champion
from whet.release.decider import Decider, NoDecision, open_decider
from whet.release.intake import NoIntake
from whet.release.meter import purse_without_limits

if TYPE_CHECKING:
    from whet.rollout.purse import Purse

LONGEST = 1 << 20
"""Bytes of a request."""


async def answer_decide(shift: DeciderShift, body: bytes) -> tuple[int, Mapping[str, Any]]:
    """Status and answer: 200 a decision, 400 no ticket, 413 too long, 502 no reply, 503 no budget or no room."""
    if len(body) > LONGEST:
        return 413, {"error": f"a ticket has at most {LONGEST} bytes"}
    try:
        return 200, (await shift.decider.decide(body)).as_data()
    except NoDecision as undecided:
        shift.over |= undecided.broken
        return 503 if undecided.budget or undecided.broken else 502, {"error": shown_line(str(undecided))}
    except WhetError as refused:
        return 400, {"error": shown_line(str(refused))}


@dataclass(slots=True)
class DeciderShift:
    """One version at work, and how many answers it still owes."""

    decider: Decider
    stack: AsyncExitStack
    under_way: int = 0
    over: bool = False


@dataclass(slots=True)
class DecisionDoor:
    """Where tickets come in: the decider of the current version, opened when the first ticket comes."""

    champion: Callable[[], Champion]
    """Who is champion now."""
    releases: Path
    base_url: str = ""
    purse: Purse = field(default_factory=purse_without_limits)
    """What pays for replies, and for the chat of the same server; without limits nothing of it is written."""
    _now: DeciderShift | None = None
    _turning: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def answer(self, request: web.Request) -> web.Response:
        """The answer to one request."""
        body = await request.content.read(LONGEST + 1)
        while len(body) <= LONGEST and not request.content.at_eof():
            body += await request.content.read(LONGEST + 1 - len(body))
        try:
            shift = await self._shift()
        except NoIntake as none:
            return _json(404, {"error": shown_line(str(none), 400)})
        except WhetError as problem:
            return _json(503, {"error": shown_line(str(problem))})
        shift.under_way += 1
        try:
            return _json(*await answer_decide(shift, body))
        finally:
            shift.under_way -= 1
            await self._end(shift)

    async def _shift(self) -> DeciderShift:
        async with self._turning:
            champion, old = self.champion(), self._now
            held = old.decider.champion if old is not None and not old.over else None
            if old is not None and held is not None and (held is champion or held.digest == champion.digest):
                return old
            stack = AsyncExitStack()
            opening = open_decider(champion, self.releases, door="serve", base_url=self.base_url, purse=self.purse)
            self._now = DeciderShift(await stack.enter_async_context(opening), stack)
            _settle_down()
            if old is not None:
                old.over = True
                await self._end(old)
            return self._now

    async def _end(self, shift: DeciderShift) -> None:
        """Close a version that is not asked any more, once its last answer is out; all it decided is on record."""
        if shift.over and not shift.under_way:
            with suppress(WhetError, sqlite3.Error, OSError):
                await shift.stack.aclose()

    async def close(self, _: object = None) -> None:
        """No further ticket comes."""
        if self._now is not None:
            self._now.over = True
            await self._end(self._now)


def decide_app(door: DecisionDoor) -> web.Application:
    """The door alone, as a program."""
    app = web.Application(client_max_size=LONGEST + 1)
    app.router.add_post("/decide", door.answer)
    app.on_cleanup.append(door.close)
    return app


def _settle_down() -> None:
    """All that is there now stays: packs, reference, code. The collector need not go over it while tickets come."""
    gc.unfreeze()  # what an older version had may go
    gc.collect()
    gc.freeze()


def _json(status: int, data: Mapping[str, Any]) -> web.Response:
    return web.Response(text=shown_json(orjson.dumps(data)), status=status, content_type="application/json")
