"""Prompts of the optimiser: the files of a learner's room or those that replace them, and what is shown below them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from whet import wire
from whet.errors import WhetError, nearest
from whet.types import Image, Message, Playbook, system, user

FOLDER = "prompts"
"""Where the prompts lie, here and beside a config that replaces some."""

REFLACT = "whet.learn.reflact"
"""The room whose prompts are meant where none is named."""

LONGEST = 40_000
"""Characters of a prompt that replaces one."""


@cache
def _texts(room: str = REFLACT) -> dict[str, str]:
    """The prompts that come along in a room, by name."""
    found = (files(room) / FOLDER).iterdir()
    return {
        file.name.removesuffix(".md"): file.read_text(encoding="utf-8").strip()
        for file in sorted(found, key=lambda file: file.name)
        if file.name.endswith(".md")
    }


@dataclass(frozen=True, slots=True)
class OptimizerPrompts:
    """The prompts of a run: those that come along, with `own` in the place of some."""

    own: Mapping[str, str] = field(default_factory=dict)
    room: str = REFLACT

    def text(self, name: str, **words: str | int) -> str:
        """The prompt of that name; a placeholder without a word is an error."""
        text = self.own.get(name, _texts(self.room)[name])
        return Template(text).substitute({key: str(word) for key, word in words.items()})


def prompt(name: str, **words: str | int) -> str:
    """A prompt that comes along, whatever replaces it elsewhere."""
    return OptimizerPrompts().text(name, **words)


def refuse_unknown(own: Mapping[str, str], where: str, room: str = REFLACT) -> None:
    """Refuses prompts that nobody asks for, that are empty, or that hold a placeholder which is not filled."""
    for name, text in own.items():
        known = _texts(room).get(name)
        if known is None:
            hint = nearest(name, _texts(room)) or f" Known: {', '.join(_texts(room))}."
            raise WhetError(f"{where}: there is no prompt {name!r} to replace.{hint}")
        if not text.strip() or len(text) > LONGEST:
            raise WhetError(f"{where}: the prompt {name!r} must have 1 to {LONGEST:,} characters, has {len(text):,}")
        strange = sorted(set(Template(text).get_identifiers()) - set(Template(known).get_identifiers()))
        if strange or not Template(text).is_valid():
            what = f"${strange[0]}" if strange else "a lone $ (write $$)"
            filled = ", ".join(f"${word}" for word in Template(known).get_identifiers()) or "none"
            raise WhetError(f"{where}: {what} in the prompt {name!r} is not filled in; placeholders here: {filled}")


def prompts_beside(folder: Path, room: str = REFLACT) -> dict[str, str]:
    """The prompts in `prompts/` of a folder, by name; an empty mapping where there is no such folder."""
    there = folder / FOLDER
    if not there.is_dir():
        return {}
    try:
        found = {file.stem: file.read_text(encoding="utf-8").strip() for file in sorted(there.glob("*.md"))}
    except (OSError, UnicodeDecodeError) as error:
        raise WhetError(f"{there}: cannot be read as text ({error})") from None
    refuse_unknown(found, str(there), room)
    return found


def messages(
    instructions: Sequence[str], sections: Iterable[tuple[str, str]], images: Sequence[Image] = ()
) -> tuple[Message, Message]:
    """What an optimiser is sent: instructions as system text, evidence as sections; empty sections are left out."""
    shown = "\n\n".join(f"<{name}>\n{text}\n</{name}>" for name, text in sections if text)
    return system("\n\n".join(part for part in instructions if part)), user((shown, *images) if images else shown)


def playbook_sections(playbook: Playbook) -> list[tuple[str, str]]:
    """The playbook part by part; only the body and the files can be edited."""
    reminders = "\n".join(f"- {note}" for note in playbook.reminders)
    examples = "\n\n".join(f"Q: {example.question}\nA: {example.told}" for example in playbook.examples)
    bank = playbook.bank
    return [
        ("playbook", playbook.body or "(empty)"),
        *((f"file {name}", text) for name, text in sorted(playbook.files.items())),
        ("guidance", playbook.hindsight),
        ("reminders", reminders),
        ("worked examples", examples),
        ("example bank", f"{len(bank)} more, of which a task sees the {playbook.nearest} nearest" if bank else ""),
    ]


def as_json(items: Iterable[Mapping[str, Any]]) -> str:
    return wire.dumps(list(items), pretty=True).decode()
