"""A playbook as one Markdown document, for a person to read."""

from __future__ import annotations

from whet.types import Playbook


def document(playbook: Playbook) -> str:
    """Body, guidance, reminders, worked examples and files; the JSON form beside it is what a run reads."""
    shown = [
        f"### Example {number}\n\n{one.question}\n\n**Answer**\n\n{one.answer}"
        for number, one in enumerate(playbook.examples, 1)
    ]
    files = [f"## {name}\n\n{text}" for name, text in sorted(playbook.files.items())]
    parts = [playbook.text, *(["## Worked examples", *shown] if shown else []), *files]
    text = "\n\n".join(part for part in parts if part)
    return f"{text}\n" if text else ""
