"""Charts as SVG, drawn here and not in the page: the same picture in a report, in the viewer and without scripts.

Colours are classes of the style sheet, so that they follow light and dark; every series also has a shape of its own,
for whoever sees no colours or prints in grey. Every chart says in words what it shows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from whet.evals.estimate import Estimate
from whet.report.fold import RunFacts, StageCost
from whet.report.markup import Markup, join, tag


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a chart is drawn: its size, its margins and what its axes span."""

    width: float
    height: float
    x: tuple[float, float]
    y: tuple[float, float]
    left: float = 46.0
    right: float = 12.0
    top: float = 14.0
    bottom: float = 30.0

    def at_x(self, value: float) -> float:
        low, high = self.x
        share = (value - low) / (high - low) if high > low else 0.5
        return round(self.left + share * (self.width - self.left - self.right), 2)

    def at_y(self, value: float) -> float:
        low, high = self.y
        share = (value - low) / (high - low) if high > low else 0.5
        return round(self.height - self.bottom - share * (self.height - self.top - self.bottom), 2)

    def axes(self, x_ticks: Sequence[tuple[float, str]], y_ticks: Sequence[tuple[float, str]]) -> Markup:
        right = self.width - self.right
        rules = [
            tag("line", x1=self.left, x2=right, y1=self.at_y(y), y2=self.at_y(y), class_="rule") for y, _ in y_ticks
        ]
        sides = [tag("text", name, x=self.left - 6, y=self.at_y(y) + 4, class_="tick end") for y, name in y_ticks]
        foot = self.height - self.bottom + 16
        below = [tag("text", name, x=self.at_x(x), y=foot, class_="tick middle") for x, name in x_ticks]
        return join(rules, sides, below)


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers between two values."""
    if not high > low:
        return [low]
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * many for many in (1, 2, 5, 10) if power * many >= rough)
    first = math.ceil(low / step - 1e-9)
    return [round(number * step, 12) for number in range(first, math.floor(high / step + 1e-9) + 1)]


def short(value: float) -> str:
    """A number as short as a tick allows."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def svg(width: float, height: float, says: str, *children: object, fixed: bool = False) -> Markup:
    """A drawing that says in words what it shows. One with a fixed size stands within a line of text."""
    size = {"width": f"{width:g}", "height": f"{height:g}"} if fixed else {}
    return tag(
        "svg",
        tag("title", says),
        *children,
        viewBox=f"0 0 {width:g} {height:g}",
        role="img",
        aria_label=says,
        class_="mark" if fixed else "chart",
        **size,
    )


def interval_mark(estimate: Estimate | None, span: tuple[float, float] = (0.0, 1.0), *, muted: bool = False) -> Markup:
    """A value with its interval, small enough for a cell of a table."""
    if estimate is None:
        return Markup("")
    frame = Frame(132, 18, span, (0, 1), 4, 4, 2, 2)
    low, high = (min(max(value, span[0]), span[1]) for value in (estimate.interval.low, estimate.interval.high))
    value = min(max(estimate.value, span[0]), span[1])
    kind = "muted" if muted else "blue"
    zero = min(max(0.0, span[0]), span[1])
    says = f"{estimate.value:.3f}, interval {estimate.interval.low:.3f} to {estimate.interval.high:.3f}"
    return svg(
        132,
        18,
        says,
        tag("line", x1=4, x2=128, y1=9, y2=9, class_="rule"),
        tag("line", x1=frame.at_x(zero), x2=frame.at_x(zero), y1=3, y2=15, class_="rule") if span[0] < 0 else None,
        tag(
            "rect",
            x=frame.at_x(low),
            y=6,
            width=max(1.5, frame.at_x(high) - frame.at_x(low)),
            height=6,
            rx=3,
            class_=f"range {kind}",
        ),
        tag("circle", cx=frame.at_x(value), cy=9, r=4, class_=f"dot {kind}"),
        fixed=True,
    )


