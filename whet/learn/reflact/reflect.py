"""Stage 2, reflect: analysts read minibatches of failed and of solved attempts and propose changes."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from whet.keys import seed_for
from whet.learn.prompt_text import messages
from whet.learn.reflact.edit_items import FORMS, items_in, within
from whet.learn.reflact.records import Batch, Evidence, Patch, Pattern, Source, stamped
from whet.learn.reflact.step import Step
from whet.learn.replies import JsonAnswer, Unreadable, ask_json, count_in, entries, notes_in, text_in, texts_in
from whet.learn.transcripts import attempts_text, images_of, shortened, task_name
from whet.learn.workshop import together
from whet.types import Rollout

SHORT = 120
"""Characters of a pattern's name; its description may have three times as many. Later prompts repeat both."""


async def reflect(step: Step, evidence: Evidence, budget: int) -> tuple[Patch, ...]:
    """One patch for each minibatch, failures before successes, in the order of the plan. Analysts work in parallel."""
    minibatches = [found for batch in evidence.batches for found in minibatches_of(step, batch)]
    minibatches = minibatches[: step.config.reflect.calls or len(minibatches)]
    return tuple(
        await together(
            *(
                _analyse(step, source, f"{step.where}/analyst/{name}", rollouts, beside, budget)
                for source, name, rollouts, beside in minibatches
            )
        )
    )


Minibatch = tuple[Source, str, tuple[Rollout, ...], Mapping[str, Rollout]]


def minibatches_of(step: Step, batch: Batch) -> list[Minibatch]:
    """Failures and successes of a batch, each shuffled and cut; a failure is shown beside a solved draw of its task.

    Where not all can be shown, tasks that some playbook of the run has solved and this one has not come first.
    """
    section = step.config.reflect
    solved = {task_name(rollout): rollout for rollout in reversed(batch.solved)}
    sides: list[tuple[Source, tuple[Rollout, ...]]] = [("failure", batch.failed)]
    if not section.failures_only:
        sides.append(("success", batch.solved))
    found: list[Minibatch] = []
    for source, rollouts in sides:
        order = list(rollouts)
        random.Random(seed_for("reflact", "minibatch", batch.seed, source)).shuffle(order)
        if section.calls and source == "failure":
            order.sort(key=lambda rollout: rollout.ticket.index not in step.solved)  # within reach comes first
        for index, at in enumerate(range(0, len(order), section.minibatch)):
            name = f"b{batch.index}-{source[:4]}-{index:03d}"
            beside = solved if source == "failure" else {}
            found.append((source, name, tuple(order[at : at + section.minibatch]), beside))
    return found


async def _analyse(
    step: Step,
    source: Source,
    purpose: str,
    rollouts: Sequence[Rollout],
    beside: Mapping[str, Rollout],
    budget: int,
) -> Patch:
    section, mode = step.config.reflect, step.config.update.mode
    form, ask = FORMS[mode], step.prompts.text
    wants_notes = section.lapses and (source == "failure" or section.lapses_from == "both")
    drafts = mode == "full_rewrite_minibatch"
    instructions = [
        ask(f"analyst_{source}", budget=1 if drafts else budget, things=form.things),
        ask("lapses") if wants_notes else "",
        ask(form.prompt, notes=',\n "appendix_notes": ["<one sentence>", ...]' if wants_notes else ""),
    ]
    shown = attempts_text(rollouts, step.shop.env, show=section.show, limit=section.transcript_chars, beside=beside)
    images = images_of(rollouts, step.shop.env, section.images)
    asked = messages(instructions, [*step.background(), ("attempts", shown)], images)
    names = {task_name(rollout) for rollout in rollouts}
    answered: JsonAnswer[Patch] = await ask_json(
        step.shop,
        purpose,
        asked,
        lambda data: _read(data, step, source, names, 1 if drafts else budget, wants_notes),
        step.config.update.rewrite_tokens if drafts else None,
    )
    patch = answered.value or Patch(source, size=len(rollouts))
    return Patch(
        source,
        patch.items,
        patch.patterns,
        patch.notes,
        patch.reasoning,
        len(rollouts),
        (*answered.trouble, *(f"{purpose}: {line}" for line in patch.trouble)),
        purpose.rsplit("/", 1)[-1],
    )


def _read(
    data: Mapping[str, Any], step: Step, source: Source, names: set[str], budget: int, wants_notes: bool
) -> Patch:
    """The patch of an analyst. More items than were asked for are cut, and said so; so are ids it was not shown."""
    inner = data.get("patch")
    if not isinstance(inner, Mapping):
        raise Unreadable("it has no 'patch' object")
    support = min(len(names), count_in(data, "batch_size", len(names)))
    found = [stamped(item, support=support) for item in items_in(inner, step.config.update.mode, source)]
    trouble = [f"{len(found)} items, {budget} asked for; the rest is left out"] if len(found) > budget else []
    items = within(found[:budget], step.config.update.max_bytes)
    if len(items) < min(len(found), budget):
        trouble.append(f"items of more than {step.config.update.max_bytes:,} bytes in all are left out")
    patterns = []
    for entry in entries(data, "failure_summary"):
        tasks = tuple(dict.fromkeys(name for name in texts_in(entry, "tasks") if name in names))
        if tasks:
            kind, description = text_in(entry, "failure_type"), text_in(entry, "description")
            patterns.append(Pattern(shortened(kind, SHORT), shortened(description, 3 * SHORT), tasks))
    notes = notes_in(data) if wants_notes else ()
    return Patch(source, tuple(items), tuple(patterns), notes, text_in(inner, "reasoning"), trouble=tuple(trouble))
