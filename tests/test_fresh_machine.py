"""The fresh machine of `make fresh` has what the README asks for and nothing else."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from fresh_machine import ASKED_FOR, link_tools, main, play, surroundings

MAKEFILE = """
test:
\t@python3 -c 'import os; assert "PYTHONPATH" not in os.environ'
\t@! command -v curl
demo:
\tbwrap --version
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with a Makefile whose demo needs what nobody asked for."""
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "Makefile").write_text(MAKEFILE)
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@localhost"]
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "one"]):
        subprocess.run([*git, *words], check=True)
    return folder


def test_a_step_that_needs_more_than_the_readme_asks_for_is_named(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert play(root, ["demo", "test"], {"PYTHONPATH": "/x"}, new(tmp_path)) == ["demo"]
    said = capsys.readouterr().out
    assert "make demo failed with exit code 2 in " in said
    assert "make test passed" in said


def test_what_is_not_committed_is_not_tried(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(new(tmp_path)))
    (root / "Makefile").write_text("test:\n\tfalse\n")
    assert main(["test"], root) == 0
    said = capsys.readouterr().out
    assert "what is not committed is not tried: 1 files" in said
    assert "make test passed" in said


def test_an_unknown_step_is_refused(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tests"], root) == 2
    assert "there is no step 'tests'" in capsys.readouterr().out


def test_the_path_holds_what_was_asked_for_and_no_sandbox(tmp_path: Path) -> None:
    link_tools(tmp_path / "bin")
    names = {one.name for one in (tmp_path / "bin").iterdir()}
    assert {"python3", *ASKED_FOR} <= names
    assert not names & {"bwrap", "uv", "pip", "curl", "node", "docker"}


def test_only_the_way_to_the_index_is_kept_of_the_environment(tmp_path: Path) -> None:
    settings = tmp_path / ".config" / "pip" / "pip.conf"
    settings.parent.mkdir(parents=True)
    settings.write_text("[global]\n")
    given = {"HOME": str(tmp_path), "PIP_INDEX_URL": "u", "OPENAI_API_KEY": "k", "PYTHONPATH": "p", "MAKEFLAGS": "-j"}
    assert surroundings(given, Path("/bin-of-links"), Path("/home")) == {
        "PIP_INDEX_URL": "u",
        "PIP_CONFIG_FILE": str(settings),
        "PATH": "/bin-of-links",
        "HOME": "/home",
    }


def new(parent: Path) -> Path:
    (parent / "fresh").mkdir()
    return parent / "fresh"
