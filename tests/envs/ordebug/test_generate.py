"""Directories of problems: complete, readable, the same bytes every time."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from whet.envs.ordebug.certificate import verify
from whet.envs.ordebug.directory import load_directory
from whet.envs.ordebug.generate import SUMMARY, generate_all
from whet.envs.ordebug.ladder import CELLS, cell
from whet.errors import WhetError

FEW = (cell("A", "easy"), cell("D", "easy"))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def written(folder: Path, **options: object) -> dict[str, bytes]:
    generate_all(folder, 2, 11, **{"cells": FEW, "processes": 1, **options})  # type: ignore[arg-type]
    return contents(folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("made")
    written(made)
    return made


def test_two_processes_write_the_same_bytes_as_one(folder: Path, tmp_path: Path) -> None:
    assert written(tmp_path / "again", processes=2) == contents(folder)


def test_another_seed_writes_other_problems(folder: Path, tmp_path: Path) -> None:
    generate_all(tmp_path, 1, 12, cells=FEW[:1], processes=1)
    ids = {path.stem for path in tmp_path.rglob("*.mps")}
    assert not ids & {path.stem for path in folder.rglob("*.mps")}


def test_a_directory_has_the_published_form(folder: Path) -> None:
    dataset = orjson.loads((folder / "type_A_easy" / "dataset.json").read_bytes())
    assert dataset["num_problems"] == len(dataset["problems"]) == 2
    for record in dataset["problems"]:
        assert (folder / "type_A_easy" / record["model_file"]).is_file()
        assert record["error_type"] == "A"
        assert record["target_name"].split(",")[0] in record["iis_constraints"]
        assert record["iis_size"] >= len(record["iis_constraints"])


def test_no_identifier_tells_type_or_difficulty(folder: Path) -> None:
    for path in folder.rglob("*.mps"):
        assert len(path.stem) == 12
        assert int(path.stem, 16) >= 0


def test_what_is_written_is_read_back_and_verifies(folder: Path) -> None:
    found = load_directory(folder)
    assert (len(found.instances), found.refused) == (4, ())
    for instance in found.instances:
        assert verify(instance) == []


def test_the_summary_counts_every_cell(folder: Path) -> None:
    summary = orjson.loads((folder / SUMMARY).read_bytes())
    assert summary["problems"] == 4
    assert {name: cell["problems"] for name, cell in summary["cells"].items()} == {"type_A_easy": 2, "type_D_easy": 2}


def test_there_are_twelve_cells() -> None:
    assert len({cell.name for cell in CELLS}) == 12


def test_progress_is_told_for_each_problem(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    generate_all(tmp_path, 2, 11, cells=FEW[1:], processes=1, progress=lambda done, of: told.append((done, of)))
    assert told == [(1, 2), (2, 2)]


def test_a_directory_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep")
    with pytest.raises(WhetError, match="not empty"):
        generate_all(tmp_path, 1, 1)


def test_no_problems_is_no_request(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="1 or more"):
        generate_all(tmp_path, 0, 1)
