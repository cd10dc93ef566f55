"""Charts as SVG: bars whose heights and points whose places stand for numbers."""

from __future__ import annotations

import random

from whet.envs.soup1.archetype import Sheet, TaskDraft
from whet.envs.soup1.archetypes.markup import answered, asked, mixed
from whet.envs.soup1.words import ident, lookalikes, phrase, pick, token, whole

_BARS = (
    'The chart with id "{name}" is an svg whose rect elements of class "{mark}" are bars: the height of each is '
    "{scale} times its value. Return the values from left to right (by x) as integers.",
    'Read the bar chart "#{name}": one <rect class="{mark}"> a bar, height = {scale} x value. List the values as '
    "integers in the order of their x coordinate.",
    'Return the integers that the rect.{mark} bars of the svg "{name}" show, sorted by x; value = height / {scale}.',
)

_POINTS = (
    'In the svg with id "{name}" each circle is a point with cy = {base} - {scale} x value. Return the values as '
    "integers in the order of cx.",
    'Read the line chart "#{name}": its <circle> elements lie at cy = {base} - {scale} * value. List the integer '
    "values from left to right (by cx).",
    'Return the integers behind the circles of the svg "{name}", sorted by cx; value = ({base} - cy) / {scale}.',
)


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)


def _values(rng: random.Random) -> list[int]:
    return [whole(rng, 10, 100) for _ in range(whole(rng, 5, 8))]


def _svg(name: str, inner: str) -> str:
    return f'<svg id="{name}" width="640" height="400">\n{inner}\n</svg>'


def bars(rng: random.Random) -> TaskDraft:
    """A bar chart."""
    name, mark, scale = ident(rng), f"bar-{token(rng)}", pick(rng, (2, 3, 4, 1.5, 2.5))
    values = _values(rng)
    base = whole(rng, 260, 390)

    def drawn(some: list[int], named: str) -> str:
        lines = [
            f'<rect class="{named}" x="{20 + 40 * at}" y="{_number(base - value * scale)}" width="24" '
            f'height="{_number(value * scale)}"></rect>'
            for at, value in enumerate(some)
        ]
        frame = '<rect class="frame" x="0" y="0" width="640" height="400"></rect>'
        return "\n".join([frame, *mixed(rng, lines), f'<text x="10" y="20">{phrase(rng)}</text>'])

    decoy = _svg(lookalikes(rng, name, 1)[0], drawn(_values(rng), mark))
    target = _svg(name, drawn(values, mark))
    return TaskDraft(
        query=asked(rng, _BARS, name=name, mark=mark, scale=scale),
        answer=values,
        sheet=Sheet(mixed(rng, (target, decoy))),
        code=(
            answered(
                f"[round(float(one['height']) / {scale}) for one in sorted(found, key=lambda one: float(one['x']))]",
                f"found = soup.find(id={name!r}).find_all('rect', class_={mark!r})",
            ),
        ),
    )


def points(rng: random.Random) -> TaskDraft:
    """A line chart with a circle at each point."""
    name, scale, base = ident(rng), pick(rng, (1.5, 2, 2.5, 3, 1)), whole(rng, 310, 390)
    values = _values(rng)

    def drawn(some: list[int]) -> str:
        places = [(30 + 70 * at, _number(base - value * scale)) for at, value in enumerate(some)]
        line = " ".join(f"{x},{y}" for x, y in places)
        circles = [f'<circle cx="{x}" cy="{y}" r="4"></circle>' for x, y in places]
        return "\n".join([f'<polyline points="{line}" fill="none"></polyline>', *mixed(rng, circles)])

    decoy = _svg(lookalikes(rng, name, 1)[0], drawn(_values(rng)))
    return TaskDraft(
        query=asked(rng, _POINTS, name=name, base=base, scale=scale),
        answer=values,
        sheet=Sheet(mixed(rng, (_svg(name, drawn(values)), decoy))),
        code=(
            answered(
                f"[round(({base} - float(one['cy'])) / {scale}) for one in found]",
                f"found = sorted(soup.find(id={name!r}).find_all('circle'), key=lambda one: float(one['cx']))",
            ),
        ),
    )
