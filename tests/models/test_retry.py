"""Trying again: only what can succeed, never for ever, and as slowly as the server asks."""

from __future__ import annotations

import asyncio
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.errors import FaultError, WhetError
from whet.models.chat.retry import Patience, Trouble, asked_wait, persist
from whet.types import Fault


class Stage:
    """A clock that only sleeping moves, and an attempt that plays a list of troubles before it succeeds."""

    def __init__(self, *troubles: Exception) -> None:
        self.troubles = list(troubles)
        self.slept: list[float] = []
        self.attempts = 0

    async def attempt(self) -> str:
        self.attempts += 1
        if self.troubles:
            raise self.troubles.pop(0)
        return "done"

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def run(self, patience: Patience = Patience()) -> str:
        return asyncio.run(
            persist(
                self.attempt,
                patience,
                where="somewhere",
                random=Random(7),
                sleep=self.sleep,
                clock=lambda: sum(self.slept),
            )
        )


def busy(wait: float | None = None) -> Trouble:
    return Trouble("rate_limited", "slow down", wait)


def test_success_needs_no_wait() -> None:
    stage = Stage()
    assert (stage.run(), stage.slept) == ("done", [])


def test_trouble_is_waited_out() -> None:
    stage = Stage(busy(), busy())
    assert (stage.run(), stage.attempts, len(stage.slept)) == ("done", 3, 2)


def test_attempts_are_counted_and_then_it_is_a_fault() -> None:
    stage = Stage(*(busy() for _ in range(9)))
    with pytest.raises(FaultError) as given_up:
        stage.run(Patience(attempts=4))
    assert given_up.value.fault == Fault("rate_limited", "somewhere", "slow down", 4)
    assert stage.attempts == 4


def test_the_wait_that_the_server_asks_for_is_kept() -> None:
    stage = Stage(busy(17.0))
    stage.run()
    assert 17.0 <= stage.slept[0] <= 18.0


def test_a_wait_past_the_deadline_is_not_begun() -> None:
    stage = Stage(busy(3600.0))
    with pytest.raises(FaultError, match="would pass the deadline"):
        stage.run(Patience(deadline=60.0))
    assert stage.slept == []


def test_the_deadline_counts_all_waits_together() -> None:
    stage = Stage(*(busy(25.0) for _ in range(9)))
    with pytest.raises(FaultError) as given_up:
        stage.run(Patience(attempts=9, deadline=60.0))
    assert given_up.value.fault.attempts == 3


@pytest.mark.parametrize("error", [WhetError("a wrong key"), KeyError("x")])
def test_other_errors_pass_at_once(error: Exception) -> None:
    stage = Stage(error)
    with pytest.raises(type(error)):
        stage.run()
    assert stage.attempts == 1


def test_a_fault_after_trouble_counts_the_attempts_before_it() -> None:
    stage = Stage(busy(), FaultError(Fault("reply_too_large", "somewhere", "too much")))
    with pytest.raises(FaultError) as given_up:
        stage.run()
    assert given_up.value.fault == Fault("reply_too_large", "somewhere", "too much", 2)


@given(st.integers(1, 40), st.integers())
def test_waits_grow_to_a_cap_with_full_jitter(failed: int, seed: int) -> None:
    patience = Patience(base=0.5, cap=8.0)
    assert 0.0 <= patience.wait(failed, None, Random(seed)) <= min(8.0, 0.5 * 2 ** (failed - 1))


def test_two_callers_do_not_wait_in_step() -> None:
    patience = Patience()
    assert len({patience.wait(4, None, Random(seed)) for seed in range(20)}) == 20


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "3"}, 3.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"Retry-After": "3", "retry-after-ms": "250"}, 0.25),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT", "Date": "Wed, 21 Oct 2015 07:27:30 GMT"}, 30.0),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 40.0),
        ({"Retry-After": "Wed, 21 Oct 2015 07:20:00 GMT"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"retry-after-ms": "nan"}, None),
        ({"Retry-After": "-4"}, None),
    ],
)
def test_what_a_server_asks_for_is_understood(headers: dict[str, str], seconds: float | None) -> None:
    assert asked_wait(headers, clock=lambda: 1445412440.0) == seconds
