"""`check` passes environments that keep their promises and names the promise that is broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from whet.envs.base import call
from whet.envs.registry import load_environment
from whet.errors import FaultError
from whet.rollout.workbench import Workbench
from whet.run.contract.check import CheckReport, Finding, check
from whet.sandbox.jobs import run_python
from whet.types import Work, WorkResult

BROKEN = str(Path(__file__).with_name("broken.py"))
SUMS = str(Path(__file__).parents[2] / "examples" / "sums.py")


def report(address: str, samples: int = 12) -> CheckReport:
    return check(load_environment(address), samples=samples, address=address)


def finding(about: CheckReport, name: str) -> Finding:
    return next(one for one in about.findings if one.name == name)


@pytest.mark.parametrize("address", [f"{SUMS}:Sums", f"{BROKEN}:Sound", "reasoning-gym/ransom_note+acre"])
def test_a_sound_environment_passes(address: str) -> None:
    about = report(address)
    assert [one for one in about.findings if one.status == "fail"] == []
    assert about.passed


@pytest.mark.parametrize(
    ("name", "broken", "said"),
    [
        ("LeaksTruth", "truth", "what is asked in turn 1 depends on the truth"),
        ("LeaksTruthLater", "truth", "what is asked in turn 2 depends on the truth"),
        ("DependsOnHashOrder", "same bytes", "differs in another process"),
        ("DependsOnOrder", "same bytes", "differs when tasks are built in another order"),
        ("OverlappingSplits", "splits", "train/0 and select/0 ask the same"),
        ("GraderRaises", "grading", "grading raised ValueError"),
        ("ScoresTooMuch", "grading", "soft is 1.5"),
        ("GivesNoReason", "grading", "there is no reason"),
        ("WrongLabels", "labels", "label() says"),
        ("OracleFails", "oracle", "the oracle gets 0 (wrong)"),
        ("UsesGlobalRandom", "global state", "draw from the global random generators"),
        ("TruthIsNotData", "same bytes", "not JSON serializable"),
        ("TaskRaises", "tasks", "task() raised KeyError"),
    ],
)
def test_a_broken_promise_fails_under_its_own_name(name: str, broken: str, said: str) -> None:
    about = report(f"{BROKEN}:{name}")
    assert not about.passed
    assert said in finding(about, broken).summary


def test_a_lenient_scorer_is_a_warning_that_names_the_policy() -> None:
    floors = finding(report(f"{BROKEN}:AcceptsAnything"), "floors")
    assert floors.status == "warn"
    assert "a policy that repeats the question scores 1.00" in floors.summary


def test_without_an_address_no_other_process_is_asked_and_the_report_says_so() -> None:
    about = check(load_environment(f"{BROKEN}:Sound"), samples=6)
    assert finding(about, "same bytes").status == "warn"


def test_another_seed_is_another_sample() -> None:
    env = load_environment(f"{BROKEN}:DependsOnOrder")
    assert check(env, samples=6, seed=1).findings != check(env, samples=6, seed=2).findings


def test_works_are_done_in_place() -> None:
    with Workbench() as perform:
        assert perform(call("builtins:dict", a=1)) == WorkResult({"a": 1})
        assert perform(run_python("print(6 * 7)")).value["stdout"] == "42\n"
        with pytest.raises(FaultError, match="nothing here performs works of this kind"):
            perform(Work("solver", {}))
