"""A page around the matter of a task: style, filler to a size, damage at a rate. Joined from pieces, never parsed."""

from __future__ import annotations

import random

from whet.envs.soup1.archetype import Sheet, Size
from whet.envs.soup1.filler import Filler, filler
from whet.envs.soup1.styles import STYLES, PageStyle
from whet.envs.soup1.words import chance, phrase, pick, whole

LARGE = (50_000, 104_000)
"""Characters that a large page aims at; the last piece may add up to 5,000."""

SMALL = (0, 2)
"""Pieces of filler in a small page."""

_WRAPS = ("layout", "inner", "stack", "shell", "frame", "surface", "panel-host", "pane", "holder", "column-group")


def build(rng: random.Random, sheet: Sheet, size: Size, malformed: bool = False) -> str:
    """The page as text. The parts stand in their order; where filler stands between them is drawn."""
    if size == "bare":
        return "\n".join(sheet.parts)
    number = int(rng.random() * len(STYLES))
    pieces = filler(number)
    between = _large(rng, pieces, sheet) if size == "large" else rng.sample(pieces.small, whole(rng, *SMALL))
    if malformed:
        between += rng.sample(pieces.damaged, whole(rng, 1, 3))
        rng.shuffle(between)
    depth = whole(rng, 8, 15) if size == "large" else 0
    return _assembled(rng, sheet, STYLES[number], pieces, _mixed(rng, sheet.parts, between), depth, malformed)


def _large(rng: random.Random, pieces: Filler, sheet: Sheet) -> list[str]:
    """Pieces up to a size that is drawn."""
    wanted = whole(rng, *LARGE) - sum(map(len, sheet.parts))
    chosen: list[str] = []
    for piece in rng.sample(pieces.large, 60):
        if wanted <= 0:
            break
        chosen.append(piece)
        wanted -= len(piece)
    return chosen


def _mixed(rng: random.Random, parts: tuple[str, ...], between: list[str]) -> str:
    """The parts, in order, at places that are drawn among the filler."""
    places = sorted(whole(rng, 0, len(between)) for _ in parts)
    mixed: list[str] = []
    done = 0
    for place, part in zip(places, parts, strict=True):
        mixed += between[done:place]
        mixed += (part, "\n")
        done = place
    mixed += between[done:]
    return "".join(mixed)


def _assembled(
    rng: random.Random, sheet: Sheet, style: PageStyle, pieces: Filler, body: str, depth: int, malformed: bool
) -> str:
    wraps = "".join(
        f'<div class="{_WRAPS[(number * 7 + depth) % len(_WRAPS)]}"{style.mark}>' for number in range(depth)
    )
    # Where ends of wrappers are left out, nothing follows that could fall into them but the footer.
    ends = "</div>" * depth if not (malformed and chance(rng, 0.5)) else ""
    end = "</body>\n</html>\n" if not (malformed and chance(rng, 0.5)) else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{sheet.title or phrase(rng)}</title>\n"
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n{pick(rng, pieces.heads)}{sheet.head}\n'
        f"</head>\n<body>\n{pick(rng, pieces.headers)}{style.opening}{wraps}\n{body}\n{ends}{style.closing}\n"
        f"{pick(rng, pieces.footers)}{sheet.tail}\n{end}"
    )
