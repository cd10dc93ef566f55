"""What no rule may say, whoever proposes it: a rule is general, so nothing of one ticket may stand in it.

A rule that quotes a ticket is a memory of it: on the tickets of the gate it cannot fire, and a label or an id in it is
what a site wrote about itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from whet.learn.rules.book import ABLATION, Operation, RuleBook, RuleRefusal
from whet.learn.rules.types import PoolAttempt, TriedOperation

_NAMES = (
    (re.compile(r"\b(train|select|test)/\d+"), "the id of a task"),
    (re.compile(r"::\s*(pass|fail)\b", re.IGNORECASE), "the key of a ticket"),
    (re.compile(r"\bQC-[\w-]*\d{4,}", re.IGNORECASE), "the id of a group"),
    (re.compile(r"\bimage[_ ]?\d+|图片_?\d+", re.IGNORECASE), "a photo by its number"),
    (re.compile(r"[{}].*:|\[\s*\{"), "a piece of a summary"),
)
"""Shapes that belong to one ticket whatever the pool is."""

_CODED = re.compile(r"[\w.-]*\d[\w.-]*")
"""A word with a digit in it: a label, a number of a plate, a name of a file."""

_DATE = re.compile(r"\d{4}-\d\d-\d\d")

SHORT = 4
"""Characters below which such a word is a count or a unit."""

FEW = 0.02
"""A word with digits that stands in at most this share of the tickets, or in three, belongs to those tickets."""


@dataclass(frozen=True, slots=True)
class PoolWords:
    """Words with digits by the number of tickets of the propose pool that hold them."""

    counts: Counter[str] = field(default_factory=Counter)
    tickets: int = 0

    @classmethod
    def of(cls, attempts: Sequence[PoolAttempt]) -> PoolWords:
        words = [_coded(_texts(attempt)) for attempt in attempts]
        return cls(Counter(word for said in words for word in said), len(attempts))

    def quoted(self, text: str) -> str:
        """A word of `text` that stands in few tickets of the pool, and so tells which; '' where there is none."""
        few = max(3, int(FEW * self.tickets))
        return next((word for word in sorted(_coded([text])) if 0 < self.counts[word] <= few), "")


def refuse(
    operation: Operation, book: RuleBook, pool: PoolWords, tried: Iterable[TriedOperation] = ()
) -> RuleRefusal | None:
    """Why an operation is not even tried; None where it may be."""
    refusal = book.refusal(operation)
    if refusal is not None:
        return refusal
    for shape, what in _NAMES:
        if found := shape.search(operation.text):
            return RuleRefusal("quotes_a_ticket", f"{found[0]!r} is {what}; a rule speaks of no single ticket")
    if word := pool.quoted(operation.text):
        return RuleRefusal(
            "quotes_a_ticket", f"{word!r} stands in {pool.counts[word]} tickets alone; a rule is general"
        )
    before = [attempt for attempt in tried if attempt.operation.signature == operation.signature]
    barring = [attempt for attempt in before if attempt.bars(book)]
    if barring:
        return RuleRefusal("tried_before", f"step {barring[-1].step} brought it: {barring[-1].outcome}")
    return None


def admitted(
    operations: Sequence[Operation], book: RuleBook, pool: PoolWords, tried: Sequence[TriedOperation], most: int
) -> Iterator[tuple[Operation, RuleRefusal | None]]:
    """At most so many operations that may be tried, and those that may not, with why; a removal that only fills a spare
    place is passed over in silence."""
    seen: set[str] = set()
    for operation in operations:
        fills = operation.source == ABLATION
        if len(seen) >= most and fills:
            return
        refusal = refuse(operation, book, pool, tried)
        if refusal is None and operation.signature in seen:
            refusal = RuleRefusal("duplicate", "it was brought twice in this round")
        if refusal is None and len(seen) >= most:
            refusal = RuleRefusal("no_place", f"a round judges {most} operations")
        if refusal is None:
            seen.add(operation.signature)
        elif fills:
            continue
        yield operation, refusal


def _coded(texts: Iterable[str]) -> set[str]:
    words = {word.strip(".-") for text in texts for word in _CODED.findall(text)}
    return {word for word in words if len(word) >= SHORT and not _DATE.fullmatch(word)}


def _texts(attempt: PoolAttempt) -> list[str]:
    named = attempt.task.data.get("images", ())
    return [*(message.text for message in attempt.task.messages), *(str(name) for name in named)]
