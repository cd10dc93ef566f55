"""The register of openings: a test that is looked at again is claimed more carefully, whatever run looks."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from builders import Doubles, FromFunction, doubled
from reflact_world import Kinds, config, trained
from reflact_world import target as kinds_target

import whet
from whet.envs.registry import load_environment
from whet.errors import FaultError, WhetError
from whet.evals.compare import Comparison
from whet.keys import digest
from whet.models.base import Request
from whet.run.catalog import list_runs
from whet.run.eval_runs import EvalRuns
from whet.run.evaluate import EvalResult
from whet.run.register import FILE, KEPT, Register, contents_of, level_of
from whet.run.sealed_test import BEST
from whet.run.train_runs import replay, training_page
from whet.types import Fault, Playbook

TASKS = [f"{number:012x}" for number in range(40)]


def test_a_test_is_counted_by_what_it_asks_and_a_run_once(tmp_path: Path) -> None:
    register = Register(tmp_path)
    assert register.open_test("a", "first", TASKS).number == 1
    assert register.open_test("a", "first", TASKS).number == 1
    assert register.open_test("b", "second", TASKS[10:]).before == ("first",)
    assert register.open_test("c", "elsewhere", ["f" * 12]).number == 1
    assert register.openings(TASKS) == 2


def test_a_few_tasks_of_a_large_test_are_the_same_test(tmp_path: Path) -> None:
    whole = [digest(number)[:12] for number in range(10_000)]
    register = Register(tmp_path)
    register.open_test("a", "whole", sorted(whole)[:KEPT])
    for start in range(0, 5000, 1000):
        assert register.open_test(f"few-{start}", "few", sorted(whole[start : start + 20])).before[0] == "whole"
    assert (
        register.open_test("b", "other", sorted(digest(-number)[:12] for number in range(1, 6000))[:KEPT]).number == 1
    )


def test_the_same_rows_in_another_prompt_are_the_same_test(tmp_path: Path) -> None:
    data = tmp_path / "rows.csv"
    rows = "".join(f"what is {number} times {number + 3},{number * (number + 3)}\n" for number in range(40))
    data.write_text(f"question,answer\n{rows}")
    plain, worded = (
        load_environment(f"data:{data}", {"check": "exact", "prompt": prompt})
        for prompt in ("{question}", "Think first. {question}?")
    )
    assert contents_of(plain, "test", range(5)) == contents_of(worded, "test", range(5))
    assert contents_of(plain, "test", range(5)) != contents_of(plain, "select", range(5))


def test_all_later_claims_together_are_wrong_no_more_often_than_the_first() -> None:
    assert level_of(1) == 0.95
    assert [round(1 - level_of(k), 4) for k in (2, 3, 4)] == [0.025, 0.0083, 0.0042]
    assert sum(1 - level_of(k) for k in range(2, 5000)) <= 0.05 + 1e-9


def test_what_a_kill_left_of_a_line_is_cut_off(tmp_path: Path) -> None:
    register = Register(tmp_path)
    register.open_test("a", "first", TASKS)
    with register.path.open("ab") as file:
        file.write(b'{"what": "opened", "ru')
    assert register.open_test("b", "second", TASKS).number == 2
    assert [json.loads(line)["run"] for line in register.path.read_bytes().splitlines()] == ["a", "b"]


def test_a_damaged_register_is_refused_in_a_line(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"nonsense\n")
    with pytest.raises(WhetError, match=r"register of openings is damaged .* restore it from a copy"):
        Register(tmp_path).openings(TASKS)


_OPENER = """
import sys
from pathlib import Path
from whet.run.register import Register
for at in range(5):
    print(Register(Path(sys.argv[1])).open_test(f"{sys.argv[2]}-{at}", "run", sys.argv[3:]).number)
