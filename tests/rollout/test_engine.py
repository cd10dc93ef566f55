"""The engine works off plans: what is remembered is not asked again, what is done is kept, limits are kept hard."""

from __future__ import annotations

import asyncio
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from builders import Doubles, FromFunction, doubled
from driving import TEN, outcomes, play_out, run

from whet.envs.base import Play, ask, call, work
from whet.errors import FaultError, LimitReached, WhetError
from whet.ledger.store import Ledger
from whet.models.base import Price, Request
from whet.rollout.conversation import AttemptLimits
from whet.rollout.purse import PurseLimits
from whet.types import (
    Example,
    Fault,
    Playbook,
    Reply,
    Score,
    Task,
    Ticket,
    Usage,
    failed,
    solved,
    user,
)


def test_every_ticket_is_played_and_graded(tmp_path: Path) -> None:
    tally = run(tmp_path / "r", FromFunction(doubled))
    assert (tally.done, tally.faults, tally.stopped) == (10, 0, "")
    assert [one.hard for one in outcomes(tmp_path / "r")] == [1] * 10


def test_a_second_session_asks_nothing_again(tmp_path: Path) -> None:
    run(tmp_path / "r", FromFunction(doubled), TEN[:6])
    model = FromFunction(doubled)
    tally = run(tmp_path / "r", model)
    assert (tally.replayed, tally.done, len(model.requests)) == (6, 4, 4)


def test_a_new_draw_is_not_a_cached_one(tmp_path: Path) -> None:
    model = FromFunction(doubled)
    run(tmp_path / "r", model, [Ticket("eval", "select", 0, draw) for draw in range(3)])
    assert len({request.sampling.seed for request in model.requests}) == 3


def test_a_changed_prompt_stops_the_run_and_says_where(tmp_path: Path) -> None:
    class Reworded(Doubles):
        def task(self, split: Any, index: int) -> Task:
            task = super().task(split, index)
            return Task(split, index, task.label, (user(task.messages[0].text + " Please."),), task.truth)

    run(tmp_path / "r", FromFunction(doubled))
    with pytest.raises(WhetError, match="select/0 draw 0 was answered to another request"):
        run(tmp_path / "r", FromFunction(doubled), env=Reworded())


def test_a_service_fault_is_recorded_and_redone_on_request(tmp_path: Path) -> None:
    def failing(request: Request) -> str:
        if "20003" in request.messages[-1].text:
            raise FaultError(Fault("server_error", "there", "500", 6))
        return doubled(request)

    assert run(tmp_path / "r", FromFunction(failing)).faults == 1
    assert run(tmp_path / "r", FromFunction(doubled)).done == 0, "a fault is not redone unasked"
    assert run(tmp_path / "r", FromFunction(doubled), retry_faults=True).done == 1
    assert [one.fault for one in outcomes(tmp_path / "r")] == [""] * 10


def test_faults_in_a_row_end_the_run_early(tmp_path: Path) -> None:
    def dead(request: Request) -> str:
        raise FaultError(Fault("connection", "there", "refused"))

    plan = [Ticket("eval", "select", index) for index in range(100)]
    tally = run(tmp_path / "r", FromFunction(dead), plan, concurrency=2, patience=5)
    assert "5 faults in a row" in tally.stopped
    assert tally.faults < 10


def test_what_the_policy_brought_about_is_a_score(tmp_path: Path) -> None:
    def overflows(request: Request) -> str:
        raise LimitReached("context_overflow", "9000 tokens do not fit 8192")

    run(tmp_path / "r", FromFunction(overflows), TEN[:1])
    [outcome] = outcomes(tmp_path / "r")
    assert (outcome.reason, outcome.fault, outcome.hard) == ("context_overflow", "", 0)


def test_a_play_may_grade_what_a_limit_cut_short(tmp_path: Path) -> None:
    class Lenient(Doubles):
        def play(self, task: Task) -> Play:
            said = 0
            try:
                while True:
                    yield from ask([user("more")])
                    said += 1
            except LimitReached as limit:
                return Score(0, said / 10, said / 10, reason=limit.reason)

    run(tmp_path / "r", FromFunction(lambda _: "ok"), TEN[:1], env=Lenient(), limits=AttemptLimits(turns=4))
    [outcome] = outcomes(tmp_path / "r")
    assert (outcome.reason, outcome.soft, outcome.turns) == ("turn_limit", 0.4, 4)


def test_a_play_that_goes_on_asking_after_its_limit_is_ended(tmp_path: Path) -> None:
    class Stubborn(Doubles):
        def play(self, task: Task) -> Play:
            while True:
                try:
                    yield from ask([user("more")])
                except LimitReached:
                    continue

    run(tmp_path / "r", FromFunction(lambda _: "ok"), TEN[:1], env=Stubborn(), limits=AttemptLimits(turns=2))
    assert [one.reason for one in outcomes(tmp_path / "r")] == ["turn_limit"]


