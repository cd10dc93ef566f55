"""The docket: decisions that are ready at one moment share a commit, and what they go by is what holds now."""

from __future__ import annotations

import asyncio
import random
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
from whet.release.docket import Docket
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


class Order:
    """A watch that notes what it is shown, and has seen enough at one of them."""

    def __init__(self, alarm: int = 0) -> None:
        self.seen: list[str] = []
        self.alarm = alarm

    def take(self, work: OpenWork) -> str:
        self.seen.append(work.key)
        return "everything" if len(self.seen) == self.alarm else ""


def test_what_came_meanwhile_is_shown_to_the_watch_in_its_order_before_any_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch, lines = Order(), tickets(12)
    monkeypatch.setattr("whet.release.terms._watch", lambda *_: watch)

    async def work() -> list[str]:
        model, go = at_one_moment()
        champion = promoted(tmp_path, model)
        threshold(tmp_path, champion, 0.0)
        async with open_decider(champion, tmp_path, model=model) as decider:
            asked = [asyncio.create_task(decider.decide(line)) for line in lines]
            while len(watch.seen) < len(lines):
                await asyncio.sleep(0.01)
            assert not any(task.done() for task in asked)
            go.set()
            return [decision.ticket for decision in await asyncio.gather(*asked)]

    assert asyncio.run(work()) == watch.seen


@pytest.mark.parametrize("slow", [0.0, 0.001, 0.03])
def test_no_pass_is_released_that_the_watch_has_not_seen_nor_any_after_its_alarm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slow: float
) -> None:
    """However fast a model is and in whatever order it answers: the alarm holds from the very ticket that raises it."""
    watch, decided = Order(alarm=15), []
    monkeypatch.setattr("whet.release.terms._watch", lambda *_: watch)
    monkeypatch.setattr("whet.release.docket.MEANWHILE", 0.01)
    chance = random.Random(1)

    async def answer(request: Request) -> str:
        await asyncio.sleep(chance.random() * slow)
        return PASS

    async def work() -> list[WorkDecision]:
        model = spoken(answer)
        champion = promoted(tmp_path, model)
        threshold(tmp_path, champion, 0.0)
        async with open_decider(champion, tmp_path, model=model) as decider:
            enter = decider.docket._decision

            def seen(turn: Any, piece: OpenWork, *rest: Any) -> WorkDecision:
                decided.append((piece.key, piece.key in watch.seen, len(watch.seen) >= watch.alarm))
                return enter(turn, piece, *rest)

            monkeypatch.setattr(Docket, "_decision", lambda _, *given: seen(*given))
            return await asyncio.gather(*(decider.decide(line) for line in tickets(40)))

    found = {decision.ticket: decision for decision in asyncio.run(work())}
    assert len(decided) == len(found) == 40
    assert any(alarmed for *_, alarmed in decided)
    for key, shown, alarmed in decided:
        assert shown or alarmed  # frozen: nothing is watched until that is ended
        assert found[key].code == ("drift" if alarmed else "")
        assert found[key].verdict == ("review" if alarmed else "pass")
    assert len(set(watch.seen)) == len(watch.seen)


def test_a_ticket_whose_asker_has_gone_is_shown_to_the_watch_when_it_comes_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch, (line,) = Order(), tickets(1)
    monkeypatch.setattr("whet.release.terms._watch", lambda *_: watch)

    async def work() -> WorkDecision:
        model, go = at_one_moment()
        champion = promoted(tmp_path, model)
        threshold(tmp_path, champion, 0.0)
        async with open_decider(champion, tmp_path, model=model) as decider:
            for _ in range(3):
                asked = asyncio.create_task(decider.decide(line))
                await asyncio.sleep(0.01)
                asked.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await asked
            assert watch.seen == []
            go.set()
            return await decider.decide(line)

    assert [asyncio.run(work()).ticket] == watch.seen
