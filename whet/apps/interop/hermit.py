"""A playbook as an adapter of Hermit, for its hosts to deploy and its trainer to go on with.

Reading one needs no command: `--playbook FOLDER` and `whet gate RUN --candidate FOLDER` take an adapter as it is
(`whet.config.adapters`). With `template`, what is written is that adapter with other texts: its manifest stays as it
is to the byte, for Hermit refuses one that drifts from its template, and files that the playbook does not have stay.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from whet.config.adapters import CARD, CONTEXT, GUIDES, MANIFEST, is_adapter
from whet.config.playbooks import read_playbook
from whet.errors import WhetError
from whet.files import write_atomically
from whet.learn.documents import document
from whet.ledger.store import FILE
from whet.run.workspace import RUNS, run_folder
from whet.types import Playbook

BEST = "best_playbook.json"
TEMPLATE, VERSION = "whet-playbook", "1.0"

EVOLVER = f"""# How this adapter may be changed

`{CONTEXT}` is what the acting agent is told; files that `{MANIFEST}` names as learnable stand beside it. A change is
any rewrite of these. Whether it is better is not for this folder to say: bring it to a gate.
"""

README = """# A playbook as an adapter

Written by `whet export hermit`. It has instructions and files, no tools and no service; any host that can put text
before an agent can use it.
"""


def export_hermit(source: str, out: Path, template: Path | None = None, runs: Path = RUNS) -> str:
    """Write the playbook at `source` (the best of a run, or a playbook) as an adapter; what there is to say of it."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise WhetError(f"{out} is there already: name a new folder, or empty it")
    folder = run_folder(source, runs)
    of_run = (folder / FILE).is_file()
    if of_run and not (folder / BEST).is_file():
        raise WhetError(f"{folder}: has no {BEST}: only a training run that has begun has one")
    playbook = read_playbook(str(folder / BEST) if of_run else source)
    if template is not None and not is_adapter(template):
        raise WhetError(f"{template}: is no adapter of Hermit, for there is no {MANIFEST} in it")
    _refuse_strange(playbook, out)
    written = {CONTEXT: _context(playbook), **playbook.files} if template is not None else _anew(playbook)
    if of_run:
        written[CARD] = _card(folder)
    if template is not None:
        shutil.copytree(template, out, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".git", "__pycache__", CARD))
    for name, text in written.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(out / name, text.encode())
    return f"{out}: {CONTEXT} and {len(playbook.files)} files" + (f", {CARD} with the claim" if of_run else "")


def _refuse_strange(playbook: Playbook, out: Path) -> None:
    """A file of a playbook must not leave the folder, nor take the place of one that is Hermit's."""
    for name in playbook.files:
        path = Path(name)
        if path.is_absolute() or ".." in path.parts or name in (MANIFEST, CONTEXT, CARD, *GUIDES):
            raise WhetError(f"{out}: the playbook's file {name!r} cannot lie there in an adapter; give it another name")


def _context(playbook: Playbook) -> str:
    """All that the agent is told but the files: guidance, rules and worked examples are text in an adapter."""
    return document(replace(playbook, files={})) or "\n"


def _anew(playbook: Playbook) -> dict[str, str]:
    """An adapter with a template of its own: every file it has is learnable."""
    quoted = [json.dumps(name) for name in (CONTEXT, *sorted(playbook.files))]
    manifest = [
        "template:",
        f"  id: {TEMPLATE}",
        f'  version: "{VERSION}"',
        '  contract: "1"',
        "  name: A playbook of Whet",
        "exports:",
        f"  context: {CONTEXT}",
        *(["  skills: skills"] if any(name.startswith("skills/") for name in playbook.files) else []),
        "structure:",
        "  learnable:",
        *(f"    - path: {name}\n      format: {{text: true}}" for name in quoted),
        "  fixed:",
        *(f"    - {name}" for name in GUIDES),
    ]
    guides = dict(zip(GUIDES, (EVOLVER, README), strict=True))
    return {MANIFEST: "\n".join(manifest) + "\n", CONTEXT: _context(playbook), **guides, **playbook.files}


def _card(folder: Path) -> str:
    """What the run claims of it."""
    file = folder / "summary.json"
    told: dict[str, Any] = orjson.loads(file.read_bytes()) if file.is_file() else {}
    claim = told.get("test_delta_says") or "no claim: the sealed test was not opened"
    lines = ["# Adapter card", "", f"- run: `{folder.name}`", f"- learner: {told.get('config', {}).get('learner', '')}"]
    lines += [f"- on the sealed test: {claim}", "", "Other tasks, models and agents than those of the run are untried."]
    return "\n".join(lines) + "\n"
