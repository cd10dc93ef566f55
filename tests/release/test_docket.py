"""The docket: decisions that are ready at one moment share a commit, and what they go by is what holds now."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from ticket_desk import promoted, ruled, spoken, tickets

from whet.errors import WhetError
from whet.models.base import Model, Request
from whet.release.champion import Champion
from whet.release.decider import Decider, NoDecision, open_decider
from whet.release.decision import DECIDED, DecisionRule, WorkDecision
from whet.release.intake import OpenWork, open_intake
from whet.release.terms import voter_of
from whet.release.threshold import ReleaseRule
from whet.release.trail import Trail
from whet.release.upkeep import set_frozen

PASS = "Verdict: pass\nReason: Image1: fine"


def at_one_moment() -> tuple[Model, asyncio.Event]:
    """A model that answers all that was asked at once, when told to."""
    go = asyncio.Event()

    async def answer(request: Request) -> str:
        await go.wait()
        return PASS

    return spoken(answer), go


def links(releases: Path) -> int:
    return Trail.of(releases).head().link


async def together(decider: Decider, go: asyncio.Event, lines: list[bytes]) -> list[WorkDecision | BaseException]:
    asked = [asyncio.create_task(decider.decide(line)) for line in lines]
    await asyncio.sleep(0.1)
    go.set()
    return await asyncio.gather(*asked, return_exceptions=True)


def test_what_is_ready_at_one_moment_is_one_commit_and_nobody_hears_before_it(tmp_path: Path) -> None:
    heard: list[int] = []

    async def work() -> list[Any]:
        model, go = at_one_moment()
        async with open_decider(promoted(tmp_path, model), tmp_path, model=model) as decider:
            before = links(tmp_path)

            async def decided(line: bytes) -> WorkDecision:
                decision = await decider.decide(line)
                with sqlite3.connect(f"file:{tmp_path / 'trail.sqlite'}?mode=ro", uri=True) as other:
                    heard.append(other.execute("SELECT count(*) FROM decisions").fetchone()[0])
                return decision

            asked = [asyncio.create_task(decided(line)) for line in tickets(40)]
            await asyncio.sleep(0.2)
            go.set()
            found = await asyncio.gather(*asked)
            assert links(tmp_path) - before < 10
            return found

    found = asyncio.run(work())
    assert len({decision.entry for decision in found}) == 40
    assert all(count == 40 for count in heard[-20:])
    assert all(count >= number for number, count in enumerate(heard, start=1))
    assert Trail.of(tmp_path).verify() == []


def test_a_commit_that_fails_is_told_to_all_who_share_it_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> tuple[list[Any], list[Any]]:
        model, go = at_one_moment()
        async with open_decider(promoted(tmp_path, model), tmp_path, model=model) as decider:
            with monkeypatch.context() as full:
                full.setattr("whet.release.docket.put_case", _no_room)
                failed = await together(decider, go, tickets(6))
            assert Trail.of(tmp_path).entries(DECIDED) == []
            return failed, await together(decider, go, tickets(6))

    failed, decided = asyncio.run(work())
    assert all(isinstance(problem, NoDecision) and problem.broken for problem in failed)
    assert all(isinstance(decision, WorkDecision) and not decision.again for decision in decided)
    assert Trail.of(tmp_path).verify() == []


def _no_room(*_: object) -> None:
    raise WhetError("no room on the disk")


def threshold(releases: Path, champion: Champion, value: float | None) -> None:
    voter = voter_of(champion, open_intake(champion.environment, champion.arguments))
    rule = ReleaseRule(value, 0.01, 0.02, 0.95, 300, 0, 100, 1000, voter)
    ruled(releases, champion, DecisionRule(rule, audit=0.0))


def test_a_threshold_that_is_chosen_meanwhile_holds_from_the_next_ticket_on(tmp_path: Path) -> None:
    async def work() -> list[str]:
        model, go = at_one_moment()
        go.set()
        champion = promoted(tmp_path, model)
        async with open_decider(champion, tmp_path, model=model) as decider:
            lines, found = tickets(3), []
            found.append((await decider.decide(lines[0])).verdict)
            threshold(tmp_path, champion, 0.0)
            found.append((await decider.decide(lines[1])).verdict)
            threshold(tmp_path, champion, None)
            found.append((await decider.decide(lines[2])).verdict)
            return found

    assert asyncio.run(work()) == ["review", "pass", "review"]


class Alarm:
    """A watch that has seen enough at its second ticket."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def take(self, work: OpenWork) -> str:
        self.seen.append(work.name)
        return "everything" if len(self.seen) > 1 else ""


def test_the_watch_sees_each_ticket_once_and_comes_back_when_a_freeze_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watches: list[Alarm] = []

    def opened(*_: object) -> Alarm:
        watches.append(Alarm())
        return watches[-1]

    monkeypatch.setattr("whet.release.terms._watch", opened)

    async def work() -> list[str]:
        model, go = at_one_moment()
        go.set()
        champion = promoted(tmp_path, model)
        async with open_decider(champion, tmp_path, model=model) as decider:
            lines, found = tickets(6), []
            threshold(tmp_path, champion, 0.0)
            for line in lines[:3]:
                found.append((await decider.decide(line)).code)
            set_frozen(tmp_path, "groupqc", "looked into", "ann", halt=False)
            for line in lines[3:]:
                found.append((await decider.decide(line)).code)
            return found

    assert asyncio.run(work()) == ["", "drift", "drift", "", "drift", "drift"]
    assert [len(watch.seen) for watch in watches] == [2, 2]


def test_the_watch_looks_while_the_model_is_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Alarm()
    monkeypatch.setattr("whet.release.terms._watch", lambda *_: watch)

    async def work() -> WorkDecision:
        model, go = at_one_moment()
        champion = promoted(tmp_path, model)
        threshold(tmp_path, champion, 0.0)
        async with open_decider(champion, tmp_path, model=model) as decider:
            asked = asyncio.create_task(decider.decide(tickets(1)[0]))
            while not watch.seen:
                await asyncio.sleep(0.01)
            assert not asked.done()
            go.set()
            return await asked

    assert asyncio.run(work()).verdict == "pass"
    assert len(watch.seen) == 1
