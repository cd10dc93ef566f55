"""Stage 5, update: the chosen items become a candidate. What cannot be applied goes back to the optimiser once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from whet.learn.prompt_text import as_json, messages, playbook_sections
from whet.learn.reflact.edit_items import items_in
from whet.learn.reflact.edits import apply_items, unmatched
from whet.learn.reflact.records import AddNote, Draft, EditOutcome, Item, Revision, Suggestion
from whet.learn.reflact.step import Step
from whet.learn.replies import Unreadable, ask_json, text_in, texts_in
from whet.types import Playbook


async def update(step: Step, items: Sequence[Item], notes: Sequence[str] = ()) -> Revision:
    """The playbook of the step with `items` and `notes` in it. It may equal the playbook: then nothing is judged."""
    suggestions = [item for item in items if isinstance(item, Suggestion)]
    rest: tuple[Item, ...] = tuple(item for item in items if not isinstance(item, Suggestion))
    trouble: tuple[str, ...] = ()
    summary: tuple[str, ...] = ()
    if suggestions:
        draft, trouble = await _rewritten(step, suggestions)
        rest = (*((draft,) if draft else ()), *rest)
        summary = (draft.summary,) if draft else ()
    rest = (*_one_draft(rest), *(AddNote(note) for note in notes))
    summary = summary or tuple(item.summary for item in rest if isinstance(item, Draft))
    playbook, rows = apply_items(step.playbook, rest, step.config.update.max_bytes)
    back = unmatched(rows)
    if back and step.shop.consulting:
        mended, more = await _mended(step, playbook, back)
        playbook, again = apply_items(playbook, mended, step.config.update.max_bytes)
        dropped = {id(row) for row in back}
        rows = (
            *(row for row in rows if id(row) not in dropped),
            *(EditOutcome(row.item, row.status, f"{row.detail} (asked again)") for row in back),
            *again,
        )
        trouble = (*trouble, *more)
    return Revision(playbook, rows, summary, trouble)


def _one_draft(items: Sequence[Item]) -> tuple[Item, ...]:
    """Of several whole bodies only the first can stand."""
    drafts = [item for item in items if isinstance(item, Draft)]
    return tuple(item for item in items if not isinstance(item, Draft) or item is drafts[0])


async def _rewritten(step: Step, suggestions: Sequence[Suggestion]) -> tuple[Draft | None, tuple[str, ...]]:
    section = step.config.update
    asked = messages(
        [step.prompts.text("rewrite", bytes=section.max_bytes)],
        [*step.background(), ("suggestions", as_json(item.as_data() for item in suggestions))],
    )

    def read(data: Mapping[str, Any]) -> Draft:
        body = text_in(data, "new_skill").strip()
        if not body:
            raise Unreadable("'new_skill' is empty")
        if len(body.encode()) > section.max_bytes:
            raise Unreadable(f"'new_skill' has {len(body.encode())} bytes, at most {section.max_bytes}")
        said = "; ".join(texts_in(data, "change_summary"))
        support = sum(item.support for item in suggestions)
        return Draft(body, "rewrite", said, suggestions[0].source, support)

    answered = await ask_json(step.shop, f"{step.where}/rewrite", asked, read, section.rewrite_tokens)
    return answered.value, answered.trouble


async def _mended(
    step: Step, playbook: Playbook, back: Sequence[EditOutcome]
) -> tuple[tuple[Item, ...], tuple[str, ...]]:
    """The edits that were not found, quoted anew; the playbook shown is as it stands after the others."""
    shown = as_json({**row.item.as_data(), "problem": row.detail} for row in back)
    asked = messages([step.prompts.text("mend")], [*playbook_sections(playbook), ("edits", shown)])

    def read(data: Mapping[str, Any]) -> tuple[Item, ...]:
        return items_in(data, "patch", back[0].item.source)[: len(back)]

    answered = await ask_json(step.shop, f"{step.where}/mend", asked, read)
    return answered.value or (), answered.trouble
