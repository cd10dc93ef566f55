"""Stage 3, aggregate: patches are merged level by level, failures and successes apart, then both, failures first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from whet.learn.prompt_text import as_json, messages
from whet.learn.reflact.edit_items import FORMS, items_in, within
from whet.learn.reflact.records import Item, Patch, Source
from whet.learn.reflact.step import Step
from whet.learn.replies import ask_json, text_in
from whet.learn.workshop import together

READERS: Mapping[Source, str] = {"failure": "failed attempts", "success": "solved attempts"}


async def aggregate(step: Step, patches: Sequence[Patch]) -> Patch:
    """One patch out of many. A merge that cannot be read leaves its items side by side, and says so."""
    sides = {source: [patch for patch in patches if patch.source == source and patch.items] for source in READERS}
    merged = dict(zip(sides, await together(*(_tournament(step, *side) for side in sides.items())), strict=True))
    failure, success = merged["failure"], merged["success"]
    if failure is None or success is None:
        return failure or success or Patch("failure")
    asked = messages(
        [step.prompts.text("merge_final", key=_key(step))],
        [
            *step.background(),
            ("changes from failures", as_json(item.as_data() for item in failure.items)),
            ("changes from successes", as_json(item.as_data() for item in success.items)),
        ],
    )
    both = Patch("failure", (*failure.items, *success.items), trouble=(*failure.trouble, *success.trouble))
    return await _merged(step, "final", asked, both)


async def _tournament(step: Step, source: Source, patches: Sequence[Patch]) -> Patch | None:
    """Chunks merged level by level until one patch is left; a chunk of one passes as it is."""
    level, size = 0, step.config.update.merge
    while len(patches) > 1:
        level += 1
        chunks = [patches[at : at + size] for at in range(0, len(patches), size)]
        patches = await together(*(_chunk(step, source, level, at, chunk) for at, chunk in enumerate(chunks)))
    return patches[0] if patches else None


async def _chunk(step: Step, source: Source, level: int, index: int, chunk: Sequence[Patch]) -> Patch:
    if len(chunk) == 1:
        return chunk[0]
    shown = [(f"proposal {n}", as_json(item.as_data() for item in patch.items)) for n, patch in enumerate(chunk, 1)]
    asked = messages([step.prompts.text("merge", what=READERS[source], key=_key(step))], [*step.background(), *shown])
    together_ = Patch(
        source,
        tuple(item for patch in chunk for item in patch.items),
        trouble=tuple(line for patch in chunk for line in patch.trouble),
    )
    return await _merged(step, f"{source[:4]}-{level}-{index:03d}", asked, together_, level)


async def _merged(step: Step, name: str, asked: Any, unmerged: Patch, level: int | None = None) -> Patch:
    purpose = f"{step.where}/merge/{name}"
    deepest = max(item.level for item in unmerged.items) + 1

    def read(data: Mapping[str, Any]) -> tuple[tuple[Item, ...], str]:
        inner = data["patch"] if isinstance(data.get("patch"), Mapping) else data
        found = items_in(inner, step.config.update.mode, unmerged.source, level or deepest)
        return found, text_in(data, "reasoning")

    tokens = step.config.update.rewrite_tokens if step.config.update.mode == "full_rewrite_minibatch" else None
    answered = await ask_json(step.shop, purpose, asked, read, tokens)
    trouble = (*unmerged.trouble, *answered.trouble)
    if answered.value is None:
        return Patch(unmerged.source, unmerged.items, trouble=(*trouble, f"{purpose}: items left unmerged"))
    items, reasoning = answered.value
    items = within(items, most_bytes := step.config.update.max_bytes)
    if len(items) < len(answered.value[0]):
        trouble = (*trouble, f"{purpose}: items of more than {most_bytes:,} bytes in all are left out")
    most = max(len(unmerged.items), 1)
    if len(items) > most:
        trouble = (*trouble, f"{purpose}: {len(items)} items out of {most}; the rest is left out")
    return Patch(unmerged.source, items[:most], reasoning=reasoning, trouble=trouble)


def _key(step: Step) -> str:
    return FORMS[step.config.update.mode].key
