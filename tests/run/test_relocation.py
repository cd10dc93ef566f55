"""A run is made from what it keeps: it is shown, continued and rebuilt from anywhere, moved, copied, or read-only."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_line import Said, Whet
from nobody import start_as_nobody

import whet as api
from whet.errors import WhetError
from whet.rollout import sources
from whet.run.compose import Given, build_environment
from whet.run.kinds import load_any_config

EXAMPLES = Path(__file__).parents[2] / "examples"
HALF = ("--set", "control.budget.calls=5")
MORE = ("--set", "control.budget.calls=500")
STOPPED = 3
COLUMNS = ("-a", "answer=queue", "-a", "prompt={text}")

AGENT = '''"""Answers sums; a helper beside it is part of what it is."""


def answer(request):
    left, sign, right = request.messages[-1].text.removeprefix("What is ").split("?")[0].split()
    return str(int(left) + int(right) if sign == "+" else int(left) - int(right))
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with an environment, a policy and a table of examples, all named by relative paths."""
    folder = tmp_path / "project"
    (folder / "code").mkdir(parents=True)
    shutil.copy(EXAMPLES / "sums.py", folder / "code")
    shutil.copy(EXAMPLES / "tickets.csv", folder)
    (folder / "code" / "agent.py").write_text(AGENT)
    return folder


