"""The endpoint: one request, one decision, whatever is sent and whenever the server dies."""

from __future__ import annotations

import asyncio
import io
import json
import multiprocessing
import os
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from ticket_desk import promoted, spoken, tickets

from whet.errors import FaultError, WhetError
from whet.ledger.writer import LedgerWriter
from whet.models.base import Model, Request
from whet.models.scripted import Scripted
from whet.release.champion import Champions
from whet.release.decider import open_decider
from whet.release.decision import DECIDED
from whet.release.endpoint import DecisionDoor, decide_app
from whet.release.trail import Trail
from whet.types import Fault


async def posted(address: str, body: bytes, **headers: str) -> tuple[int, dict[str, Any]]:
    async with (
        aiohttp.ClientSession() as client,
        client.post(address, data=io.BytesIO(body), headers=headers) as answer,
    ):
        return answer.status, json.loads(await answer.read())


@asynccontextmanager
async def listening(releases: Path, **how: Any) -> AsyncIterator[str]:
    """The address of a door whose champion is whoever is current."""
    door = DecisionDoor(lambda: Champions(releases).get("site"), releases)
    runner = web.AppRunner(decide_app(door), **how)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    try:
        yield f"http://127.0.0.1:{port}/decide"
    finally:
        await runner.cleanup()


def fails(request: Request) -> str:
    return "Verdict: fail\nReason: Image1: dirty \x1b[31m"


@pytest.fixture
def serves(monkeypatch: pytest.MonkeyPatch) -> Callable[[Model], None]:
    """Has the champion's model be this one, wherever a decider opens it."""

    def stands_in(model: Model) -> None:
        monkeypatch.setattr("whet.release.decider.open_model", lambda *_: model)

    return stands_in


def test_what_is_sent_is_decided_and_answered_in_json(tmp_path: Path, serves: Callable[[Model], None]) -> None:
    model = spoken(fails)
    serves(model)
    promoted(tmp_path, model)

    async def work() -> None:
        async with listening(tmp_path) as address:
            line = tickets(1)[0]
            status, told = await posted(address, line)
            assert (status, told["verdict"], told["again"]) == (200, "fail", False)
            assert (await posted(address, line))[1]["again"]
            for body in (b"", b"{", b"[]", b"\x00" * 100, b'{"a": NaN}'):
                status, told = await posted(address, body)
                assert status == 400
                assert "\n" not in told["error"]
            assert (await posted(address, b"x" * ((1 << 20) + 1)))[0] == 413

    asyncio.run(work())


def test_a_model_that_gives_out_is_a_bad_gateway_and_decides_nothing(
    tmp_path: Path, serves: Callable[[Model], None]
) -> None:
    def broken(request: Request) -> str:
        raise FaultError(Fault("overloaded", "server", "no room"))

    model = spoken(broken)
    serves(model)
    promoted(tmp_path, model)

    async def work() -> tuple[int, dict[str, Any]]:
        async with listening(tmp_path) as address:
            return await posted(address, tickets(1)[0])

    status, told = asyncio.run(work())
    assert status == 502
    assert "did not answer" in told["error"]
    assert Trail.of(tmp_path).entries(DECIDED) == []


def test_the_version_that_is_current_decides(tmp_path: Path, serves: Callable[[Model], None]) -> None:
    first, second = spoken(fails, "first"), spoken(lambda request: "Verdict: pass\nReason: Image1: fine", "second")
    promoted(tmp_path, first)

    async def work() -> list[str]:
        told = []
        async with listening(tmp_path) as address:
            for model, line in ((first, tickets(1)[0]), (second, tickets(2)[1])):
                serves(model)
                if model is second:
                    promoted(tmp_path, model)
                told.append((await posted(address, line))[1]["champion"])
        return told

    assert asyncio.run(work()) == ["site@v1", "site@v2"]


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


def test_who_waits_for_a_ticket_is_answered_though_the_first_to_ask_hung_up(
    tmp_path: Path, serves: Callable[[Model], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = spoken(fails)
    serves(model)
    promoted(tmp_path, model)
    complete = Scripted.complete

    async def slow(self: Scripted, *given: Any) -> Any:
        await asyncio.sleep(0.5)
        return await complete(self, *given)

    monkeypatch.setattr(Scripted, "complete", slow)

    async def work() -> None:
        async with listening(tmp_path, handler_cancellation=True) as address:
            line = tickets(1)[0]
            first = asyncio.create_task(posted(address, line))
            await asyncio.sleep(0.3)
            second = asyncio.create_task(posted(address, line))
            await asyncio.sleep(0.1)
            first.cancel()
            assert (await second)[0] == 200

    asyncio.run(work())
    assert len(Trail.of(tmp_path).entries(DECIDED)) == 1


def test_a_full_disk_decides_nothing_and_room_on_it_is_enough_to_go_on(
    tmp_path: Path, serves: Callable[[Model], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = spoken(fails)
    serves(model)
    promoted(tmp_path, model)

    def full(*_: object) -> None:
        raise WhetError("ledger.sqlite: cannot be written (database or disk is full)")

    async def work() -> None:
        async with listening(tmp_path) as address:
            before, line = tickets(2)
            assert (await posted(address, before))[0] == 200
            with monkeypatch.context() as patch:
                patch.setattr(LedgerWriter, "write", full)
                status, told = await posted(address, line)
                assert (status, "disk is full" in told["error"]) == (503, True)
            assert (await posted(address, line))[0] == 200
            assert (await posted(address, before))[1]["again"]

    asyncio.run(work())
    assert Trail.of(tmp_path).verify() == []
