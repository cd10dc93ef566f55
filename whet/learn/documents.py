"""A playbook as Markdown: one document for a person to read, or a folder with SKILL.md for an agent."""

from __future__ import annotations

from pathlib import Path

from whet import wire
from whet.config.playbooks import EXAMPLES
from whet.files import write_atomically
from whet.types import Playbook


def document(playbook: Playbook) -> str:
    """Body, guidance, reminders, rules, worked examples and files; the JSON form beside it is what a run reads."""
    shown = [
        f"### Example {number}\n\n{example.question}\n\n**Answer**\n\n{example.answer}"
        for number, example in enumerate(playbook.examples, 1)
    ]
    rules = "\n".join(f"- {rule.id}: {rule.text}" for rule in playbook.told)
    files = [f"## {name}\n\n{text}" for name, text in sorted(playbook.files.items())]
    parts = [
        playbook.text,
        rules and f"## Rules\n\n{rules}",
        *(["## Worked examples", *shown] if shown else []),
        *files,
    ]
    text = "\n\n".join(part for part in parts if part)
    return f"{text}\n" if text else ""


def write_folder(folder: Path, playbook: Playbook) -> None:
    """SKILL.md with the files beside it, as `--playbook FOLDER` reads it."""
    written = {"SKILL.md": f"{playbook.text}\n", **playbook.files}
    if playbook.examples:
        written[EXAMPLES] = "".join(wire.dumps(example).decode() + "\n" for example in playbook.examples)
    for name, text in written.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / name, text.encode())
