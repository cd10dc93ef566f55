"""A playbook as Markdown: one document for a person to read, or a folder with SKILL.md for an agent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from whet import wire
from whet.config.playbooks import BANK, EXAMPLES
from whet.files import write_atomically
from whet.types import Example, Playbook


def document(playbook: Playbook) -> str:
    """Body, guidance, reminders, rules, worked examples and files; the JSON form beside it is what a run reads."""
    shown = _examples(playbook.examples)
    banked = f"## Example bank: each task is shown the {playbook.nearest} that are most like it"
    rules = "\n".join(f"- {rule.id}: {rule.text}" for rule in playbook.told)
    files = [f"## {name}\n\n{text}" for name, text in sorted(playbook.files.items())]
    bank = [banked, *_examples(playbook.bank)] if playbook.bank else []
    parts = [
        playbook.text,
        rules and f"## Rules\n\n{rules}",
        *(["## Worked examples", *shown] if shown else []),
        *bank,
        *files,
    ]
    text = "\n\n".join(part for part in parts if part)
    return f"{text}\n" if text else ""


def _examples(examples: Sequence[Example]) -> list[str]:
    return [
        f"### Example {number}\n\n{example.question}\n\n**Answer**\n\n{example.told}"
        for number, example in enumerate(examples, 1)
    ]


def write_folder(folder: Path, playbook: Playbook) -> None:
    """SKILL.md with the files beside it, as `--playbook FOLDER` reads it."""
    written = {"SKILL.md": f"{playbook.text}\n", **playbook.files}
    for name, examples in ((EXAMPLES, playbook.examples), (BANK, playbook.bank)):
        if examples:
            written[name] = "".join(wire.dumps(wire.example_out(example)).decode() + "\n" for example in examples)
    for name, text in written.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / name, text.encode())
