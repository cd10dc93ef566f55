"""A playbook as an adapter of Hermit: a folder with `adapter.yaml`, whose text for the agent is ADAPTER.md.

What an agent is given of such a folder is the text and the files below it (skills, roles, notes). Hermit's own files
stay behind: the manifest, the card, what is told to a learner or to people. So does Python beside the manifest, which
holds tools and checks: a playbook is text, and runs nothing.
"""

from __future__ import annotations

from pathlib import Path

from whet.errors import WhetError
from whet.types import Playbook

MANIFEST, CONTEXT, CARD = "adapter.yaml", "ADAPTER.md", "CARD.md"
GUIDES = ("EVOLVER.md", "README.md")
BEHIND = frozenset((MANIFEST, CONTEXT, CARD, *GUIDES))
"""Files of an adapter that are no part of the playbook's files."""

LARGEST = 1_000_000
"""Bytes of one file."""


def is_adapter(folder: Path) -> bool:
    return (folder / MANIFEST).is_file()


def adapter_files(folder: Path) -> dict[str, Path]:
    """The files of an adapter that its agent is given, by name."""
    found = {}
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder).as_posix()
        hidden = name.startswith(".git/") or "__pycache__" in name
        if file.is_file() and not hidden and name not in BEHIND and not ("/" not in name and name.endswith(".py")):
            found[name] = file
    return found


def adapter_playbook(folder: Path) -> Playbook:
    """The playbook that an adapter is."""
    context = folder / CONTEXT
    if not context.is_file():
        raise WhetError(f"{folder}: an adapter of Hermit needs {CONTEXT} beside {MANIFEST}; there is none")
    files = adapter_files(folder)
    for name, file in files.items():
        if file.is_symlink() or file.stat().st_size > LARGEST:
            raise WhetError(f"{folder}: {name} is a link or has more than {LARGEST:,} bytes; leave it out")
    texts = {name: file.read_text(encoding="utf-8") for name, file in files.items()}
    return Playbook(context.read_text(encoding="utf-8").strip(), files=texts)
