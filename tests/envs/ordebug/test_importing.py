"""Published directories: every sound problem comes in, every other is refused with a reason, and the rest goes on."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from whet.envs.ordebug.directory import ImportResult, load_directory
from whet.envs.ordebug.edits import apply_all
from whet.envs.ordebug.iis import is_irreducible
from whet.envs.ordebug.solver import feasible, solve
from whet.errors import WhetError

SAMPLE = Path(__file__).parent / "data" / "sample"

FEASIBLE = "NAME m\nROWS\n N OBJ\n L c1\nCOLUMNS\n x OBJ 1 c1 1\nRHS\n RHS c1 4\nENDATA\n"
UNBOUNDED = "NAME m\nROWS\n N OBJ\n L c1\nCOLUMNS\n x OBJ -1\n x c1 -1\nRHS\n RHS c1 4\nENDATA\n"
NOT_A_NUMBER = "NAME m\nROWS\n N OBJ\n L c1\nCOLUMNS\n x OBJ 1 c1 nan\nRHS\n RHS c1 4\nENDATA\n"
INFINITE = "NAME m\nROWS\n N OBJ\n L c1\nCOLUMNS\n x OBJ 1 c1 inf\nRHS\n RHS c1 4\nENDATA\n"


def records() -> list[dict[str, Any]]:
    return list(json.loads((SAMPLE / "dataset.json").read_text())["problems"])


@pytest.fixture(scope="module")
def sample() -> ImportResult:
    return load_directory(SAMPLE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SAMPLE, tmp_path / "bench"))


def changed(folder: Path, change: Callable[[list[Any]], None]) -> ImportResult:
    """The folder with its records changed, loaded."""
    dataset = json.loads((folder / "dataset.json").read_text())
    change(dataset["problems"])
    (folder / "dataset.json").write_text(json.dumps(dataset))
    return load_directory(folder)


def with_model(folder: Path, text: str) -> ImportResult:
    """The folder with the model of its first record replaced."""
    (folder / records()[0]["file"]).write_text(text)
    return load_directory(folder)


def test_every_published_problem_loads(sample: ImportResult) -> None:
    assert (len(sample.instances), sample.refused) == (12, ())


def test_every_published_problem_is_infeasible(sample: ImportResult) -> None:
    assert all(feasible(one.sabotaged) is False for one in sample.instances)


def test_every_subsystem_is_irreducible(sample: ImportResult) -> None:
    assert all(is_irreducible(one.sabotaged, one.certificate.subsystem) for one in sample.instances)


def test_the_reference_repair_restores_the_recorded_objective(sample: ImportResult) -> None:
    for one, record in zip(sample.instances, records(), strict=True):
        assert solve(apply_all(one.sabotaged, one.repair)).objective == pytest.approx(record["original_objective"])


def test_the_repair_is_also_read_from_the_published_sentence(folder: Path, sample: ImportResult) -> None:
    found = changed(folder, lambda problems: [one.pop("checked") for one in problems] and None)
    assert found.refused == ()
    for ours, checked in zip(found.instances, sample.instances, strict=True):
        assert ours.certificate.original_objective == pytest.approx(checked.certificate.original_objective)


def test_the_text_that_names_the_error_is_left_out(sample: ImportResult) -> None:
    assert all(one.prose.text == one.table.text == "" for one in sample.instances)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("this is no model\n", ""),
        (FEASIBLE, "feasible"),
        (UNBOUNDED, "unbounded"),
        (NOT_A_NUMBER, "nan"),
        (INFINITE, "inf"),
    ],
    ids=["unreadable", "feasible", "unbounded", "nan", "infinite"],
)
def test_a_model_that_is_no_puzzle_is_refused_and_the_rest_goes_on(folder: Path, text: str, said: str) -> None:
    found = with_model(folder, text)
    assert len(found.instances) == 11
    (refused,) = found.refused
    assert "lp_typeA_998" in refused.where
    assert said in refused.why
    assert "\n" not in str(refused)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda problems: problems[0].update(file="models/none.mps"), "none.mps"),
        (lambda problems: problems[0].update(file="../../etc/passwd"), "outside the directory"),
        (lambda problems: problems[0].pop("file"), "model_file"),
        (lambda problems: problems[0].update(original_objective=1.0), "the record says 1"),
        (lambda problems: problems[0].update(original_objective="much"), "malformed"),
        (lambda problems: problems[0].update(checked={}, ground_truth_fix="think harder"), "no repair"),
        (lambda problems: problems[0]["checked"].update(reference_repair=[{"op": "pray"}]), "not known"),
        (lambda problems: problems.__setitem__(0, 7), "not an object"),
    ],
    ids=["missing", "outside", "unnamed", "objective", "type", "sentence", "step", "record"],
)
def test_a_record_that_cannot_be_used_is_refused(folder: Path, change: Callable[[list[Any]], None], said: str) -> None:
    found = changed(folder, change)
    assert len(found.instances) == 11
    assert [said in refused.why for refused in found.refused] == [True]


@pytest.mark.parametrize(
    ("off", "gap", "taken"),
    [(0.9e-4, None, True), (-0.9e-4, None, True), (3e-4, None, False), (3e-4, 1e-3, True), (2e-3, 1e-3, False)],
)
def test_the_record_of_a_model_with_whole_numbers_may_be_off_by_the_gap_of_its_solver(
    folder: Path, off: float, gap: float | None, taken: bool
) -> None:
    """A solver stops within a gap of the optimum: what it recorded then is not the optimum."""

    def record(problems: list[Any]) -> None:
        mixed = next(problem for problem in problems if "mip" in problem["problem_id"])
        mixed["original_objective"] *= 1.0 + off
        if gap is not None:
            mixed["mip_gap"] = gap

    found = changed(folder, record)
    assert len(found.instances) == (12 if taken else 11)
    assert all("the record says" in refused.why for refused in found.refused)


def test_the_record_of_a_linear_model_has_no_such_gap(folder: Path) -> None:
    def record(problems: list[Any]) -> None:
        linear = next(problem for problem in problems if "lp" in problem["problem_id"])
        linear["original_objective"] *= 1.0 + 0.9e-4

    assert len(changed(folder, record).refused) == 1


def test_a_folder_without_records_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match=r"no dataset\.json"):
        load_directory(tmp_path)


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="not a directory"):
        load_directory(tmp_path / "nowhere")


@pytest.mark.parametrize("text", ["{", "[]", '{"problems": 3}'])
def test_records_that_cannot_be_read_are_one_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "dataset.json").write_text(text)
    with pytest.raises(WhetError, match=r"dataset\.json"):
        load_directory(tmp_path)


def test_a_folder_with_nothing_usable_says_why(folder: Path) -> None:
    for path in (folder / "models").iterdir():
        path.write_text(FEASIBLE)
    with pytest.raises(WhetError, match="feasible"):
        load_directory(folder)
