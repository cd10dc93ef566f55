"""A task from an archetype, a split and an ordinal: its site, its question, its pages and their truths.

A site belongs to one split, so no page of it is met in another; train and select are written in one half of the
vocabulary, test in the other. A task is its site and its question; what stands on a page is drawn from the page's own
seed when the page is needed, so a task costs one page and a submission the others.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from whet.envs import splits
from whet.envs.soup.archetype import ADDRESSES, TaskKind
from whet.envs.soup.desk import Address, Desk, PageDraft, PagePlan, TaskPlan
from whet.envs.soup.site import Half, Size, site
from whet.envs.soup.site.lexicon import pick
from whet.envs.soup.tools import WebPage
from whet.keys import seed_for
from whet.types import Split

ODDS = 8
"""One task in so many cannot be answered. Each is drawn apart from all others: what others are tells nothing of it."""

UNSEEN: dict[Size, int] = {"bare": 5, "small": 5, "large": 3, "huge": 3}
"""Pages that an extractor is run on beside the one that was explored."""

_DAMAGE = (0.0, 0.0, 0.3, 0.6)


@dataclass(frozen=True, slots=True)
class SiteDraft:
    """Everything about a task but its pages as text."""

    kind: TaskKind
    desk: Desk
    plan: TaskPlan
    address: Address
    size: Size
    pages: tuple[PagePlan, ...]
    """What is planned for each page, the explored one first."""
    seed: int
    _drawn: dict[int, tuple[Any, Any]] = field(default_factory=dict, compare=False, repr=False)

    @property
    def query(self) -> str:
        return self.plan.ask(self.address)

    def matter(self, number: int) -> tuple[Any, Any]:
        """What a page is about, and its true answer."""
        if number not in self._drawn:
            rng = random.Random(seed_for("soup matter", self.seed, number))
            self._drawn[number] = self.plan.draw(rng, self.pages[number])
        return self._drawn[number]

    @property
    def truths(self) -> list[Any]:
        return [self.matter(number)[1] for number in range(len(self.pages))]

    def draft(self, number: int) -> PageDraft:
        """A page before it is built."""
        return self._written(random.Random(seed_for("soup page", self.seed, number)), number)

    def page(self, number: int) -> tuple[WebPage, PageDraft]:
        """A page as text, with those that its links lead to."""
        rng = random.Random(seed_for("soup page", self.seed, number))
        draft = self._written(rng, number)
        html = self._built(rng, draft.parts, draft)
        links = {href: self._built(rng, parts, None) for href, parts in draft.links.items()}
        return WebPage(html, {**draft.stubs, **links}), draft

    def _written(self, rng: random.Random, number: int) -> PageDraft:
        self.desk.explored = number == 0
        return self.plan.write(rng, self.matter(number)[0], self.pages[number])

    def _built(self, rng: random.Random, parts: Sequence[str], draft: PageDraft | None) -> str:
        own = draft or PageDraft(())
        return self.desk.site.page(
            rng,
            parts,
            size=self.size if draft is not None or self.size == "bare" else "small",
            title=own.title,
            head=own.head,
            tail=own.tail,
            state=own.state,
            damage=pick(rng, _DAMAGE),
        )


def draw(kind: TaskKind, split: Split, ordinal: int, seed: int, limits: bool = True, address: str = "") -> SiteDraft:
    """The task of this archetype with this number; `address` takes the choice of it out of the draw."""
    number = splits.draw(("soup", kind.name, seed), split, ordinal, lambda drawn: drawn, lambda drawn: f"site {drawn}")
    half: Half = "bench" if split == "test" else "train"
    rng = random.Random(seed_for("soup task", number))
    desk = Desk(site(number, half), rng)
    plan = kind.plan(desk)
    choices = ADDRESSES[kind.difficulty]
    drawn = pick(rng, choices)
    size = pick(rng, kind.sizes)
    limited = limits and is_limit(kind, split, ordinal, seed)
    count = min(UNSEEN[size], plan.unseen)
    gap = 1 + int(rng.random() * count) if count >= 5 and rng.random() < 0.4 else 0
    planned = [PagePlan(hide="own" if limited else "other")]
    planned += [
        PagePlan(missing=place == gap, hide="other" if rng.random() < 0.5 else None) for place in range(1, count + 1)
    ]
    return SiteDraft(kind, desk, plan, address or drawn, size, tuple(planned), number)  # type: ignore[arg-type]


def is_limit(kind: TaskKind, split: Split, ordinal: int, seed: int) -> bool:
    """Whether this task cannot be answered: nothing of its question goes into it."""
    return seed_for("soup limit", kind.name, split, ordinal, seed) % ODDS == 0