def begin(whet: Whet, project: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> Said:
    """Begins an evaluation of a file's environment in the project, and stops it half-way."""
    monkeypatch.chdir(project)
    said = whet("eval", "code/sums.py:Sums", "-m", "scripted:code/agent.py:answer", "-n", "12", "--run", "r", *words)
    assert said.code in (0, STOPPED), said.err
    return said


def commands(whet: Whet, run: Path, out: Path) -> None:
    """Everything that is said about a run works on it."""
    for words in (("runs", "show", run), ("report", run, "-o", out), ("verify", run)):
        said = whet(*words)
        assert said.code == 0, (words, said.err, said.out)
        assert said.err == ""


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Everybody may read a folder, and nobody but root, whom modes do not hold, may write in it."""
    places = [folder, *folder.rglob("*")]
    for place in places:
        place.chmod(0o555 if place.is_dir() else 0o444)
    try:
        yield
    finally:
        for place in places:
            place.chmod(0o755 if place.is_dir() else 0o644)


@pytest.mark.parametrize("how", ["elsewhere", "moved", "copied", "alone"])
def test_a_run_goes_on_from_anywhere(
    how: str, whet: Whet, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(whet, project, monkeypatch, *HALF)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    run = project / "runs" / "r"
    if how == "moved":
        run = project.rename(tmp_path / "renamed") / "runs" / "r"
    elif how == "copied":
        run = Path(shutil.copytree(project, tmp_path / "copy")) / "runs" / "r"
    elif how == "alone":  # nothing of the project is left but the run
        run = Path(shutil.copytree(run, tmp_path / "alone" / "r"))
        shutil.rmtree(project)
    monkeypatch.chdir(elsewhere)
    said = whet("resume", run, *MORE)
    assert said.code == 0, said.err
    assert "1.00 [" in said.out
    assert said.err == ""
    assert whet("rebuild", run).code == 0
    commands(whet, run, elsewhere / "report.html")
    assert list(elsewhere.iterdir()) == [elsewhere / "report.html"]


@pytest.mark.filterwarnings("default")
def test_a_source_that_has_changed_is_named_and_the_copy_goes_on(
    whet: Whet, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(whet, project, monkeypatch, *HALF)
    file = project / "code" / "sums.py"
    file.write_text(file.read_text().replace("What is", "How much is"))
    said = whet("resume", "r", *MORE)
    assert said.code == 0
    assert "note: code/sums.py has changed since runs/r began, which goes on with its own copy" in said.err
    assert "What is" in whet("runs", "show", "r", "--task", "select/" + first_task()).out


def first_task() -> str:
    return str(api.open_run("r").tasks()[0])


def test_begun_again_with_a_changed_source_the_file_is_named(
    whet: Whet, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(whet, project, monkeypatch)
    file = project / "code" / "sums.py"
    file.write_text(file.read_text().replace("What is", "How much is"))
    said = whet("eval", "code/sums.py:Sums", "-m", "scripted:code/agent.py:answer", "-n", "12", "--run", "r")
    assert said.code == 2
    assert "holds another run (code/sums.py has changed since)" in said.err


def test_a_copy_that_was_tampered_with_is_refused(whet: Whet, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(whet, project, monkeypatch, *HALF)
    kept = project / "runs" / "r" / "sources" / "0" / "sums.py"
    kept.write_text(kept.read_text().replace("What is", "How much is"))
    said = whet("resume", "r", *MORE)
    assert said.code == 2
    assert "sources/0/sums.py: this copy of code/sums.py is not what the run kept" in said.err


def test_a_read_only_copy_is_shown_and_reported(
    whet: Whet, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(whet, project, monkeypatch)
    copy = Path(shutil.copytree(project / "runs" / "r", tmp_path / "archive" / "r"))
    shutil.rmtree(project)
    monkeypatch.chdir(tmp_path)
    before = {file: file.read_bytes() for file in copy.rglob("*") if file.is_file()}
    with read_only(copy):
        commands(whet, copy, tmp_path / "report.html")
        for words in (("runs", "show", copy), ("report", copy)):  # root writes whatever the modes say
            asked = [sys.executable, "-m", "whet", *map(str, words)]
            ordinary = start_as_nobody(asked, copy, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/")
            out, err = ordinary.communicate()
            assert (ordinary.returncode, "1.00 [" in out) == ((0, True) if words[0] == "runs" else (2, False)), err
        assert "report.html: cannot be written" in err
        assert "-o" in err
    assert {file: file.read_bytes() for file in copy.rglob("*") if file.is_file()} == before


def test_a_training_is_rebuilt_without_its_project(
    whet: Whet, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    assert whet("init", "t", "--from", "tickets.csv").code == 0
    monkeypatch.chdir("t")
    said = whet("train", "train.toml", "--run", "r", "--set", "target.model=baseline:oracle")
    assert said.code == 0, said.err
    run = Path(shutil.move("runs/r", tmp_path / "r"))
    monkeypatch.chdir(tmp_path)
    shutil.rmtree(project)
    said = whet("rebuild", run)
    assert said.code == 0, said.err
    commands(whet, run, tmp_path / "report.html")


def test_a_candidate_is_brought_to_the_gate_from_anywhere(
    whet: Whet, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(whet, project, monkeypatch)
    run = Path(shutil.move("runs/r", tmp_path / "r"))
    monkeypatch.chdir(tmp_path)
    shutil.rmtree(project)
    (tmp_path / "c.md").write_text("Count on your fingers.")
    said = whet("gate", run, "--candidate", "c.md")
    assert said.code == 0, said.err
    (child,) = (run / "gates").iterdir()
    assert (child / "sources" / "0" / "sums.py").is_file()
    assert whet("resume", child).code == 0


def test_an_environment_from_the_copy_is_the_same_environment(
    whet: Whet, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package with a file beside, and a check in code: by content, wherever they lie."""
    monkeypatch.chdir(project)
    package = project / "mine"
    package.mkdir()
    shutil.copy(EXAMPLES / "sums.py", package / "env.py")
    (package / "__init__.py").write_text("")
    (package / "words.txt").write_text("one")
    (project / "grade.py").write_text("def grade(said, truth):\n    return said == truth\n")
    cases = {
        "mine/env.py:Sums": (),
        "data:tickets.csv": (
            "-a",
            "answer=queue",
            "-a",
            "prompt={text}",
            "-a",
            "check=python",
            "-a",
            "function=grade.py:grade",
        ),
    }
    for number, (address, args) in enumerate(cases.items()):
        model = ("-m", "baseline:oracle", "-n", "3", "--run", f"r{number}")
        assert whet("eval", address, *model, *args).code == 0
        run = project / "runs" / f"r{number}"
        config = load_any_config(run / "config.toml")
        here = build_environment(config, Given()).fingerprint
        monkeypatch.chdir(project.parent)
        assert build_environment(config, Given(run=run)).fingerprint == here
        monkeypatch.chdir(project)


READER = '''"""Tasks from a file and a folder that arguments name."""
from pathlib import Path

import whet


class Reader(whet.Environment):
    name = "reader"

    def __init__(self, words: str, folder: str) -> None:
        self._words = [*Path(words).read_text().split(), *(file.read_text() for file in sorted(Path(folder).iterdir()))]

    def size(self, split):
        return len(self._words) // 3

    def label(self, split, index):
        return whet.Label("word")

    def task(self, split, index):
        word = self._words[3 * index + ("train", "select", "test").index(split)]
        return whet.Task(split, index, whet.Label("word"), (whet.user(f"Spell {word}"),), word)

    def play(self, task):
        reply = yield from whet.ask(task.messages)
        return whet.solved() if reply.text.endswith(task.truth) else whet.failed("wrong")
'''


def test_files_and_folders_that_arguments_name_come_along(
    whet: Whet, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    (project / "reader.py").write_text(READER)
    (project / "words.txt").write_text("ash birch cedar")
    (project / "more").mkdir()
    for word in ("elm", "fir", "gum"):
        (project / "more" / f"{word}.txt").write_text(word)
    args = ("-a", "words=words.txt", "-a", "folder=more/", "-m", "baseline:echo", "--run", "r", *HALF)
    said = whet("eval", "reader.py:Reader", *args, "--set", "control.budget.calls=1")
    assert said.code in (0, STOPPED), said.err
    run = Path(shutil.move("runs/r", tmp_path / "r"))
    shutil.rmtree(project)
    monkeypatch.chdir(tmp_path)
    said = whet("resume", run, *MORE)
    assert said.code == 0, said.err


def test_what_is_too_large_is_named_by_content(
    whet: Whet, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "MOST", 1000)
    monkeypatch.chdir(project)
    args = ("-m", "baseline:oracle", "-n", "4", "--run", "r", *COLUMNS)
    said = whet("eval", "data:tickets.csv", *args)
    assert said.code == 0, said.err
    assert not (project / "runs" / "r" / "sources").exists()
    moved = project.rename(tmp_path / "moved")
    monkeypatch.chdir(tmp_path)
    assert whet("resume", moved / "runs" / "r").code == 0  # found beside the run
    (moved / "tickets.csv").write_text("other")
    said = whet("resume", moved / "runs" / "r")
    assert said.code == 2
    assert "tickets.csv has changed and was too large to be kept with the run" in said.err
    (moved / "tickets.csv").unlink()
    assert "tickets.csv is not to be found" in whet("resume", moved / "runs" / "r").err


def test_an_index_that_cannot_be_read_is_one_line(whet: Whet, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(whet, project, monkeypatch)
    (project / "runs" / "r" / "sources.json").write_text("{")
    said = whet("resume", "r")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "sources.json: cannot be read" in said.err
    with pytest.raises(WhetError):
        api.resume("r")


def test_a_run_names_no_place_of_the_machine_that_it_needs(
    whet: Whet, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a source was is a hint: with the copies, nothing outside the folder is opened."""
    begin(whet, project, monkeypatch, *HALF)
    run = Path(shutil.copytree(project / "runs" / "r", tmp_path / "r"))
    project.rename(tmp_path / "gone")
    monkeypatch.chdir("/")
    assert whet("resume", run, *MORE).code == 0
