"""A server that is gone ends the run within a few attempts and costs no rollout; one that is flaky does not."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Said, Whet
from hostile import LATE, SUMS, Hostile, Talk, harmless, hostile, right

from whet.errors import Unreachable
from whet.ledger.store import Ledger
from whet.models.chat.reach import ACQUAINTANCE, DOUBT, STRANGER, NoAnswer, Reach

REFUSED = NoAnswer("connection", "refused")


def evaluate(whet: Whet, base_url: str, *more: str, n: int = 200) -> Said:
    said = whet("eval", SUMS, "-m", "openai:m", "--base-url", base_url, "-n", str(n), "--run", "r", *more)
    harmless(said)
    return said


def remembered(run: Path = Path("runs/r")) -> tuple[int, int]:
    with Ledger.read(run) as ledger:
        outcomes = list(ledger.outcomes("eval"))
    return sum(not outcome.fault for outcome in outcomes), sum(bool(outcome.fault) for outcome in outcomes)


# --------------------------------------------------------------------------------------------- the command


def test_a_server_that_was_never_started_stops_the_run_without_a_fault(whet: Whet) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        began = time.monotonic()
        said = evaluate(whet, f"http://127.0.0.1:{taken.getsockname()[1]}/v1")
        assert time.monotonic() - began < 4 + LATE
    assert said.code == 1
    assert said.out.count("cannot be reached") == 1
    assert "continue with: whet resume runs/r" in said.out
    assert remembered() == (0, 0)


def test_a_port_that_hangs_up_on_everybody_is_no_server(whet: Whet) -> None:
    def hang_up(talk: Talk) -> None:
        talk.connection.shutdown(socket.SHUT_RDWR)

    with hostile(hang_up) as server:
        said = evaluate(whet, server.base_url, "--concurrency", "32")
        assert server.requests < 32 + 2 * STRANGER
    assert (said.code, said.out.count("cannot be reached")) == (1, 1)
    assert remembered()[1] <= 1


def test_a_server_that_dies_in_the_middle_stops_the_run_and_its_return_continues_it(
    whet: Whet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whet.models.chat.reach.ACQUAINTANCE", 4)  # 8 takes 16 seconds
    monkeypatch.setattr("whet.models.chat.reach.FIRST_PAUSE", 0.1)
    server = Hostile(lambda talk: None)

    def die(talk: Talk) -> None:
        if talk.number >= 60:
            server.stop()
        else:
            talk.say(right(talk))

    server.behave = die
    server.start()
    said = evaluate(whet, server.base_url, "--concurrency", "16")
    server.stop()
    assert said.code == 1
    assert said.out.count("cannot be reached") == 1
    solved, faults = remembered()
    assert 40 <= solved <= 60
    assert faults <= 2
    with hostile(lambda talk: talk.say(right(talk))) as back:
        again = whet("resume", "r", "--set", f"control.target.base_url={back.base_url}", "--retry-faults")
    assert again.code == 0, again
    assert remembered() == (200, 0)


def test_a_flaky_server_is_not_taken_for_dead(whet: Whet) -> None:
    """Every third answer is a connection that is closed without a word, every fifth a 503."""

    def flake(talk: Talk) -> None:
        if talk.number % 3 == 0:
            talk.connection.shutdown(socket.SHUT_RDWR)
        elif talk.number % 5 == 0:
            talk.answer(b"{}", 503, headers=b"Retry-After: 0\r\n")
        else:
            talk.say(right(talk))

    with hostile(flake) as server:
        said = evaluate(whet, server.base_url, "--concurrency", "16", "--set", "control.target.attempts=12", n=16)
    assert said.code == 0, said
    assert remembered() == (16, 0)


def test_a_server_that_restarts_is_waited_for(whet: Whet) -> None:
    first = Hostile(lambda talk: None)
    second = Hostile(lambda talk: talk.say(right(talk)))

    def restart(talk: Talk) -> None:
        if talk.number < 20:
            talk.say(right(talk))
        elif talk.number == 20:
            port = first.port
            first.stop()
            threading.Timer(1.0, second.start, kwargs={"port": port}).start()

    first.behave = restart
    first.start()
    try:
        said = evaluate(whet, first.base_url, "--concurrency", "8", n=60)
    finally:
        second.stop()
    assert said.code == 0, said
    assert remembered() == (60, 0)


def test_a_full_server_that_still_answers_others_is_not_dead(whet: Whet) -> None:
    """It takes 4 connections and no more: those who are refused wait for those who are served."""
    open_now: set[int] = set()
    lock = threading.Lock()

    def serve(talk: Talk) -> None:
        with lock:
            mine = id(talk.connection)
            if mine not in open_now and len(open_now) >= 4:
                talk.connection.shutdown(socket.SHUT_RDWR)
                return
            open_now.add(mine)
        time.sleep(0.01)
        talk.say(right(talk))

    with hostile(serve) as server:
        said = evaluate(whet, server.base_url, "--concurrency", "12", "--set", "control.target.attempts=12", n=60)
    assert said.code == 0, said
    assert remembered() == (60, 0)


# --------------------------------------------------------------------------------------------- the rule


class Server:
    """A server on paper: what comes of each attempt, and how many were made."""

    def __init__(self, there: Callable[[int], bool]) -> None:
        self.there = there
        self.attempts = 0
        self.now = 0.0
        self.reach = Reach("http://x", self.send, self.sleep, lambda: self.now)

    async def send(self) -> None:
        number, self.attempts = self.attempts, self.attempts + 1
        await asyncio.sleep(0)
        if not self.there(number):
            raise REFUSED

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)

    async def call(self, attempts: int = 6) -> str:
        async def send() -> str:
            await self.send()
            return "answer"

        for _ in range(attempts):
            try:
                return await self.reach.attempt(send)
            except Unreachable:
                return "gone"
            except NoAnswer:
                continue
        return "fault"


def outcomes(server: Server, calls: int) -> list[str]:
    async def run() -> list[str]:
        return list(await asyncio.gather(*(server.call() for _ in range(calls))))

    return asyncio.run(run())


@pytest.mark.parametrize("calls", [1, 7, 500])
def test_a_stranger_who_never_answers_costs_five_attempts_whatever_the_concurrency(calls: int) -> None:
    server = Server(lambda number: False)
    assert set(outcomes(server, calls)) == {"gone"}
    assert server.attempts == STRANGER
    assert server.now < 5


@pytest.mark.parametrize("calls", [8, 64])
def test_one_who_dies_costs_what_was_under_way_and_a_few_more(calls: int) -> None:
    server = Server(lambda number: number < calls)

    async def run() -> list[str]:
        assert set(await asyncio.gather(*(server.call() for _ in range(calls - 1)))) == {"answer"}
        return list(await asyncio.gather(*(server.call() for _ in range(calls))))

    assert set(asyncio.run(run())) == {"gone"}
    assert server.attempts - calls <= calls + ACQUAINTANCE + DOUBT
    assert 8 < server.now < 30


@pytest.mark.parametrize("period", [2, 3, 5])
def test_one_who_answers_now_and_then_is_never_given_up(period: int) -> None:
    server = Server(lambda number: number % period == 0)
    assert "gone" not in outcomes(server, 300)


def test_an_outage_shorter_than_the_pauses_costs_nobody_an_attempt_more_than_its_share() -> None:
    server = Server(lambda number: not 50 <= number < 50 + DOUBT + 4)
    assert set(outcomes(server, 200)) == {"answer"}


def test_what_was_given_up_is_tried_again_later() -> None:
    server = Server(lambda number: number >= STRANGER)

    async def run() -> list[str]:
        first = await server.call()
        second = await server.call()
        server.now += 60
        return [first, second, await server.call()]

    assert asyncio.run(run()) == ["gone", "gone", "answer"]
