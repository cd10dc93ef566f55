"""Prompts of the optimiser: the files beside this module, filled in, and what is shown to it below them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

from whet import wire
from whet.types import Message, Playbook, system, user


@cache
def _template(name: str) -> Template:
    return Template((files("whet.learn.reflact") / "prompts" / f"{name}.md").read_text(encoding="utf-8").strip())


def prompt(name: str, **words: str | int) -> str:
    """The prompt of that name; a placeholder without a word is an error."""
    return _template(name).substitute({key: str(word) for key, word in words.items()})


def messages(instructions: Sequence[str], sections: Iterable[tuple[str, str]]) -> tuple[Message, Message]:
    """What an optimiser is sent: instructions as system text, evidence as sections; empty sections are left out."""
    shown = (f"<{name}>\n{text}\n</{name}>" for name, text in sections if text)
    return system("\n\n".join(part for part in instructions if part)), user("\n\n".join(shown))


def playbook_sections(playbook: Playbook) -> list[tuple[str, str]]:
    """The playbook part by part; only the body and the files can be edited."""
    reminders = "\n".join(f"- {note}" for note in playbook.reminders)
    examples = "\n\n".join(f"Q: {example.question}\nA: {example.answer}" for example in playbook.examples)
    return [
        ("playbook", playbook.body or "(empty)"),
        *((f"file {name}", text) for name, text in sorted(playbook.files.items())),
        ("guidance", playbook.hindsight),
        ("reminders", reminders),
        ("worked examples", examples),
    ]


def as_json(items: Iterable[Mapping[str, Any]]) -> str:
    return wire.dumps(list(items), pretty=True).decode()