def learning_chart(run: RunFacts) -> Markup | None:
    """The score over decisions: what was accepted with its interval, what was rejected, and the train rollouts."""
    judged = [decision for decision in run.decisions if decision.candidate is not None]
    if not judged and len(run.steps) < 2:
        return None
    names = list(dict.fromkeys([*(step.name for step in run.steps), *(decision.step for decision in judged)]))
    names.sort(key=_step_order)
    last = max(len(names), 1)
    place = {name: index + 1.0 for index, name in enumerate(names)}
    ends = [
        end
        for decision in judged
        if decision.candidate
        for end in (decision.candidate.interval.low, decision.candidate.interval.high)
    ]
    frame = Frame(760, 300, (0.0, last + 0.4), (min(0.0, *ends, 0.0), max(1.0, *ends, 1.0)))
    every = max(1, math.ceil(last / 10))
    marks = [(0.0, "start")] + [(place[name], name) for name in names[every - 1 :: every]]
    y_ticks = [(value, short(value)) for value in ticks(*frame.y)]
    drawn: list[object] = [frame.axes(marks, y_ticks)]
    rolled = [(place[step.name], step.train.value) for step in run.steps if step.train is not None]
    if len(rolled) > 1:
        drawn.append(_line(frame, rolled, "line grey dashed"))
    drawn += [tag("circle", cx=frame.at_x(x), cy=frame.at_y(y), r=2.5, class_="dot grey") for x, y in rolled]
    first = next((decision.incumbent for decision in judged if decision.incumbent is not None), None)
    path: list[tuple[float, float]] = [] if first is None else [(0.0, first.value)]
    crowd: dict[str, int] = {}
    for decision in judged:
        crowd[decision.step] = crowd.get(decision.step, 0) + 1
        assert decision.candidate is not None
        x = place[decision.step] + 0.12 * (crowd[decision.step] - 1)
        if decision.accepted:
            if path:
                path.append((x, path[-1][1]))
            path.append((x, decision.candidate.value))
        drawn.append(_candidate(frame, x, decision.candidate, accepted=decision.accepted, says=decision.says))
    if path:
        path.append((last + 0.4, path[-1][1]))
        drawn.insert(1, _line(frame, path, "line blue thick"))
    accepted = sum(decision.accepted for decision in judged)
    says = f"score over {last} steps; {accepted} of {len(judged)} candidates accepted"
    return join(
        _framed(svg(760, 300, says, *drawn)),
        _legend(
            ("accepted", "keyaccepted"),
            ("rejected or undecided", "keyrejected"),
            ("current score", "keyline"),
            ("train rollouts", "keytrain"),
        ),
    )


def _step_order(name: str) -> tuple[int, ...]:
    return tuple(int(part.lstrip("es")) for part in name.split("/") if part.lstrip("es").isdecimal())


def _candidate(frame: Frame, x: float, score: Estimate, *, accepted: bool, says: str) -> Markup:
    at, y = frame.at_x(x), frame.at_y(score.value)
    kind = "green" if accepted else "red"
    ends = frame.at_y(score.interval.low), frame.at_y(score.interval.high)
    shape = (
        tag("circle", cx=at, cy=y, r=6, class_="dot green")
        if accepted
        else tag("path", d=f"M{at - 5} {y - 5}L{at + 5} {y + 5}M{at - 5} {y + 5}L{at + 5} {y - 5}", class_="cross red")
    )
    path = f"M{at} {ends[0]}V{ends[1]}M{at - 4} {ends[0]}h8M{at - 4} {ends[1]}h8"
    return tag("g", tag("title", says), tag("path", d=path, class_=f"whisker {kind}"), shape)


def _line(frame: Frame, points: Sequence[tuple[float, float]], kind: str) -> Markup:
    path = "M" + "L".join(f"{frame.at_x(x)} {frame.at_y(y)}" for x, y in points)
    return tag("path", d=path, class_=kind)


def _framed(drawing: Markup) -> Markup:
    """A wide drawing in a box that a narrow window scrolls."""
    return tag("div", drawing, class_="scroll", tabindex="0", role="group", aria_label="chart")


def _legend(*keys: tuple[str, str]) -> Markup:
    return tag("p", [tag("span", name, class_=f"key {kind}") for name, kind in keys], class_="legend")