"""


def test_processes_that_open_at_once_get_numbers_of_their_own(tmp_path: Path) -> None:
    """Processes of their own: a copy of this one would hold the locks of threads that it does not have."""
    processes = [
        subprocess.Popen([sys.executable, "-c", _OPENER, tmp_path, str(who), *TASKS], stdout=subprocess.PIPE, text=True)
        for who in range(4)
    ]
    told = [process.communicate(timeout=60)[0] for process in processes]
    assert sorted(int(number) for lines in told for number in lines.split()) == list(range(1, 21))


# ------------------------------------------------------------------------------------------- evaluations


def opened(runs: Path, fingerprint: str) -> EvalResult:
    model = FromFunction(doubled)
    model.fingerprint = fingerprint
    return whet.evaluate(Doubles(), model, n=20, split="test", runs=runs)


def test_an_evaluation_on_test_is_an_opening_and_the_second_says_so(tmp_path: Path) -> None:
    first, second = opened(tmp_path, "one"), opened(tmp_path, "two")
    assert (first.report.caveats.opening, first.report.results["notes"]) == (1, [])
    assert second.report.results["opening"] == 2
    assert second.report.summary.level == 0.975
    assert "opening 2 of this test (before it: " in str(second)
    assert "[97.5 %]" in str(second)
    assert {entry.on for entry in list_runs(tmp_path)} == {"test, opening 1", "test, opening 2"}


def test_the_page_of_a_claim_says_that_its_test_was_opened_since(tmp_path: Path) -> None:
    from rich.console import Console

    first = opened(tmp_path, "one")
    opened(tmp_path, "two")
    page = Console(width=200, no_color=True)
    with page.capture() as shown:
        page.print(EvalRuns().show(first.folder))
    said = " ".join(shown.get().split())  # a long path breaks the line elsewhere
    assert "opened 2 times by now" in said
    assert "97.5 %" in said
    moved = first.folder.rename(tmp_path / "moved")
    with page.capture() as shown:
        page.print(EvalRuns().show(moved))
    assert "opened 2 times by now" in " ".join(shown.get().split())


def test_the_same_run_again_is_no_new_opening(tmp_path: Path) -> None:
    assert [opened(tmp_path, "one").report.caveats.opening for _ in range(3)] == [1, 1, 1]
    assert len((tmp_path / FILE).read_bytes().splitlines()) == 1


def test_the_same_config_in_a_new_folder_draws_anew_and_is_a_new_opening(tmp_path: Path) -> None:
    first = opened(tmp_path, "one")
    first.folder.rename(tmp_path / "aside")
    assert opened(tmp_path, "one").report.caveats.opening == 1  # the name is known; nothing tells a moved run from it
    trained(tmp_path / "a", short(0))  # type: ignore[arg-type]
    assert trained(tmp_path / "b", short(0)).summary["test_opening"] == 2  # type: ignore[arg-type]


def test_an_opening_is_on_record_before_the_first_task_is_asked(tmp_path: Path) -> None:
    seen: list[int] = []

    def answer(request: Request) -> str:
        seen.append(Register(tmp_path).openings(contents_of(Doubles(), "test", range(1000))))
        return doubled(request)

    whet.evaluate(Doubles(), FromFunction(answer), n=4, split="test", runs=tmp_path)
    assert set(seen) == {1}


def test_a_comparison_on_test_holds_at_the_level_of_its_later_opening(tmp_path: Path) -> None:
    found = whet.compare(opened(tmp_path, "one"), opened(tmp_path, "two"))
    assert found.overall.difference.interval.level == 0.975
    assert any("opening 2 of this test" in note for note in found.notes)
    assert "(97.5 %)" in found.words()


def test_select_is_no_opening(tmp_path: Path) -> None:
    whet.evaluate(Doubles(), FromFunction(doubled), n=4, runs=tmp_path)
    assert not (tmp_path / FILE).exists()


# ------------------------------------------------------------------------------------------- trainings


def short(seed: int) -> object:
    return config(train={"epochs": 1, "seed": seed}, slow={"use": False}, meta={"use": False})


def test_seeds_that_open_the_same_test_claim_more_and_more_carefully(tmp_path: Path) -> None:
    runs = [trained(tmp_path / f"seed{seed}", short(seed)) for seed in (1, 2, 0)]  # type: ignore[arg-type]
    assert [run.summary["test_opening"] for run in runs] == [1, 2, 3]
    assert runs[2].summary["test_notes"][0].startswith("opening 3 of this test (before it: seed1, seed2)")
    assert runs[2].tested is not None
    assert runs[2].tested.summaries[BEST].level == pytest.approx(1 - 0.05 / 6)
    gain = runs[2].tested.gains[BEST]
    assert isinstance(gain, Comparison)
    assert gain.overall.difference.interval.level == pytest.approx(1 - 0.05 / 6)
    assert "opening 3 of this test" in "\n".join(str(part) for part in runs[2].page().parts)
    again = replay(runs[2].folder, whet_given())
    assert again.summary["test_opening"] == 3
    assert len([line for line in (tmp_path / FILE).read_bytes().splitlines() if b'"opened"' in line]) == 3


def whet_given() -> object:
    from whet.run.compose import Given

    optimiser = FromFunction(lambda _: "")
    optimiser.fingerprint = "optimiser-1"
    return Given(Kinds(), FromFunction(kinds_target), None, optimiser)


def test_a_playbook_that_was_chosen_on_select_says_so_when_it_is_measured_there(tmp_path: Path) -> None:
    run = trained(tmp_path / "run", short(0))  # type: ignore[arg-type]
    assert run.best != Playbook()
    model = FromFunction(kinds_target)
    best = run.folder / "best_playbook.json"
    result = whet.evaluate(Kinds(), model, n=24, playbook=best, runs=tmp_path)
    assert "the playbook was chosen on these select tasks by run: its score here is inflated" in str(result)
    assert result.report.results["notes"] == list(result.report.caveats.notes)
    elsewhere = whet.evaluate(Kinds(), model, n=24, playbook=best, runs=tmp_path / "other")
    assert elsewhere.report.caveats.chosen == "run"
    plain = whet.evaluate(Kinds(), model, n=24, runs=tmp_path)
    assert plain.report.caveats.notes == ()
    found = whet.compare(plain, result)
    assert any("chosen on these select tasks" in note for note in found.notes)
    assert "select, chosen on it" in {entry.on for entry in list_runs(tmp_path)}
    assert "inflated" in run.summary["selection_says"]


def test_a_test_task_that_always_faults_is_bounded_and_does_not_stop_the_end(tmp_path: Path) -> None:
    def failing(request: Request) -> str:
        if "test-7:" in request.messages[-1].text:
            raise FaultError(Fault("server_error", "there", "500"))
        return kinds_target(request)

    run = trained(tmp_path / "run", short(0), target=failing)  # type: ignore[arg-type]
    assert run.stopped == ""
    assert run.tested is not None
    gain = run.tested.gains[BEST]
    assert isinstance(gain, Comparison)
    assert (gain.dropped, gain.overall.tasks, gain.verdict) == ((("test", 7),), 39, "better")
    assert "left out for both" in run.summary["test_delta_missing"][-1]
    assert training_page(run.folder) is not None
