"""Reminders for rules that stood in the playbook and were not followed: which are new, and condensing too many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from whet.learn.prompt_text import messages
from whet.learn.reflact.edits import note_key
from whet.learn.reflact.step import Step
from whet.learn.replies import Unreadable, ask_json, notes_in


def new_notes(known: Sequence[str], proposed: Iterable[str]) -> tuple[str, ...]:
    """What is not there yet, each once, in the order proposed."""
    seen = {note_key(note) for note in known}
    fresh = []
    for note in proposed:
        key = note_key(note)
        if key and key not in seen:
            seen.add(key)
            fresh.append(note)
    return tuple(fresh)


async def condensed(step: Step, notes: Sequence[str]) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """Fewer reminders that say the same; None when they are few enough or the optimiser did not manage."""
    threshold = step.config.reflect.consolidate_above
    if not threshold or len(notes) <= threshold:
        return None, ()
    shown = "\n".join(f"{number}. {note}" for number, note in enumerate(notes, 1))
    asked = messages([step.prompts.text("consolidate", most=threshold)], [("reminders", shown)])

    def read(data: Mapping[str, Any]) -> tuple[str, ...]:
        fewer = new_notes((), notes_in(data))
        if not fewer or len(fewer) >= len(notes):
            raise Unreadable(f"'appendix_notes' must hold at least one reminder and fewer than {len(notes)}")
        return fewer

    answered = await ask_json(step.shop, f"{step.where}/appendix_consolidate", asked, read)
    return answered.value, answered.trouble