SHAPES = ("", "dashed", "dotted", "dashdot")


def line_chart(
    title: str, series: Mapping[str, Sequence[tuple[float, float]]], *, width: float = 360, height: float = 180
) -> Markup | None:
    """One figure over the steps of a training; several of them tell apart by colour and by dashes."""
    known = {name: [(x, y) for x, y in points if math.isfinite(y)] for name, points in series.items()}
    known = {name: points for name, points in known.items() if points}
    if not known:
        return None
    xs = [x for points in known.values() for x, _ in points]
    ys = [y for points in known.values() for _, y in points]
    low, high = min(ys), max(ys)
    pad = (high - low) * 0.08 or abs(high) * 0.1 or 0.5
    low, high = (0.0 if 0.0 <= low < 0.4 * high else low - pad), high + pad
    frame = Frame(width, height, (min(xs), max(xs) if max(xs) > min(xs) else min(xs) + 1), (low, high), left=52)
    whole = all(x == int(x) for x in xs)
    x_ticks = [(value, short(value)) for value in ticks(*frame.x, 6) if value == int(value) or not whole]
    y_ticks = [(value, short(value)) for value in ticks(low, high, 4)]
    drawn = [frame.axes(x_ticks, y_ticks)]
    colours = ("blue", "orange", "green", "grey")
    for at, (_, points) in enumerate(known.items()):
        kind = f"{colours[at % 4]} {SHAPES[at % 4]}".strip()
        drawn.append(_line(frame, points, f"line {kind}") if len(points) > 1 else Markup(""))
        if len(points) <= 40:
            drawn += [
                tag("circle", cx=frame.at_x(x), cy=frame.at_y(y), r=2, class_=f"dot {colours[at % 4]}")
                for x, y in points
            ]
    says = f"{title}: from {short(ys[0])} to {short(ys[-1])} over {len(xs)} points"
    keys = [(name, f"keyline {colours[at % 4]} {SHAPES[at % 4]}") for at, name in enumerate(known)]
    return tag(
        "figure",
        tag("figcaption", title),
        svg(width, height, says, *drawn),
        _legend(*keys) if len(known) > 1 else None,
        class_="small",
    )


def cost_chart(costs: Sequence[StageCost]) -> Markup | None:
    """What each stage used, as bars: dollars where prices are known, else tokens."""
    priced = all(cost.usd is not None for cost in costs) and any(cost.usd for cost in costs)
    used = [(cost.stage, (cost.usd or 0.0) if priced else float(cost.tokens)) for cost in costs]
    used = sorted(((stage, amount) for stage, amount in used if amount), key=lambda pair: -pair[1])
    if not used:
        return None
    height = 24.0 * len(used) + 8
    most = used[0][1]
    drawn: list[Markup] = []
    for row, (stage, amount) in enumerate(used):
        y = 24.0 * row + 6
        wide = max(2.0, 420 * amount / most)
        said = f"${amount:.4f}" if priced else f"{amount:,.0f} tokens"
        drawn += [
            tag("text", stage, x=132, y=y + 12, class_="tick end"),
            tag("rect", x=140, y=y, width=round(wide, 1), height=16, rx=3, class_="bar blue"),
            tag("text", said, x=round(148 + wide, 1), y=y + 12, class_="tick"),
        ]
    what = "dollars" if priced else "tokens"
    return _framed(svg(700, height, f"{what} by stage; most went to {used[0][0]}", *drawn))


def looks_chart(looks: Sequence[Mapping[str, object]]) -> Markup | None:
    """The statistic of a decision at each look, with the bounds it was read against."""

    def points(name: str) -> list[tuple[float, float]]:
        found = [(number + 1.0, look.get(name)) for number, look in enumerate(looks)]
        return [(x, float(y)) for x, y in found if isinstance(y, int | float)]

    names = {"statistic": "statistic", "accepted from": "accept_from", "rejected below": "reject_below"}
    return line_chart(
        "statistic at each look", {name: points(key) for name, key in names.items()}, width=520, height=220
    )
