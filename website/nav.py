"""The order of the site: start, concepts, tutorials, guides, reference, why it is so. No page is lost.

A page that is named here and not there yet is left out; one that is there and not named comes last among the guides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"

START = [("Start", "index.md"), ("Concepts", "concepts.md")]
TUTORIALS = [
    ("From a CSV to a better playbook", "tutorial-csv.md"),
    ("An environment with a tool", "tutorial-environment.md"),
]
GUIDES = [
    ("Your own examples", "bring-your-own.md"),
    ("A skill and a checker", "skills.md"),
    ("Models", "models.md"),
    ("Environments", "environments.md"),
    ("Tools", "tools.md"),
    ("Measuring", "evals.md"),
    ("Training a playbook", "training.md"),
    ("Searching rules", "rules.md"),
    ("Training weights", "weights.md"),
    ("The gate in figures", "gate-figures.md"),
    ("Looking at runs", "seeing.md"),
    ("Runs that move", "runs.md"),
    ("Many machines, servers of models", "scaling.md"),
    ("Promote, serve, install", "release.md"),
    ("Decide, review, audit", "decide.md"),
    ("Versions of configs", "configs.md"),
    ("The sandbox", "sandbox.md"),
    ("Extending Whet", "extending.md"),
]
APPS = [
    ("soup", "soup.md"),
    ("soup: pages", "soup-pages.md"),
    ("soup@1", "soup1.md"),
    ("ordebug", "ordebug.md"),
    ("groupqc", "groupqc.md"),
    ("groupqc: packs", "groupqc-packs.md"),
    ("groupqc: operations", "groupqc-operations.md"),
]
REFERENCE = [
    ("Commands", "reference/commands.md"),
    ("Config keys", "reference/config.md"),
    ("Checks", "reference/checks.md"),
    ("Python API", "reference/api.md"),
]
PROJECT = [
    ("Architecture", "architecture.md"),
    ("Contributing", "CONTRIBUTING.md"),
    ("Changes", "CHANGELOG.md"),
]


def nav(generated: Iterable[str]) -> list[dict[str, Any]]:
    """The navigation over the pages in `docs/` and those that are generated."""
    own = sorted(file.relative_to(DOCS).as_posix() for file in DOCS.rglob("*.md"))
    there = {*own, *generated}
    decisions = [(title(name), name) for name in own if name.startswith("decisions/")]
    groups = {"Tutorials": TUTORIALS, "Guides": GUIDES, "Environments that ship": APPS, "Reference": REFERENCE}
    named = {place for group in (START, *groups.values(), PROJECT, decisions) for _, place in group}
    groups["Guides"] = [*GUIDES, *((title(name), name) for name in own if name not in named)]
    groups["The project"] = PROJECT
    groups["Decisions"] = decisions
    entries: list[dict[str, Any]] = [{text: place} for text, place in START if place in there]
    for text, group in groups.items():
        entries.append({text: [{label: place} for label, place in group if place in there]})
    return entries


def title(name: str) -> str:
    """The first heading of a page."""
    found = re.search(r"^# (.+)$", (DOCS / name).read_text(encoding="utf-8"), re.MULTILINE)
    return found[1].replace("`", "") if found else name
