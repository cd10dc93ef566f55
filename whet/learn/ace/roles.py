"""Reflector and curator: what each is shown, and how its reply is read. The generator is the run's target itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from whet.learn.ace.bullets import BulletBook, BulletOperation, Tag
from whet.learn.ace.config import ROOM, AceSection
from whet.learn.prompt_text import OptimizerPrompts, as_json, messages
from whet.learn.replies import JsonAnswer, ask_json, entries, text_in, texts_in
from whet.learn.transcripts import attempts_text
from whet.learn.workshop import Workshop
from whet.types import Rollout

INSIGHT = ("error", "root_cause", "correct_approach", "key_insight")

KINDS: Mapping[str, Any] = {"ADD": "add", "REVISE": "revise", "UPDATE": "revise", "MERGE": "merge", "REMOVE": "remove"}
"""Operations by the name that a curator calls them."""

REMEMBERED = 30
"""Bullets that did not help which a curator is told of."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a reflector read out of attempts: insights, and what had a part in success and failure."""

    insights: tuple[Mapping[str, str], ...] = ()
    tags: tuple[tuple[str, Tag], ...] = ()


async def reflect(
    shop: Workshop, section: AceSection, purpose: str, book: BulletBook, rollouts: Sequence[Rollout]
) -> JsonAnswer[Lesson]:
    """One reflector's word on some attempts with the book."""
    shown = [
        ("playbook", book.preamble),
        ("bullets", book.table() or "(none yet)"),
        ("attempts", attempts_text(rollouts, shop.env, show=section.show, limit=section.transcript_chars)),
    ]
    return await ask_json(shop, purpose, messages([_prompts(section).text("reflector")], shown), _lesson_in)


async def curate(
    shop: Workshop,
    section: AceSection,
    purpose: str,
    book: BulletBook,
    insights: Sequence[Mapping[str, str]],
    dropped: Sequence[str],
) -> JsonAnswer[tuple[BulletOperation, ...]]:
    """The operations that a step's insights call for; `dropped` are bullets that the gate did not want."""
    alike = "\n".join(f"{first} and {second}" for first, second in book.alike())
    shown = [
        ("playbook", book.preamble),
        ("bullets", book.table() or "(none yet)"),
        ("bullets that may say the same", alike),
        ("bullets that were tried and did not help", "\n".join(f"- {text}" for text in dropped[-REMEMBERED:])),
        ("insights", as_json(insights)),
    ]
    instructions = _prompts(section).text("curator", budget=section.operations)
    return await ask_json(shop, purpose, messages([instructions], shown), _operations_in)


def _prompts(section: AceSection) -> OptimizerPrompts:
    return OptimizerPrompts(section.prompts, ROOM)


def _lesson_in(data: Mapping[str, Any]) -> Lesson:
    found = [{name: text_in(entry, name) for name in INSIGHT} for entry in entries(data, "insights")]
    tags: list[tuple[str, Tag]] = []
    for entry in entries(data, "bullet_tags"):
        tag = text_in(entry, "tag")
        if tag in get_args(Tag):
            tags.append((text_in(entry, "id").strip("[] "), tag))  # type: ignore[arg-type]
    return Lesson(tuple(insight for insight in found if insight["key_insight"]), tuple(tags))


def _operations_in(data: Mapping[str, Any]) -> tuple[BulletOperation, ...]:
    """Operations in their order; one of a kind that there is none of is passed over."""
    found = []
    for entry in entries(data, "operations"):
        kind = KINDS.get(text_in(entry, "type").strip().upper())
        if kind is not None:
            ids = (*texts_in(entry, "ids"), *texts_in(entry, "id"))
            named = tuple(name.strip("[] ") for name in ids)
            found.append(BulletOperation(kind, text_in(entry, "content"), text_in(entry, "section"), named))
    return tuple(found)
