"""Commands that installed packages bring: found, listed and called, and none of them can break the others."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Said, Whet

COMMANDS = """
import typer

app = typer.Typer(rich_markup_mode=None)


@app.command("greet")
def greet(name: str) -> None:
    '''Say hello.'''
    typer.echo(f"hello, {name}")
"""


Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Puts a package on the path as an installer would: its modules, and the metadata with its entry point."""
    before = set(sys.modules)

    def make(package: str, entry: str, **modules: str) -> None:
        site = tmp_path / package
        info = site / f"{package}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[whet.commands]\n{entry}\n")
        for name, source in modules.items():
            (site / f"{name}.py").write_text(source)
        monkeypatch.syspath_prepend(str(site))

    yield make
    for name in set(sys.modules) - before:
        if name.startswith("their"):
            del sys.modules[name]


def app_at(where: str, about: str = "Their own affairs.") -> str:
    return f"from whet.apps.app import App\nAPP = App({about!r}, {where!r})\n"


def test_a_command_of_another_package_is_listed_with_its_line_of_help(whet: Whet, install: Install) -> None:
    install("theirs", "mine = their_app:APP", their_app=app_at("their_commands:app"), their_commands=COMMANDS)
    said = whet("--help")
    assert said.code == 0
    assert "  mine Their own affairs.\n" in re.sub(r"(?<=\S) +", " ", said.out)
    assert "their_commands" not in sys.modules


def test_a_command_of_another_package_is_called(whet: Whet, install: Install) -> None:
    install("theirs", "mine = their_app:APP", their_app=app_at("their_commands:app"), their_commands=COMMANDS)
    assert whet("mine", "greet", "you") == Said(0, "hello, you\n", "")
    assert "whet mine greet [OPTIONS]" in whet("mine", "greet", "-h").out


def test_a_misspelt_command_of_another_package_is_recognised(whet: Whet, install: Install) -> None:
    install("theirs", "minerals = their_app:APP", their_app=app_at("their_commands:app"))
    assert "Did you mean 'minerals'?" in whet("mineral").err


@pytest.mark.parametrize(
    ("modules", "why"),
    [
        ({}, "ModuleNotFoundError: No module named 'their_app'"),
        ({"their_app": "raise RuntimeError('two\\nlines')"}, "RuntimeError: two lines"),
        ({"their_app": "APP = 3"}, "is no whet.apps.app.App"),
        ({"their_app": "import typer\n"}, "AttributeError: module 'their_app' has no attribute 'APP'"),
    ],
)
def test_what_cannot_be_loaded_is_one_line_and_the_rest_is_listed(
    whet: Whet, install: Install, modules: dict[str, str], why: str
) -> None:
    install("theirs", "mine = their_app:APP", **modules)
    listed = whet("--help")
    assert listed.code == 0
    assert why in " ".join(listed.out.split())
    assert "Group quality control" in listed.out
    called = whet("mine", "greet", "you")
    assert (called.code, called.out) == (2, "")
    assert called.err.startswith("whet: the command 'mine' of theirs (their_app:APP) ")
    assert why in called.err
    assert called.err.count("\n") == 1


@pytest.mark.parametrize(
    ("commands", "why"),
    [
        ("import not_installed", "ModuleNotFoundError: No module named 'not_installed'"),
        ("", "AttributeError: module 'their_commands' has no attribute 'app'"),
    ],
)
def test_commands_that_cannot_be_imported_are_one_line_when_called(
    whet: Whet, install: Install, commands: str, why: str
) -> None:
    install("theirs", "mine = their_app:APP", their_app=app_at("their_commands:app"), their_commands=commands)
    assert "Their own affairs." in whet("--help").out
    called = whet("mine", "greet", "you")
    told = f"the command 'mine' of theirs (their_app:APP) cannot be loaded ({why}): mend or uninstall that package"
    assert (called.code, called.err) == (2, f"whet: {told}\n")


def test_two_packages_with_one_name_are_told_apart_by_nobody(whet: Whet, install: Install) -> None:
    install("theirs", "mine = their_app:APP", their_app=app_at("their_commands:app"))
    install("theirs_too", "mine = their_other_app:APP", their_other_app=app_at("their_commands:app"))
    called = whet("mine")
    assert called.code == 2
    assert "is offered twice" in called.err
    assert "theirs_too" in called.err
    assert called.err.count("\n") == 1


def test_no_package_takes_the_place_of_a_command_of_whets_own(whet: Whet, install: Install) -> None:
    install("theirs", "compare = their_app:APP", their_app=app_at("their_commands:app"), their_commands=COMMANDS)
    assert "Their own affairs." not in whet("--help").out
    assert "Compare two runs task by task." in whet("compare", "--help").out


def test_whets_own_commands_look_through_no_packages(whet: Whet, monkeypatch: pytest.MonkeyPatch) -> None:
    def looked_through(**wanted: Any) -> Any:
        raise AssertionError("packages were looked through")

    monkeypatch.setattr(importlib.metadata, "entry_points", looked_through)
    assert whet("compare", "--help").code == 0


def test_the_list_of_commands_imports_no_app() -> None:
    code = (
        "import sys\nfrom whet.cli import main\nsys.argv = ['whet', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(*(name for name in sys.modules if name.startswith(('whet.apps.', 'whet.envs', 'whet.run'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.splitlines()[-1].split()) == {
        *("whet.apps.app", "whet.apps.groupqc", "whet.apps.ordebug", "whet.apps.rules")
    }
