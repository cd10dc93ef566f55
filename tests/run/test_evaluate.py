"""Evaluations as functions: on a real embedded model, in a running loop, with objects in place of names."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from builders import Doubles, FromFunction, doubled

import whet
from whet.envs.base import Play, ask
from whet.errors import FaultError, WhetError
from whet.models.base import Request
from whet.types import Fault, Playbook, Task, failed


def test_the_embedded_model_answers_reasoning_gym_tasks(tmp_path: Path) -> None:
    result = whet.evaluate(
        "reasoning-gym/products",
        "embedded:smollm2",
        n=6,
        runs=tmp_path,
        overrides=["env.args.max_digits=1", "env.args.min_digits=1", "target.sampling.max_tokens=16"],
    )
    summary = result.report.summary
    assert (summary.overall.rollouts, summary.faults) == (6, {})
    assert summary.usage.completion_tokens > 0
    assert all(rollout.turns[0].reply.text.strip() for rollout in whet.open_run(result.folder).rollouts())


def test_a_notebook_with_a_running_loop_may_call_it(tmp_path: Path) -> None:
    async def cell() -> float | None:
        return whet.evaluate(Doubles(), FromFunction(doubled), n=10, runs=tmp_path).pass_rate

    assert asyncio.run(cell()) == 1.0


def test_a_result_prints_as_its_table(tmp_path: Path) -> None:
    text = str(whet.evaluate(Doubles(), FromFunction(doubled), n=10, runs=tmp_path))
    assert "1.00 [0.68, 1.00]" in text
    assert "floor: " in text


def test_repeats_give_pass_at_k(tmp_path: Path) -> None:
    def sometimes(request: Request) -> str:
        return doubled(request) if (request.sampling.seed or 0) % 2 else "wrong"

    result = whet.evaluate(Doubles(), FromFunction(sometimes), n=80, repeats=4, runs=tmp_path)
    once, always = (result.report.results[name]["4"]["value"] for name in ("pass_at_k", "pass_hat_k"))
    assert 0.0 < always < (result.pass_rate or 0.0) < once < 1.0


def test_runs_are_compared_on_a_part_of_the_score(tmp_path: Path) -> None:
    """From the ledger: an outcome there knows the parts of its score."""

    class Scored(Doubles):
        def play(self, task: Task) -> Play:
            reply = yield from ask(task.messages)
            return failed("wrong", points=float(len(reply.text)))

    a, b = (
        whet.evaluate(Scored(), FromFunction(doubled), n=20, runs=tmp_path / name, playbook=text)
        for name, text in (("a", Playbook()), ("b", Playbook("More.")))
    )
    found = whet.compare(a, b, metric="points")
    assert (found.overall.a.value, found.overall.difference.value, found.hard.b.value) == (5.0, 0.0, 0.0)
    with pytest.raises(WhetError, match="Did you mean 'points'"):
        whet.compare(a, b, metric="point")


def test_what_is_missing_from_a_comparison_is_bounded(tmp_path: Path) -> None:
    def failing(request: Request) -> str:
        if request.messages[-1].text.split()[2].endswith("7,"):
            raise FaultError(Fault("server_error", "there", "500"))
        return doubled(request)

    flaky, sound = FromFunction(failing), FromFunction(doubled)
    sound.fingerprint = "another"
    a = whet.evaluate(Doubles(), flaky, n=50, runs=tmp_path)
    b = whet.evaluate(Doubles(), sound, n=50, runs=tmp_path)
    found = whet.compare(a, b)
    assert found.bounded == found.missing_a.count > 0
    assert found.verdict == "unclear"
    assert found.missing_words()[-1].startswith(f"{found.bounded} missing rollouts are bounded")


def test_runs_of_different_sizes_are_compared_on_the_tasks_both_were_meant_to_attempt(tmp_path: Path) -> None:
    a = whet.evaluate(Doubles(), FromFunction(lambda _: "wrong"), n=20, runs=tmp_path / "a")
    b = whet.evaluate(Doubles(), FromFunction(doubled), n=40, runs=tmp_path / "b")
    comparison = whet.compare(a, b)
    assert 15 <= comparison.overall.tasks <= 20
    assert comparison.verdict == "better"


def test_runs_on_different_environments_are_not_compared(tmp_path: Path) -> None:
    class Other(Doubles):
        name = "other"

    a = whet.evaluate(Doubles(), FromFunction(doubled), n=10, runs=tmp_path)
    b = whet.evaluate(Other(), FromFunction(doubled), n=10, runs=tmp_path)
    with pytest.raises(WhetError, match="not about the same tasks"):
        whet.compare(a, b)


def test_an_environments_own_rules_are_a_reference_and_no_floor(tmp_path: Path) -> None:
    class Ruled(Doubles):
        def baselines(self) -> dict[str, Any]:
            return {"rules": lambda task, said: task.truth, "always_one": lambda task, said: "1"}

    result = whet.evaluate(Ruled(), FromFunction(lambda _: "wrong"), n=10, runs=tmp_path)
    floor = result.report.floor
    assert floor is not None
    assert floor.best.pass_rate.value == 0.0
    assert {policy.name for policy in floor.policies} == {"empty", "echo", "constant", "always_one"}
    assert [policy.name for policy in floor.references] == ["rules"]
    assert "reference: rules" in str(result)
    assert set(result.report.results["floor"]["references"]) == {"rules"}


def test_the_floor_is_played_on_at_most_two_hundred_tasks(tmp_path: Path) -> None:
    floor = whet.evaluate(Doubles(), FromFunction(doubled), n=210, runs=tmp_path).report.floor
    assert floor is not None
    assert floor.best.pass_rate.tasks == 200
