"""The book of ACE: bullets with an id and a record, changed by small operations and by nothing else.

A book cannot collapse. There is no operation that writes it anew: one adds a bullet, rewords one, joins a few that say
the same, or removes one. A step may take away only a part of the book, and none whose record speaks for it. Records
are the book's own; the target reads ids and texts, so a count that moves makes no other policy of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from whet.envs.near import WORD, Gist

Tag = Literal["helpful", "harmful", "neutral"]

LOST = 0.25
"""The share of a book that one step may take away, and one bullet at least."""

LONGEST = 600
"""Characters of a bullet."""

GENERAL = "General"
"""The section of a bullet whose own is not named."""

_SMALL = frozenset(
    ("a", "an", "and", "are", "as", "at", "be", "by", "for", "in", "is", "it", "of", "on", "or", "the", "to")
)
"""Words that make no other sentence of one. No negation is among them."""


@dataclass(frozen=True, slots=True)
class Bullet:
    """One thing that the book says. `helpful` and `harmful` count attempts that were laid to its account."""

    id: str
    section: str
    text: str
    helpful: int = 0
    harmful: int = 0
    step: int = 0

    @property
    def worth(self) -> int:
        return self.helpful - self.harmful

    @property
    def words(self) -> frozenset[str]:
        """What it says, whatever the order and the small words."""
        return frozenset(WORD.findall(self.text.casefold())) - _SMALL

    def as_data(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class BulletOperation:
    """A delta: `ids` is the bullet that is meant, or for `merge` those that become one."""

    kind: Literal["add", "revise", "merge", "remove"]
    text: str = ""
    section: str = ""
    ids: tuple[str, ...] = ()

    def as_data(self) -> dict[str, Any]:
        return {"type": self.kind.upper(), "ids": list(self.ids), "section": self.section, "content": self.text}

    def __str__(self) -> str:
        return " ".join(part for part in (self.kind, ", ".join(self.ids), self.text) if part)


@dataclass(frozen=True, slots=True)
class BulletBook:
    """`preamble` is the text that training started from; it stays as it is, above the bullets."""

    preamble: str = ""
    bullets: tuple[Bullet, ...] = ()
    fresh: int = 1
    """The number of the next bullet: an id is never given twice."""

    @classmethod
    def read(cls, body: str) -> BulletBook:
        """A body that `text` made, its bullets with an empty record; any other is a preamble."""
        head, mark, rest = body.partition(HEADING)
        found: list[Bullet] = []
        section = GENERAL
        for line in rest.splitlines():
            if title := _SECTION.fullmatch(line):
                section = title[1]
            elif bullet := _LINE.fullmatch(line):
                found.append(Bullet(bullet[1], section, bullet[2]))
            elif line.strip():
                return cls(body)  # somebody wrote below the bullets: then all of it is theirs
        if not mark:
            return cls(body)
        return cls(head.rstrip("\n"), tuple(found), 1 + max((int(bullet.id[1:]) for bullet in found), default=0))

    @property
    def text(self) -> str:
        """The body of the playbook: what was there before, then the bullets under their sections."""
        if not self.bullets:
            return self.preamble
        sections: dict[str, list[str]] = {}
        for bullet in self.bullets:
            sections.setdefault(bullet.section, []).append(f"- [{bullet.id}] {bullet.text}")
        parts = [HEADING + "".join(f"\n\n### {name}\n" + "\n".join(lines) for name, lines in sections.items())]
        return "\n\n".join(part for part in (self.preamble, *parts) if part)

    def table(self) -> str:
        """The bullets with their records, as reflector and curator read them."""
        return "\n".join(
            f"[{bullet.id}] ({bullet.section}; helpful {bullet.helpful}, harmful {bullet.harmful}) {bullet.text}"
            for bullet in self.bullets
        )

    def by_id(self) -> dict[str, Bullet]:
        return {bullet.id: bullet for bullet in self.bullets}

    # ------------------------------------------------------------------------------------------- records

    def counted(self, tags: Iterable[tuple[str, Tag]]) -> BulletBook:
        """The same book with what a reflection lays to the account of its bullets; unknown ids are passed over."""
        gained: dict[str, dict[str, int]] = {}
        for name, tag in tags:
            if tag != "neutral":
                gained.setdefault(name, {"helpful": 0, "harmful": 0})[tag] += 1
        counted = (
            replace(
                bullet,
                helpful=bullet.helpful + gained.get(bullet.id, {}).get("helpful", 0),
                harmful=bullet.harmful + gained.get(bullet.id, {}).get("harmful", 0),
            )
            for bullet in self.bullets
        )
        return replace(self, bullets=tuple(counted))

    def recorded(self, other: BulletBook) -> BulletBook:
        """The same book with the records that another keeps of the same bullets."""
        theirs = {(bullet.id, bullet.text): bullet for bullet in other.bullets}
        known = (theirs.get((bullet.id, bullet.text), bullet) for bullet in self.bullets)
        pairs = zip(self.bullets, known, strict=True)
        return replace(
            self, bullets=tuple(replace(own, helpful=kept.helpful, harmful=kept.harmful) for own, kept in pairs)
        )

    # ------------------------------------------------------------------------------------------- deltas

    def apply(
        self, operations: Sequence[BulletOperation], step: int
    ) -> tuple[BulletBook, list[tuple[BulletOperation, str]]]:
        """The book after a step's operations, and those that were refused, each with the reason."""
        book, refused, lost = self, [], 0
        most = max(1, int(LOST * len(self.bullets)))
        for operation in operations:
            made = book._applied(operation, step, most - lost)
            if isinstance(made, str):
                refused.append((operation, made))
                continue
            lost += max(0, len(book.bullets) - len(made.bullets))
            book = made
        return book, refused

    def _applied(self, operation: BulletOperation, step: int, spare: int) -> BulletBook | str:
        """One operation, or why not. `spare` is how many bullets may still go."""
        known = self.by_id()
        if strange := [name for name in operation.ids if name not in known]:
            return f"there is no bullet {strange[0]}"
        text = " ".join(operation.text.split())
        if len(text) > LONGEST:
            return f"it has {len(text)} characters, a bullet at most {LONGEST}"
        match operation.kind:
            case "add":
                return self._added(text, operation.section, step)
            case "revise":
                return self._revised(known[operation.ids[0]], text) if operation.ids else "it names no bullet"
            case "merge":
                return self._merged([known[name] for name in dict.fromkeys(operation.ids)], text, spare)
            case "remove":
                return self._removed([known[name] for name in operation.ids], spare)

    def _added(self, text: str, section: str, step: int) -> BulletBook | str:
        name = " ".join(section.split()).strip("#[] ")[:60] or GENERAL
        bullet = Bullet(f"b{self.fresh:04d}", name, text, step=step)
        if not bullet.words:
            return "it says nothing"
        if any(bullet.words == other.words for other in self.bullets) or text in self.preamble:
            return "the book says so already"
        return replace(self, bullets=(*self.bullets, bullet), fresh=self.fresh + 1)

    def _revised(self, bullet: Bullet, text: str) -> BulletBook | str:
        """Other words have no record yet."""
        made = replace(bullet, text=text, helpful=0, harmful=0)
        if not made.words or made.words == bullet.words:
            return "it says nothing else"
        if bullet.worth > 0:
            return f"the record of {bullet.id} speaks for what it says"
        return self._with({bullet.id: made})

    def _merged(self, bullets: Sequence[Bullet], text: str, spare: int) -> BulletBook | str:
        """The first of them keeps its id and gets the records of all."""
        if len(bullets) < 2:
            return "it joins no two bullets"
        first, *others = bullets
        if not all(Gist.of(first.text).alike(Gist.of(other.text)) for other in others):
            return "they do not say the same"
        if len(others) > spare:
            return "too much of the book would go in one step"
        helpful, harmful = (sum(getattr(bullet, name) for bullet in bullets) for name in ("helpful", "harmful"))
        kept = replace(first, text=text or first.text, helpful=helpful, harmful=harmful)
        return self._with({first.id: kept, **{other.id: None for other in others}})

    def _removed(self, bullets: Sequence[Bullet], spare: int) -> BulletBook | str:
        if len(bullets) != 1:
            return "it removes one bullet or none"
        if bullets[0].worth > 0:
            return f"the record of {bullets[0].id} speaks for it"
        if spare < 1:
            return "too much of the book would go in one step"
        return self._with({bullets[0].id: None})

    def _with(self, changed: Mapping[str, Bullet | None]) -> BulletBook:
        kept = (changed.get(bullet.id, bullet) for bullet in self.bullets)
        return replace(self, bullets=tuple(bullet for bullet in kept if bullet is not None))

    # ------------------------------------------------------------------------------------------- refinement

    def refined(self, harm: int, most: int, max_bytes: int) -> BulletBook:
        """Without bullets that harmed `harm` times more than they helped; then without the least, until it fits."""
        kept = [bullet for bullet in self.bullets if bullet.worth > -harm]
        while kept and (len(kept) > most or len(replace(self, bullets=tuple(kept)).text.encode()) > max_bytes):
            kept.remove(min(kept, key=lambda bullet: (bullet.worth, bullet.helpful, -bullet.step)))
        return replace(self, bullets=tuple(kept))

    def alike(self) -> list[tuple[str, str]]:
        """Pairs of bullets that may say the same: for the curator, who can tell."""
        gists = [Gist.of(bullet.text) for bullet in self.bullets]
        return [
            (self.bullets[at].id, self.bullets[after].id)
            for at in range(len(gists))
            for after in range(at + 1, len(gists))
            if gists[at].alike(gists[after])
        ]


HEADING = "## Learned"
_SECTION = re.compile(r"### (.+)")
_LINE = re.compile(r"- \[(b\d+)\] (.+)")