def test_a_defect_of_the_environment_is_never_a_score(tmp_path: Path) -> None:
    class Broken(Doubles):
        def play(self, task: Task) -> Play:
            reply = yield from ask(task.messages)
            return solved() if int(reply.text) else failed("wrong")

    tally = run(tmp_path / "r", FromFunction(lambda _: "seven"), TEN[:2], env=Broken())
    assert tally.faults == 2
    with Ledger.read(tmp_path / "r") as ledger:
        assert {one.fault for one in ledger.outcomes()} == {"environment_error"}


class Unbuildable(Doubles):
    """Its tasks, or the first lines of its plays, cannot be had."""

    def __init__(self, where: str) -> None:
        self.where = where

    def task(self, split: Any, index: int) -> Task:
        if self.where == "task":
            raise OSError("the file is gone")
        return super().task(split, index)

    def play(self, task: Task) -> Play:
        if self.where == "play":
            raise OSError("the file is gone")
        return (yield from super().play(task))


@pytest.mark.parametrize("where", ["task", "play"])
def test_a_task_that_cannot_be_played_is_a_fault_once(tmp_path: Path, where: str) -> None:
    """Every start of the run once added the same faults again."""
    for replayed, faults in ((0, 10), (10, 0), (10, 0)):
        tally = run(tmp_path / "r", FromFunction(doubled), env=Unbuildable(where), patience=0)
        assert (tally.replayed, tally.faults) == (replayed, faults)
    with Ledger.read(tmp_path / "r") as ledger:
        assert ledger.counts()["faults"] == 10


@pytest.mark.parametrize("where", ["task", "play"])
def test_a_task_that_cannot_be_played_any_more_keeps_its_answer(tmp_path: Path, where: str) -> None:
    run(tmp_path / "r", FromFunction(doubled), env=Unbuildable(""))
    tally = run(tmp_path / "r", FromFunction(doubled), env=Unbuildable(where))
    assert (tally.replayed, tally.faults) == (10, 0)


def test_a_work_that_is_no_plain_data_is_the_environments_defect(tmp_path: Path) -> None:
    class Handing(Doubles):
        def play(self, task: Task) -> Play:
            yield from work(call("builders:nap", thing=object()))
            return solved()

    assert run(tmp_path / "r", FromFunction(doubled), env=Handing()).faults == 10
    assert {outcome.fault for outcome in outcomes(tmp_path / "r")} == {"environment_error"}


def test_a_stalled_reply_is_a_fault_and_the_rest_goes_on(tmp_path: Path) -> None:
    async def slow(request: Request) -> str:
        if "20003" in request.messages[-1].text:
            await asyncio.sleep(60)
        return doubled(request)

    tally = run(tmp_path / "r", FromFunction(slow), limits=AttemptLimits(call_timeout=0.05))
    assert (tally.done, tally.faults) == (9, 1)


def test_a_deadline_spent_in_its_own_works_is_the_policys_doing(tmp_path: Path) -> None:
    class Sleeping(Doubles):
        def play(self, task: Task) -> Play:
            while True:
                result = yield from work(call("builders:nap"))
                assert result.ok, result

    run(tmp_path / "r", FromFunction(doubled), TEN[:1], env=Sleeping(), limits=AttemptLimits(deadline=0.3))
    assert [one.reason for one in outcomes(tmp_path / "r")] == ["deadline"]


def test_works_run_beside_each_other(tmp_path: Path) -> None:
    class Napping(Doubles):
        def play(self, task: Task) -> Play:
            result = yield from work(call("builders:meet", parties=4))
            return solved() if result.ok else failed("alone", result.detail)

    run(tmp_path / "r", FromFunction(doubled), TEN[:4], env=Napping(), concurrency=4)
    assert [one.reason for one in outcomes(tmp_path / "r")] == ["correct"] * 4


def test_a_work_that_outlasts_its_deadline_comes_back_as_a_result(tmp_path: Path) -> None:
    class Waiting(Doubles):
        def play(self, task: Task) -> Play:
            result = yield from work(call("builders:nap", deadline=0.01))
            return failed(result.error)

    run(tmp_path / "r", FromFunction(doubled), TEN[:1], env=Waiting())
    assert [one.reason for one in outcomes(tmp_path / "r")] == ["deadline"]


@pytest.mark.parametrize("pool", ["thread", "process"])
def test_a_work_returns_its_value_from_either_pool(tmp_path: Path, pool: str) -> None:
    class Halving(Doubles):
        def play(self, task: Task) -> Play:
            result = yield from work(call("fractions:Fraction", pool=pool, numerator=1, denominator=2))
            return solved() if result.value == Fraction(1, 2) else failed("wrong", result.detail)

    run(tmp_path / "r", FromFunction(doubled), TEN[:1], env=Halving())
    assert [one.reason for one in outcomes(tmp_path / "r")] == ["correct"]


