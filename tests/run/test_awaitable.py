"""Whet in a program with a loop: every function has a twin to await, which leaves the loop free and can be stopped."""

from __future__ import annotations

import asyncio
import inspect
import time
from pathlib import Path

import pytest
from loopback import Behaviour, serving

import whet
from whet.gate import PairedGate, load_world
from whet.ledger.store import Ledger
from whet.rollout.loop import awaited
from whet.types import Playbook

ROOT = Path(__file__).parents[2]
SUMS = f"{ROOT / 'examples' / 'sums.py'}:Sums"
ORACLE = "baseline:oracle"

QUICK = {"load_environment", "load_model", "open_run", "drive", "ask", "call", "work", "failed", "solved", "user"}
"""Functions that open something or are part of a play: they do not take their time."""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_every_function_that_takes_its_time_has_a_twin_with_the_same_arguments() -> None:
    functions = [name for name in whet.__all__ if inspect.isfunction(getattr(whet, name)) and name not in QUICK]
    assert {"evaluate", "train", "compare", "decide", "resume", "simulate", "check"} == set(functions)
    for name in functions:
        own, twin = getattr(whet, name), getattr(whet, f"a{name}")
        assert inspect.iscoroutinefunction(twin)
        assert inspect.signature(twin) == inspect.signature(own)
        assert f"a{name}" in dir(whet)


def test_a_run_has_the_name_that_it_is_given() -> None:
    result = whet.evaluate(SUMS, ORACLE, n=4, name="mine")
    assert result.folder == Path("runs/mine")
    with pytest.raises(whet.WhetError, match="leads out of runs"):
        whet.evaluate(SUMS, ORACLE, n=4, name="../mine")


def test_two_evaluations_go_on_beside_each_other_and_the_loop_goes_on_too() -> None:
    async def both() -> tuple[list[float], int]:
        beats = 0

        async def beat() -> None:
            nonlocal beats
            while True:
                await asyncio.sleep(0.005)
                beats += 1

        heart = asyncio.create_task(beat())
        with serving(Behaviour(latency=0.02)) as server:
            endpoint = [f"control.target.base_url={server.base_url}", "control.concurrency=2"]
            found = await asyncio.gather(
                *(whet.aevaluate(SUMS, "openai:m", n=8, overrides=endpoint, name=name) for name in ("a", "b"))
            )
        heart.cancel()
        comparison = await whet.acompare("a", "b")
        assert comparison.overall.tasks == 8
        return [result.pass_rate or 0.0 for result in found], beats

    rates, beats = asyncio.run(both())
    assert len(rates) == 2
    assert beats > 5


def test_everything_can_be_awaited() -> None:
    async def story() -> None:
        before = await whet.aevaluate(SUMS, ORACLE, n=12, name="before")
        decided = await whet.adecide(before, Playbook("Count on your fingers."))
        assert not decided.decision.accepted
        assert (await whet.aresume("before")).complete
        assert "12 rollouts" in await whet.arebuild("before")
        assert (await whet.acheck(whet.load_environment(SUMS), samples=4)).passed
        world = load_world(ROOT / "examples" / "worlds" / "four-points.toml")
        report = await whet.asimulate(world, [PairedGate()], 2)
        for result in (before, decided, whet.open_run("before"), report):
            assert len(repr(result)) < 2000

    asyncio.run(story())


def test_a_training_can_be_awaited(tmp_path: Path) -> None:
    config = ROOT / "examples" / "demo.toml"
    data = f"env.name=data:{ROOT / 'examples' / 'orders.csv'}"
    overrides = [data, f"target.model={ORACLE}", "train.tasks=6", "train.select=8", "train.test=4"]
    result = asyncio.run(whet.atrain(config, overrides=overrides, name="t"))
    assert (result.stopped, len(repr(result)) < 2000) == ("", True)
    assert "<pre" in result._repr_html_()


def test_a_cancelled_evaluation_lets_go_and_goes_on_later() -> None:
    async def cancelled(url: str) -> None:
        overrides = [f"control.target.base_url={url}", "control.concurrency=2"]
        task = asyncio.create_task(whet.aevaluate(SUMS, "openai:m", n=100, overrides=overrides, name="r"))
        while not Path("runs/r/ledger.sqlite").exists() or not answered():
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    def answered() -> int:
        with Ledger.unproved(Path("runs/r")) as ledger:
            return ledger.counts()["rollouts"]

    with serving(Behaviour(latency=0.05)) as server:
        asyncio.run(cancelled(server.base_url))
        done = answered()
        assert 0 < done < 100
        result = whet.resume("r", overrides=["control.concurrency=64"])  # nobody holds its lock any more
    assert result.complete


def test_what_is_no_run_is_not_waited_for() -> None:
    async def impatient() -> float:
        began = time.monotonic()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(awaited(lambda: time.sleep(0.6)), 0.05)
        return time.monotonic() - began

    assert asyncio.run(impatient()) < 5.0


def test_a_result_is_short_to_look_at() -> None:
    result = whet.evaluate(SUMS, ORACLE, n=200, name="long")
    assert len(repr(result)) < 2000
    assert "pass_rate=1.000" in repr(result)
    assert "<pre" in result._repr_html_()
    assert len(repr(whet.compare(result, result))) < 2000
