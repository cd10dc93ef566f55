"""The endpoint: one request, one decision, whatever is sent and whenever the server dies."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from ticket_desk import promoted, spoken, tickets

from whet.errors import FaultError
from whet.models.base import Request
from whet.release.champion import Champions
from whet.release.decider import open_decider
from whet.release.decision import DECIDED
from whet.release.endpoint import decide_app
from whet.release.trail import Trail
from whet.types import Fault

pytest.importorskip("starlette", reason="the endpoint needs the extra web")


async def posted(app: Any, body: bytes, **headers: str) -> tuple[int, dict[str, Any]]:
    sent: list[dict[str, Any]] = []
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/decide",
        "raw_path": b"/decide",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    left = [body[at : at + 65536] for at in range(0, len(body), 65536)] or [b""]

    async def receive() -> dict[str, Any]:
        part = left.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(left)}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return sent[0]["status"], json.loads(b"".join(part.get("body", b"") for part in sent))


def fails(request: Request) -> str:
    return "Verdict: fail\nReason: Image1: dirty \x1b[31m"


def test_what_is_sent_is_decided_and_answered_in_json(tmp_path: Path) -> None:
    model = spoken(fails)
    champion = promoted(tmp_path, model)

    async def work() -> None:
        async with open_decider(champion, tmp_path, model=model) as decider:
            app = decide_app(decider, "the-token-of-clients")
            line = tickets(1)[0]
            known = {"authorization": "Bearer the-token-of-clients"}
            assert (await posted(app, line))[0] == 401
            status, told = await posted(app, line, **known)
            assert (status, told["verdict"], told["again"]) == (200, "fail", False)
            assert (await posted(app, line, **known))[1]["again"]
            for body in (b"", b"{", b"[]", b"\x00" * 100, b'{"a": NaN}'):
                status, told = await posted(app, body, **known)
                assert status == 400
                assert "\n" not in told["error"]
            assert (await posted(app, b"x" * (2 << 20), **known))[0] == 413

    asyncio.run(work())


def test_a_model_that_gives_out_is_a_bad_gateway_and_decides_nothing(tmp_path: Path) -> None:
    def broken(request: Request) -> str:
        raise FaultError(Fault("overloaded", "server", "no room"))

    model = spoken(broken)
    champion = promoted(tmp_path, model)

    async def work() -> tuple[int, dict[str, Any]]:
        async with open_decider(champion, tmp_path, model=model) as decider:
            return await posted(decide_app(decider), tickets(1)[0])

    status, told = asyncio.run(work())
    assert status == 502
    assert "did not answer" in told["error"]
    assert Trail.of(tmp_path).entries(DECIDED) == []


def _decide_on(releases: str, told: Any) -> None:
    model = spoken(fails)

    async def work() -> None:
        async with open_decider(Champions(Path(releases)).get("site"), Path(releases), model=model) as decider:
            for line in tickets(400):
                decision = await decider.decide(line)
                told.put((decision.ticket, decision.entry))

    asyncio.run(work())


def test_killed_in_the_middle_nothing_that_was_told_is_forgotten(tmp_path: Path) -> None:
    model = spoken(fails)
    champion = promoted(tmp_path, model)
    context = multiprocessing.get_context("spawn")
    told = context.Queue()
    process = context.Process(target=_decide_on, args=(str(tmp_path), told))
    process.start()
    heard = [told.get(timeout=60) for _ in range(25)]
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    time.sleep(0.05)
    while not told.empty():
        heard.append(told.get())
    trail = Trail.of(tmp_path)
    assert trail.verify() == []
    held = {entry.subject: entry.seq for entry in trail.entries(DECIDED)}
    assert dict(heard).items() <= held.items()
    assert len(held) < 400

    async def again() -> list[bool]:
        async with open_decider(champion, tmp_path, model=model) as decider:
            return [(await decider.decide(line)).again for line in tickets(40)]

    assert sum(asyncio.run(again())) >= 25
    assert Trail.of(tmp_path).verify() == []
