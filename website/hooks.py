"""What happens when mkdocs builds the site: reference pages are written, files that a page links to come along.

A page in `docs/` may link to a file of the repository outside it, which the site would not hold. Such a file is copied
to `files/`, and the link leads there.
"""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parent))

from nav import nav
from reference import PAGES

ROOT = Path(__file__).parents[1]
PROJECT_PAGES = ("CONTRIBUTING.md", "CHANGELOG.md")
"""Pages that lie where those who look for them look: beside the README."""

LINK = re.compile(r"(?<=\]\()(?P<path>[^)#\s:]+)(?P<anchor>#[^)\s]*)?(?=\))")


def on_config(config: Any) -> Any:
    config.nav = nav((*PAGES, *PROJECT_PAGES))
    return config


def on_files(files: Files, config: Any) -> Files:
    for place, write in PAGES.items():
        files.append(File.generated(config, place, content=write()))
    for name in PROJECT_PAGES:
        files.append(File.generated(config, name, content=(ROOT / name).read_text(encoding="utf-8")))
    linked = {target for page in files.documentation_pages() for target in outside(page.src_uri, page.content_string)}
    for name in sorted(linked):
        files.append(File.generated(config, f"files/{name}", abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    return rewritten(page.file.src_uri, markdown)


def outside(page: str, text: str) -> list[str]:
    """The files of the repository outside `docs/` that a page links to."""
    targets = [_target(page, found["path"]) for found in LINK.finditer(text)]
    known = (*PROJECT_PAGES, "README.md")
    return [target for target in targets if target and target not in known and not target.startswith("docs/")]


def rewritten(page: str, text: str) -> str:
    """A page whose links stay inside the site. A folder has no page: what linked to it is plain text."""

    def moved(found: re.Match[str]) -> str:
        target = _target(page, found["path"])
        if not target:
            return found[0]
        if target.startswith("docs/"):
            place = target.removeprefix("docs/")
        else:
            place = target if target in PROJECT_PAGES else "index.md" if target == "README.md" else f"files/{target}"
        return posixpath.relpath(place, posixpath.dirname(page) or ".") + (found["anchor"] or "")

    return LINK.sub(moved, text)


def _target(page: str, path: str) -> str:
    """The path in the repository of what a link outside `docs/` leads to; '' for any other link."""
    base = "" if page in PROJECT_PAGES else f"docs/{posixpath.dirname(page)}"
    full = posixpath.normpath(posixpath.join(base, path))
    if full.startswith("docs/"):
        return "" if page not in PROJECT_PAGES else full
    return full if (ROOT / full).is_file() and not full.startswith("..") else ""
