"""What a message, the doctor or a page offers to install is there, and is told as it can be had here."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from whet import extras
from whet.extras import EXTRAS, install, newer

ROOT = Path(__file__).parents[1]
OFFERED = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
INTERNAL = {"dev", "docs"}
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").rglob("*.toml")))


def asked_in_code() -> Iterator[tuple[str, str]]:
    """Every extra that a call of `install` names, with the file."""
    for file in sorted((ROOT / "whet").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("install", "extras.install"):
                for word in node.args:
                    if isinstance(word, ast.Constant):
                        yield str(file), word.value


def named_in_text() -> Iterator[tuple[str, str]]:
    """Every extra in brackets behind `whet` or a full stop, in code, pages and configs."""
    for file in (*sorted((ROOT / "whet").rglob("*.py")), *PAGES, ROOT / "Makefile"):
        for names in re.findall(r"(?:whet|'\.)\[([a-z,-]+)\]", file.read_text()):
            for name in names.split(","):
                yield str(file), name


def test_every_extra_that_is_named_exists() -> None:
    asked = [*asked_in_code(), *named_in_text()]
    assert len(asked) > 30
    assert [(file, name) for file, name in asked if name not in OFFERED] == []


def test_no_message_takes_the_package_for_published() -> None:
    """The command is made by `install`, which knows where this Whet came from."""
    spelled = [
        str(file)
        for file in sorted((ROOT / "whet").rglob("*.py"))
        if file.name != "extras.py" and "pip install 'whet" in file.read_text()
    ]
    assert spelled == []


def test_the_doctor_knows_every_extra_of_a_user_and_no_other() -> None:
    benches = {name for name in OFFERED if name.endswith("-bench")}
    assert EXTRAS.keys() == OFFERED - benches - INTERNAL


@pytest.mark.parametrize("name", EXTRAS)
def test_something_in_whet_uses_what_an_extra_brings(name: str) -> None:
    sources = "\n".join(file.read_text() for file in (ROOT / "whet").rglob("*.py") if file.name != "extras.py")
    used = [
        module
        for module in EXTRAS[name].modules
        if re.search(rf"(import|from) {module}\b|\b{module}\.|[\"']{module}[\"']", sources)
    ]
    assert used


@pytest.mark.parametrize(
    ("told", "command"),
    [
        (None, "pip install 'whet[soup]'"),
        ({"url": "file:///", "dir_info": {"editable": True}}, "pip install -e '/[soup]'"),
        ({"url": "file:///", "archive_info": {}}, "pip install 'whet[soup] @ file:///'"),
        (
            {"url": "https://h/whet.git", "vcs_info": {"vcs": "git"}},
            "pip install 'whet[soup] @ git+https://h/whet.git'",
        ),
        ({"url": "file:///no/such/whet-1.whl", "archive_info": {}}, "pip install 'whet[soup]'"),
    ],
)
def test_an_extra_is_installed_from_where_whet_came(
    told: dict[str, object] | None, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Metadata:
        def read_text(self, name: str) -> str | None:
            return json.dumps(told) if told else None

    monkeypatch.setattr(extras, "distribution", lambda name: Metadata())
    extras._origin.cache_clear()
    try:
        assert install("soup") == command
        assert ("came from" in newer()) == ("@" in command or "-e" in command)
    finally:
        extras._origin.cache_clear()