def test_what_a_works_function_raises_is_its_result(tmp_path: Path) -> None:
    class Dividing(Doubles):
        def play(self, task: Task) -> Play:
            result = yield from work(call("fractions:Fraction", numerator=1, denominator=0))
            return failed(result.error, result.detail)

    run(tmp_path / "r", FromFunction(doubled), TEN[:1], env=Dividing())
    with Ledger.read(tmp_path / "r") as ledger:
        [one] = ledger.rollouts("eval")
    assert one.score is not None
    assert one.score.detail.startswith("ZeroDivisionError")


def test_a_budget_of_calls_is_never_passed(tmp_path: Path) -> None:
    model = FromFunction(doubled)
    tally = run(tmp_path / "r", model, budget=PurseLimits(calls=4), concurrency=8)
    assert len(model.requests) == 4
    assert tally.stopped == "budget of 4 calls reached (4 spent)"


def test_raising_a_budget_continues_the_run(tmp_path: Path) -> None:
    run(tmp_path / "r", FromFunction(doubled), budget=PurseLimits(calls=4))
    model = FromFunction(doubled)
    tally = run(tmp_path / "r", model, budget=PurseLimits(calls=7))
    assert (len(model.requests), tally.replayed, tally.done) == (3, 4, 3)


def test_a_budget_of_calls_counts_those_that_came_to_nothing_over_all_sessions(tmp_path: Path) -> None:
    """Each start of the run once gave the whole budget again to a service that fails."""

    def failing(request: Request) -> str:
        raise FaultError(Fault("server_error", "there", "500"))

    model = FromFunction(failing)
    for _ in range(3):
        run(tmp_path / "r", model, budget=PurseLimits(calls=4), concurrency=1, patience=0, retry_faults=True)
    assert len(model.requests) == 4


def test_a_budget_in_dollars_is_never_passed(tmp_path: Path) -> None:
    class Dear(FromFunction):
        price = Price(1000.0, 1000.0)

    def answer(request: Request) -> Reply:
        return Reply(doubled(request), usage=Usage(1, 10, 5, 0, 0.015))

    run(tmp_path / "r", Dear(answer), budget=PurseLimits(usd=5.0), concurrency=8)
    with Ledger.read(tmp_path / "r") as ledger:
        assert 0 < (ledger.account().spent.usd or 0) <= 5.0


def test_calls_under_way_do_not_pass_a_budget_together(tmp_path: Path) -> None:
    under_way, most = 0, 0

    class Dear(FromFunction):
        price = Price(1000.0, 1000.0)

    async def answer(request: Request) -> Reply:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.001)
        under_way -= 1
        return Reply(doubled(request), usage=Usage(1, 10, 5, 0, 0.015))

    # one call may cost about 1.08 dollars (1024 tokens out, 50 bytes in): two fit beside each other, three do not
    run(tmp_path / "r", Dear(answer), budget=PurseLimits(usd=2.5), concurrency=8)
    assert most == 2


def test_an_interrupted_run_keeps_what_is_done(tmp_path: Path) -> None:
    async def stopped_midway() -> None:
        async def answer(request: Request) -> str:
            if len(model.requests) > 6:
                await asyncio.sleep(60)
            return doubled(request)

        model = FromFunction(answer)
        task = asyncio.create_task(play_out(tmp_path / "r", model, concurrency=2))
        while len(model.requests) < 8:
            await asyncio.sleep(0.005)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(stopped_midway())
    assert len(outcomes(tmp_path / "r")) == 6


def test_a_users_mistake_stops_the_run_at_once(tmp_path: Path) -> None:
    def refused(request: Request) -> str:
        raise WhetError("https://there: 401: wrong key")

    with pytest.raises(WhetError, match="wrong key"):
        run(tmp_path / "r", FromFunction(refused))


def test_examples_are_placed_as_turns_before_the_task(tmp_path: Path) -> None:
    model = FromFunction(doubled)
    playbook = Playbook("Be brief.", (Example("Say twice 1.", "2"),))
    run(tmp_path / "r", model, TEN[:1], playbook=playbook)
    [request] = model.requests
    assert [(message.author, message.text) for message in request.messages[:3]] == [
        ("system", "Be brief."),
        ("user", "Say twice 1."),
        ("assistant", "2"),
    ]


def test_truth_reaches_only_reference_policies(tmp_path: Path) -> None:
    class Seeing(FromFunction):
        sees_task = True

    blind, seeing = FromFunction(doubled), Seeing(doubled)
    run(tmp_path / "a", blind, TEN[:1])
    run(tmp_path / "b", seeing, TEN[:1])
    assert blind.requests[0].task is None
    assert seeing.requests[0].task is not None


def test_memory_holds_attempts_under_way_not_the_plan(tmp_path: Path) -> None:
    under_way = most = 0

    async def answer(request: Request) -> str:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1
        return doubled(request)

    plan = [Ticket("eval", "select", index) for index in range(500)]
    run(tmp_path / "r", FromFunction(answer), plan, concurrency=16)
    assert most == 16
