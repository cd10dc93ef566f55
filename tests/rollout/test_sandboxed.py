"""Works that run untrusted code go through the sandbox, which the first of them opens."""

from __future__ import annotations

from pathlib import Path

from builders import Doubles, FromFunction, doubled
from driving import TEN, outcomes, run

from whet.envs.base import Play, work
from whet.sandbox.jobs import Limits, run_python
from whet.types import Task, failed, solved


class Computed(Doubles):
    """The answer is what a program prints."""

    code = "print(2 * 21)"

    def play(self, task: Task) -> Play:
        result = yield from work(run_python(self.code, limits=Limits(wall=2.0)))
        if result.error:
            return failed(result.error)
        said = result.value["stdout"].strip()
        return solved() if said == "42" else failed("wrong", said)


class Endless(Computed):
    code = "while True: pass"


def test_a_play_reads_what_its_program_printed(tmp_path: Path) -> None:
    run(tmp_path / "r", FromFunction(doubled), TEN[:4], env=Computed())
    assert [one.reason for one in outcomes(tmp_path / "r")] == ["correct"] * 4


def test_a_program_that_never_ends_is_a_score_and_the_rest_goes_on(tmp_path: Path) -> None:
    run(tmp_path / "r", FromFunction(doubled), TEN[:2], env=Endless())
    assert [one.reason for one in outcomes(tmp_path / "r")] == ["deadline"] * 2
