"""A package for verifiers: whole, with its data inside, and refused where it would be another environment."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import orjson
import pytest

from whet.apps.interop.exhibit import RECORD, Exhibit
from whet.apps.interop.package import export_verifiers
from whet.envs.registry import load_environment
from whet.envs.verifiers.worker.desk import line_of
from whet.errors import WhetError

SUMS = f"{Path(__file__).parents[2]}/examples/sums.py:Sums"


def test_a_package_holds_what_it_is_made_of(tmp_path: Path) -> None:
    package = export_verifiers(SUMS, tmp_path / "out", {})
    assert package.lines == ("0.3", "0.4")
    home = package.folder / package.module
    assert (home / "source" / "sums.py").is_file()
    assert "verifiers" in (package.folder / "pyproject.toml").read_text()
    assert Exhibit.read(home).env.fingerprint == load_environment(SUMS).fingerprint


def test_rows_of_a_file_travel_with_it(tmp_path: Path) -> None:
    with (tmp_path / "rows.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("question", "answer"), *((f"word {n} of {n * n}?", f"w{n}") for n in range(60))])
    package = export_verifiers(f"data:{tmp_path / 'rows.csv'}", tmp_path / "out", {}, "my_rows")
    exhibit = Exhibit.read(package.folder / "my_rows")
    (tmp_path / "rows.csv").unlink()
    split, index = next(iter(exhibit.tickets("train", 1)))
    seat = exhibit.begin(exhibit.env.task(split, index))
    seat.hear(str(exhibit.env.task(split, index).truth))
    assert seat.score is not None


def test_a_row_tells_no_truth(tmp_path: Path) -> None:
    exhibit = Exhibit.read(export_verifiers(SUMS, tmp_path / "out", {}).folder / "whet_sums")
    row = exhibit.row("train", 0)
    assert str(exhibit.env.task("train", 0).truth) not in {str(value) for value in row.values()}
    with pytest.raises(WhetError, match="not sealed"):
        exhibit.tickets("test", 1)


def test_a_changed_environment_is_refused(tmp_path: Path) -> None:
    package = export_verifiers(SUMS, tmp_path / "out", {})
    source = package.folder / package.module / "source" / "sums.py"
    source.write_text(source.read_text().replace("left + right", "left * right"))
    with pytest.raises(WhetError, match="this package was made of"):
        _ = Exhibit.read(source.parents[1]).env


@pytest.mark.parametrize(
    ("name", "told"), [("null", "cannot be the name"), ("my env", "cannot be the name"), ("", "is there already")]
)
def test_what_cannot_be_written_leaves_nothing(tmp_path: Path, name: str, told: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("mine")
    with pytest.raises(WhetError, match=told):
        export_verifiers(SUMS, tmp_path / "out", {}, name)
    assert [file.name for file in tmp_path.rglob("*")] == ["out", "mine"]


def test_the_record_names_no_place_of_this_machine(tmp_path: Path) -> None:
    package = export_verifiers(SUMS, tmp_path / "out", {})
    assert orjson.loads((package.folder / package.module / RECORD).read_bytes())["address"].startswith("{here}/")
    assert all(str(Path(SUMS).parent) not in file.read_text() for file in package.folder.rglob("*") if file.is_file())


AWKWARD = """
from whet.envs.base import Environment, ask
from whet.types import Image, Label, Task, failed, solved, user


class Base(Environment):
    role = "target"

    def size(self, split):
        return 3

    def label(self, split, index):
        return Label("any")

    def task(self, split, index):
        return Task(split, index, self.label(split, index), (user("Say yes."),), "yes")

    def play(self, task):
        for _ in range(self.turns):
            reply = yield from ask(task.messages, role=self.role)
            if reply.text == "yes":
                return solved()
        return failed("wrong")


class Again(Base):
    name, turns = "again", 2


class Once(Base):
    name, turns = "once", 1


class Judged(Base):
    name, turns, role = "judged", 1, "judge"


class Shows(Base):
    name, turns = "shows", 1

    def play(self, task):
        reply = yield from ask((user(("Say yes.", Image("0" * 64, "image/png"))),))
        return solved() if reply.text == "yes" else failed("wrong")
"""


@pytest.mark.parametrize(("kind", "lines"), [("Once", ("0.3", "0.4")), ("Again", ("0.3",))])
def test_a_play_that_asks_again_is_not_said_to_be_for_a_line_that_asks_once(
    tmp_path: Path, kind: str, lines: tuple[str, ...]
) -> None:
    (tmp_path / "awkward.py").write_text(AWKWARD)
    package = export_verifiers(f"{tmp_path}/awkward.py:{kind}", tmp_path / "out", {})
    assert package.lines == lines
    assert ("asks more than once" in (package.folder / "README.md").read_text()) == ("0.4" not in lines)


@pytest.mark.parametrize(
    ("kind", "told"),
    [("Shows", "shows images, and only text"), ("Judged", "cannot be played elsewhere: it asks a judge")],
)
def test_what_no_line_can_play_is_refused_and_leaves_nothing(tmp_path: Path, kind: str, told: str) -> None:
    (tmp_path / "awkward.py").write_text(AWKWARD)
    with pytest.raises(WhetError, match=told) as problem:
        export_verifiers(f"{tmp_path}/awkward.py:{kind}", tmp_path / "out", {})
    assert "\n" not in str(problem.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("address", "lines"),
    [("ordebug/tiny_near", ("0.3",)), ("groupqc", ("0.3", "0.4")), ("soup@1", ("0.3",))],
)
def test_our_own_environments_say_what_they_are_for(tmp_path: Path, address: str, lines: tuple[str, ...]) -> None:
    assert export_verifiers(address, tmp_path / "out", {}).lines == lines


def test_photos_of_ours_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="shows images"):
        export_verifiers("groupqc/photo", tmp_path / "out", {})


@pytest.mark.parametrize(
    ("version", "line"),
    [("0.1.13", None), ("0.1.14", "v0"), ("0.3.1", "v0"), ("0.4.0", "v1"), ("0.5.0", None), ("1.0", None), ("x", None)],
)
def test_a_version_is_of_one_line_or_of_none(version: str, line: str | None) -> None:
    assert line_of(version) == line


def test_an_interpreter_without_the_library_is_one_line() -> None:
    with pytest.raises(WhetError, match=r"verifiers is not installed for|neither of the lines") as problem:
        load_environment("verifiers:no_such_env", {"python": sys.executable})
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize(
    ("address", "python", "told"),
    [("verifiers:x", "/no/such/python", "cannot be started"), ("verifiers", "", "needs the module")],
)
def test_what_cannot_be_loaded_is_one_line(address: str, python: str, told: str) -> None:
    with pytest.raises(WhetError, match=told):
        load_environment(address, {"python": python})


FALSE_LIBRARY = """
import importlib.metadata, sys
importlib.metadata.version = lambda name: "0.5.2"
"""


def test_a_version_of_neither_line_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(FALSE_LIBRARY)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(WhetError, match=r"verifiers 0\.5\.2 is neither of the lines known here"):
        load_environment("verifiers:anything", {"python": sys.executable, "tasks": 7})
