"""The site holds everything: each page in its order, each command, key, check and public name in the reference."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer.main
from docs.pages import ROOT

import whet
from whet.cli.app import app
from whet.config.load import load_config
from whet.config.schema import EvalConfig
from whet.envs.data.checks import CHECKS
from whet.errors import WhetError

sys.path.insert(0, str(ROOT / "website"))

import nav as site_nav
import reference


def places(entries: list[Any]) -> Iterator[str]:
    for entry in entries:
        for place in entry.values():
            yield from places(place) if isinstance(place, list) else (place,)


def test_every_page_is_in_the_navigation_once() -> None:
    there = {file.relative_to(ROOT / "docs").as_posix() for file in (ROOT / "docs").rglob("*.md")}
    found = list(places(site_nav.nav(reference.PAGES)))
    assert sorted(found) == sorted({*there, *reference.PAGES})
    assert found[0] == "index.md"


def test_the_pages_that_are_named_are_there_or_announced() -> None:
    announced = {"skills.md", "rules.md"}
    groups = (site_nav.START, site_nav.TUTORIALS, site_nav.GUIDES, site_nav.APPS)
    named = [place for group in groups for _, place in group]
    missing = [place for place in named if not (ROOT / "docs" / place).is_file() and place not in announced]
    assert missing == []


@pytest.fixture(scope="module")
def commands() -> str:
    return reference.commands_page()


def test_every_command_and_every_option_is_in_the_reference(commands: str) -> None:
    headings = set(re.findall(r"^## (.+)$", commands, re.MULTILINE))
    shown = [
        (name, command) for name, command in reference.walk(typer.main.get_command(app), "whet") if not command.hidden
    ]
    assert {name for name, _ in shown} - headings == {"whet"}
    assert {"whet demo", "whet envs check", "whet groupqc audit", "whet ordebug"} <= headings
    for name, command in shown[1:]:
        part = commands.partition(f"## {name}\n")[2].partition("\n## ")[0]
        missing = [
            word
            for param in command.params
            if not param.hidden and param.name != "help"
            for word in param.opts
            if word.startswith("-") and f"`{word}`" not in part
        ]
        assert (name, missing) == (name, [])


def test_every_command_says_what_it_does(commands: str) -> None:
    empty = re.findall(r"^## (whet .+)\n\n(?=## |\|)", commands, re.MULTILINE)
    assert empty == []


def test_every_config_key_is_in_the_reference_and_is_one() -> None:
    page = reference.config_page()
    keys = [key for key, *_ in reference.keys_of(EvalConfig)]
    assert {"env.name", "target.sampling.max_tokens", "control.budget.usd", "eval.n"} <= set(keys)
    assert all(f"| `{key}` |" in page for key in keys)
    with pytest.raises(WhetError, match="unknown key"):
        load_config(EvalConfig, None, {}, ["eval.no_such_key=1"])
    for title, kind in reference.config_kinds().items():
        assert f"## {title}" in page
        assert all(f"| `{key}` |" in page for key, *_ in reference.keys_of(kind))
    assert {"train.epochs", "optimizer.model", "gate.alpha"} <= set(re.findall(r"\| `([\w.]+)` \|", page))


def test_every_check_with_each_argument_is_in_the_reference() -> None:
    page = reference.checks_page()
    for name, check in CHECKS.items():
        part = page.partition(f"## {name}\n")[2].partition("\n## ")[0]
        assert part.strip()
        assert all(f"`{argument.name}`" in part for argument in check.takes)


def test_every_public_name_is_in_the_reference() -> None:
    page = reference.api_page()
    assert set(re.findall(r"^## whet\.(\w+)$", page, re.MULTILINE)) == set(whet.__all__)
    assert "await whet.aevaluate(...)" in page


def test_the_site_fetches_nothing() -> None:
    config = (ROOT / "mkdocs.yml").read_text()
    assert "font: false" in config
    assert not re.search(r"https?://", config)
    assert re.search(r"^plugins: \[search\]$", config, re.MULTILINE)
