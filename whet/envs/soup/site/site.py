"""A site: its look, its words, and its pages."""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from whet.envs.soup.site.lexicon import Lexicon, lexicons, whole
from whet.envs.soup.site.look import Look, look_of
from whet.envs.soup.site.vocabulary import Half

Size = Literal["bare", "small", "large", "huge"]


@dataclass(frozen=True, slots=True)
class Site:
    """One generated site."""

    seed: int
    half: Half
    name: str
    look: Look
    words: Lexicon
    filler_words: Lexicon

    def page(
        self,
        rng: random.Random,
        parts: Sequence[str],
        *,
        size: Size,
        title: str = "",
        head: str = "",
        tail: str = "",
        state: Mapping[str, object] | None = None,
        damage: float = 0.0,
        visible: bool = True,
    ) -> str:
        """A page that holds the parts, in their order."""
        if size == "bare":
            return "\n".join(parts)
        filler = self.filler_words
        body: list[str] = []
        for part in parts:
            body += [
                f'<div class="{self.look.cls("~text")}">{filler.paragraph(rng)}</div>' for _ in range(whole(rng, 0, 3))
            ]
            body.append(part if visible else f'<div hidden style="display:none">{part}</div>')
        if state is not None:
            text = json.dumps(state, ensure_ascii=False).replace("<", "\\u003c")
            tail += f'<script id="{self.look.ident("state")}" type="application/json">{text}</script>'
        matter = "\n".join(body)
        return (
            f"<!DOCTYPE html>\n<html><head><title>{title or filler.phrase(rng)}</title>{head}</head>\n"
            f"<body><div>{matter}</div>{tail}</body></html>"
        )


@functools.lru_cache(maxsize=256)
def site(seed: int, half: Half) -> Site:
    """The site with this seed: the same in every process."""
    rng = random.Random(f"site {half} {seed}")
    matter, filler = lexicons(rng, half)
    return Site(seed, half, matter.company(rng), look_of(seed, half), matter, filler)
