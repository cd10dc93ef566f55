"""Plain functions work with and without a running loop."""

from __future__ import annotations

import asyncio

import pytest

from whet.rollout.loop import finish


async def answer() -> int:
    await asyncio.sleep(0)
    return 42


async def fails() -> int:
    raise ValueError("no")


def test_without_a_loop() -> None:
    assert finish(answer) == 42


def test_inside_a_running_loop_as_in_a_notebook() -> None:
    async def cell() -> int:
        return finish(answer)

    assert asyncio.run(cell()) == 42


def test_an_error_reaches_the_caller_from_either() -> None:
    async def cell() -> int:
        return finish(fails)

    with pytest.raises(ValueError, match="no"):
        finish(fails)
    with pytest.raises(ValueError, match="no"):
        asyncio.run(cell())
