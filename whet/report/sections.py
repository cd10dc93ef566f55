"""The parts of a page about a run, shared by the report and the viewer: functions from its record to markup."""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from whet.evals.compare import Comparison, Contrast, Flip, p_words, signed
from whet.evals.estimate import LEVEL, Estimate
from whet.report import charts
from whet.report.fold import DecisionFacts, EditItem, GroupScore, PlaybookVersion, PolicyScore, RunFacts
from whet.report.markup import Markup, join, outside_notes, tag


def nowhere(**_: Any) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class PageLinks:
    """Where a page's names lead: to other pages in the viewer, within the page or nowhere in a report."""

    rollouts: Callable[..., str | None] = nowhere
    rollout: Callable[[int], str | None] = lambda _: None
    decision: Callable[[int], str | None] = lambda _: None


def link(address: str | None, *children: object) -> Markup:
    return tag("a", *children, href=address) if address else join(*children)


def section(title: str, *children: object, id_: str = "", lead: str = "") -> Markup | None:
    """A part of a page with its heading; None where it has nothing to show."""
    shown = [child for child in children if child is not None and child != ""]
    if not shown:
        return None
    name = id_ or title.lower().replace(" ", "-")
    told = tag("p", lead, class_="lead") if lead else None
    return tag("section", tag("h2", title), told, *shown, id=name, data_live=True)


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], *, caption: str, class_: str = "") -> Markup:
    """A table in a box that scrolls where the window is narrow. A head that ends in `#` is of numbers."""
    numbers = [head.endswith("#") for head in heads]
    head = [
        tag("th", name.rstrip("#"), scope="col", class_="number" if number else None)
        for name, number in zip(heads, numbers, strict=True)
    ]

    def cells(row: Sequence[object]) -> list[Markup]:
        return [tag("td", cell, class_="number" if n else None) for cell, n in zip(row, numbers, strict=True)]

    body = [tag("tr", cells(row)) for row in rows]
    held = tag(
        "table",
        tag("caption", caption, class_="unseen"),
        tag("thead", tag("tr", head)),
        tag("tbody", body),
        class_=class_,
    )
    return tag("div", held, class_="scroll", tabindex="0", role="group", aria_label=caption)


def rate_words(estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    return f"{estimate.value:.3f} [{estimate.interval.low:.3f}, {estimate.interval.high:.3f}]"


def money(usd: float | None) -> str:
    if usd is None:
        return "price unknown"
    return "$0" if not usd else f"${usd:.2f}" if usd >= 1 else f"${usd:.4f}"


def duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 100 else f"{minutes / 60:.1f} h"


def moment(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at)) if at else ""


def state_mark(run: RunFacts) -> Markup:
    kind = "live" if run.live else "good" if run.state == "complete" else "bad" if run.trouble else "plain"
    return tag("span", run.state or "unknown", class_=f"state {kind}")


# --------------------------------------------------------------------------------------------- the head of a page


def cards(run: RunFacts) -> Markup:
    """The few figures that a reader looks for first."""
    judged = [decision for decision in run.decisions if decision.reason != "identical"]
    accepted = sum(decision.accepted for decision in judged)
    found: list[tuple[str, object, str]] = []
    if run.score is not None:
        level = f"{100 * run.score.interval.level:.4g} %"
        ends = f"[{run.score.interval.low:.3f}, {run.score.interval.high:.3f}] at {level}, {run.score.tasks} tasks"
        found.append((f"solved on {run.on}" if run.on else "solved", f"{run.score.value:.3f}", ends))
    if judged:
        found.append(("candidates accepted", f"{accepted} of {len(judged)}", "by the gate, on select tasks"))
    found.append(("cost", money(run.usd), f"{run.tokens:,} tokens"))
    found.append(("time", duration(run.seconds), f"{run.rollouts:,} rollouts"))
    return tag(
        "dl",
        [
            tag("div", tag("dt", name), tag("dd", value, class_="big"), tag("dd", more, class_="small"))
            for name, value, more in found
        ],
        class_="cards",
        id="cards",
        data_live=True,
    )


def note_lines(run: RunFacts) -> list[str]:
    """What must be known before the figures are believed."""
    lines = [*run.notes]
    if run.trouble:
        lines.insert(0, run.trouble)
    if run.faults:
        told = ", ".join(f"{count} {kind}" for kind, count in run.faults.items())
        lines.append(f"rollouts missing because of faults, in no rate: {told}")
    if run.truncated:
        lines.append(f"cut off by the token limit: {_rollouts(run.truncated)}")
    if run.malformed:
        lines.append(f"with malformed calls: {_rollouts(run.malformed)}")
    floor = max((test.rate.value for test in run.tests if test.beside and test.name.startswith("floor")), default=None)
    if floor is not None and run.score is not None and floor >= run.score.value:
        lines.append("a policy without any skill does as well: see the floor")
    return lines


def notes(run: RunFacts) -> Markup | None:
    lines = note_lines(run)
    if not lines:
        return None
    return tag(
        "aside",
        tag("h2", "Read with this"),
        tag("ul", [tag("li", line) for line in lines]),
        class_="notes",
        id="notes",
        data_live=True,
    )


def _rollouts(many: int) -> str:
    return f"{many:,} rollout" + ("" if many == 1 else "s")


def claim(run: RunFacts) -> Markup | None:
    if not run.claim:
        return None
    return tag("p", run.claim, class_="claim", id="claim", data_live=True)


# --------------------------------------------------------------------------------------------- figures


def tests(run: RunFacts, links: PageLinks) -> Markup | None:
    if not run.tests:
        return None

    def row(test: PolicyScore) -> list[object]:
        address = links.rollouts(purpose="test", policy=test.policy) if test.policy else None
        return [
            tag("span", link(address, test.name), class_="quiet" if test.beside else None),
            charts.interval_mark(test.rate, muted=test.beside),
            rate_words(test.rate),
            f"{test.rate.tasks:,}",
            f"{test.rollouts:,}",
        ]

    title = "Sealed test" if run.kind == "train" else "Score"
    heads = ("policy", "", "solved#", "tasks#", "rollouts#")
    return section(title, table(heads, map(row, run.tests), caption=f"{title}: every policy on the same tasks"))


def learning(run: RunFacts) -> Markup | None:
    lead = (
        "Candidates as the gate measured them on select tasks; these scores chose among them, the claim is the test's."
    )
    return section("Score over steps", charts.learning_chart(run), lead=lead, id_="learning")


def decisions(run: RunFacts, links: PageLinks) -> Markup | None:
    if not run.decisions:
        return None

    def row(decision: DecisionFacts) -> list[object]:
        words = {"accept": "accepted", "reject": "rejected"}.get(decision.verdict, "undecided")
        kind = "good" if decision.accepted else "bad" if decision.verdict == "reject" else "plain"
        effect = "" if decision.effect is None else f"{decision.effect:+.3f}"
        return [
            link(links.decision(decision.number), decision.purpose),
            tag("span", words, class_=f"state {kind}"),
            decision.reason.replace("_", " "),
            rate_words(decision.incumbent),
            rate_words(decision.candidate),
            effect,
            f"{decision.better} / {decision.worse}",
            f"{sum(decision.rollouts.values()):,}",
        ]

    heads = ("decision", "verdict", "why", "incumbent#", "candidate#", "effect#", "better / worse#", "rollouts#")
    return section("Gate decisions", table(heads, map(row, run.decisions), caption="every candidate before the gate"))


def evidence(decision: DecisionFacts) -> Markup:
    """What a decision rests on: the looks, and every task on which the arms differ."""
    by_task: dict[int, dict[str, list[float | None]]] = {}
    for arm, task, _, reading in decision.draws:
        by_task.setdefault(task, {"incumbent": [], "candidate": []})[arm].append(reading)

    def strip(readings: Sequence[float | None]) -> Markup:
        marks = [
            tag("span", "·" if reading is None else f"{reading:.2g}", class_="draw " + _shade(reading))
            for reading in readings
        ]
        return tag("span", marks, class_="strip")

    rows = [[f"{task}", strip(arms["incumbent"]), strip(arms["candidate"])] for task, arms in sorted(by_task.items())]
    facts = {
        "metric": decision.metric,
        "alpha": "" if decision.alpha is None else f"{decision.alpha:g}",
        "statistic": "" if decision.statistic is None else f"{decision.statistic:.3f}",
        "accepted from": "" if decision.threshold is None else f"{decision.threshold:.3f}",
        "tasks seen": f"{decision.seen} of {decision.tasks}",
        "became": decision.action.replace("_", " "),
    }
    return join(
        tag("p", decision.says, class_="claim"),
        pairs(facts),
        edits(decision.edits, without=decision.without),
        charts.looks_chart(decision.looks) if len(decision.looks) > 1 else None,
        table(("task of the gate", "incumbent's draws", "candidate's draws"), rows, caption="what every draw read")
        if rows
        else None,
    )


def _shade(reading: float | None) -> str:
    return "none" if reading is None else "full" if reading >= 0.999 else "empty" if reading <= 0.001 else "part"


def pairs(facts: Mapping[str, object]) -> Markup:
    shown = [(name, value) for name, value in facts.items() if value != ""]
    return tag("dl", [tag("div", tag("dt", name), tag("dd", value)) for name, value in shown], class_="facts")


def edits(items: Sequence[EditItem], *, without: bool = False) -> Markup | None:
    if not items:
        return None
    sign = "takes out" if without else "proposes"

    def row(item: EditItem) -> Markup:
        who = {"failure": "from failures", "success": "from successes", "examples": "worked example"}
        support = f", {item.support} behind it" if item.support > 1 else ""
        origin = f"{who.get(item.source, item.source)}{support}"
        return tag(
            "li",
            tag("code", item.op or "add"),
            " ",
            tag("span", item.content[:600], dir="auto"),
            " ",
            tag("span", origin, class_="quiet") if item.source else None,
        )

    return tag("div", tag("p", f"The candidate {sign}:"), tag("ul", [row(item) for item in items], class_="edits"))


def groups(run: RunFacts, links: PageLinks) -> Markup | None:
    def made(title: str, found: Sequence[GroupScore], column: str) -> Markup | None:
        if len(found) < 2:
            return None
        rows = [
            [
                link(links.rollouts(**{**run.headline.words(), column: group.name}), group.name or "none"),
                charts.interval_mark(group.rate),
                rate_words(group.rate),
                f"{group.rate.tasks:,}",
            ]
            for group in found
        ]
        return table((title, "", "solved#", "tasks#"), rows, caption=f"solved by {title}")

    several = len(run.kinds) > 1 and len(run.difficulties) > 1
    parts = [
        made("kind", run.kinds, "kind"),
        made("difficulty", run.difficulties, "difficulty"),
        heat_grid(run) if several else None,
    ]
    shown = [part for part in parts if part is not None]
    return section("By kind and difficulty", *shown, id_="groups") if shown else None


def heat_grid(run: RunFacts) -> Markup:
    """Kind by difficulty: the share in figures, and a shade."""
    difficulties = [group.name for group in run.difficulties]

    def cell(kind: str, difficulty: str) -> Markup:
        found = run.grid.get((kind, difficulty))
        if found is None:
            return tag("span", "", class_="heat")
        rate = found.rate
        return tag(
            "span",
            f"{rate.value:.2f}",
            class_=f"heat h{round(10 * rate.value)}",
            title=f"{rate_words(rate)}, {rate.tasks} tasks",
        )

    rows = [[group.name, *(cell(group.name, name) for name in difficulties)] for group in run.kinds]
    return table(
        ("kind", *(f"{name or 'none'}#" for name in difficulties)),
        rows,
        caption="solved by kind and difficulty",
        class_="grid",
    )


def reasons(run: RunFacts, links: PageLinks) -> Markup | None:
    if not run.reasons:
        return None
    total = sum(run.reasons.values())
    rows = [
        [
            link(links.rollouts(**{**run.headline.words(), "reason": reason}), reason or "none given"),
            f"{count:,}",
            f"{100 * count / total:.1f} %",
        ]
        for reason, count in list(run.reasons.items())[:30]
    ]
    return section(
        "Why attempts ended as they did",
        table(("reason", "rollouts#", "share#"), rows, caption="reasons"),
        id_="reasons",
    )


def costs(run: RunFacts) -> Markup | None:
    if not run.costs:
        return None
    rows = [
        [cost.stage, f"{cost.calls:,}", f"{cost.tokens:,}", money(cost.usd), duration(cost.seconds)]
        for cost in sorted(run.costs, key=lambda cost: -cost.tokens)
    ]
    heads = ("stage", "calls#", "tokens#", "cost#", "time in rollouts#")
    return section(
        "Cost by stage", charts.cost_chart(run.costs), table(heads, rows, caption="cost by stage"), id_="costs"
    )


WEIGHTS = {
    "reward": ("reward", "reward_std"),
    "loss": ("loss",),
    "solved in training": ("solved",),
    "groups with signal": ("signal", "torn"),
    "generated per trained": ("generated_per_trained",),
    "cut off by a limit": ("cut",),
    "entropy": ("entropy",),
    "KL to the base": ("kl",),
    "clipped": ("clip_ratio/region_mean", "completions/clipped_ratio"),
    "length of replies": ("completions/mean_length",),
    "rollouts a second": ("rollouts_per_second",),
    "token accuracy": ("mean_token_accuracy",),
    "gradient norm": ("grad_norm",),
    "learning rate": ("learning_rate",),
}
"""What is watched while weights train, in the trainer's words."""

CURVE_NAMES = {
    "reward_std": "spread within groups",
    "torn": "share torn",
    "clip_ratio/region_mean": "ratios clipped",
    "completions/clipped_ratio": "replies cut off",
}


def weight_series(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, list[tuple[float, float]]]:
    """The points of some figures over the steps, by the names that a reader knows them by."""
    found = {}
    for name in names:
        points = [(float(row.get("step", at + 1)), row.get(name)) for at, row in enumerate(rows)]
        known = [(step, float(value)) for step, value in points if isinstance(value, int | float)]
        if known:
            found[CURVE_NAMES.get(name, name)] = known
    return found


def weights(run: RunFacts) -> Markup | None:
    """The monitoring of a weight training: small charts side by side."""
    if not run.weights:
        return None
    drawn = [charts.line_chart(title, weight_series(run.weights, names)) for title, names in WEIGHTS.items()]
    parts = sorted({name for row in run.weights for name in row.get("parts", {})})
    if parts:
        rows = [{"step": row.get("step", at), **row.get("parts", {})} for at, row in enumerate(run.weights)]
        drawn.append(charts.line_chart("parts of the reward", weight_series(rows, parts[:4])))
    return section(
        "Weights in training", tag("div", [chart for chart in drawn if chart], class_="charts"), id_="weights"
    )


# --------------------------------------------------------------------------------------------- playbooks


def playbooks(run: RunFacts) -> Markup | None:
    if len(run.playbooks) < 2 and not any(version.text for version in run.playbooks):
        return None
    return section("Playbook", *within(run.playbooks, _version, "versions"), id_="playbook")


ROOM = 1_000_000
"""Characters that one part of a page takes at most, whatever the run holds."""


Item = TypeVar("Item")


def within(items: Sequence[Item], made: Callable[[Item], Markup], what: str) -> list[Markup]:
    """The first items that have room in a page, and a word on those that have none."""
    shown: list[Markup] = []
    used = 0
    for item in items:
        part = made(item)
        used += len(part)
        if used > ROOM:
            left = f"{len(items) - len(shown)} more {what} have no room here; the run's folder has them"
            return [*shown, tag("p", left, class_="quiet")]
        shown.append(part)
    return shown


def _version(version: PlaybookVersion) -> Markup:
    state = "" if version.name == "initial" else "accepted" if version.accepted else "not taken"
    kind = "good" if version.accepted else "plain"
    body = diff(version.before, version.text) if version.name != "initial" else diff("", version.text)
    return tag(
        "details",
        tag("summary", version.name, " ", tag("span", state, class_=f"state {kind}") if state else None),
        tag("p", version.says, class_="detail") if version.says else None,
        edits(version.edits),
        body if version.text or version.before else tag("p", "blank", class_="quiet"),
        open=version.accepted,
        class_="version",
    )


DIFFED = 60_000
"""Characters of a playbook that are compared line by line: it takes the square of the lines."""

DIFFED_LINES = 2_000


def diff(before: str, after: str, context: int = 2) -> Markup:
    """The lines that changed, each with its sign; what stayed is left out but for a little around it."""
    old, new = (text[:DIFFED].splitlines()[:DIFFED_LINES] for text in (before, after))
    long = max(len(before), len(after)) > DIFFED or max(len(old), len(new)) == DIFFED_LINES
    lines = list(difflib.unified_diff(old, new, lineterm="", n=context))[2:]
    if not lines:
        same = "the same at the beginning" if long else "the same text"
        return tag("p", same, class_="quiet")
    kinds = {"+": "added", "-": "gone", "@": "place"}
    shown = [
        tag("span", line if line[0] != "@" else "⋯", class_=f"line {kinds.get(line[0], 'same')}") for line in lines
    ]
    told = [*outside_notes(after[:DIFFED]), *(["only their beginnings are compared"] if long else [])]
    note = tag("p", "; ".join(told), class_="textnote") if told else None
    return join(tag("pre", shown, class_="diff", tabindex="0"), note)


# --------------------------------------------------------------------------------------------- origin


def origin(run: RunFacts) -> Markup | None:
    config = tag("details", tag("summary", "config.toml"), tag("pre", run.config, class_="said", tabindex="0"))
    return section(
        "Config and lineage",
        pairs({"folder": str(run.folder), **run.lineage}) if run.lineage else None,
        config if run.config else None,
        id_="origin",
    )


# --------------------------------------------------------------------------------------------- two runs


def comparison(
    found: Comparison, a: str, b: str, flip_link: Callable[[Flip], str | None] = lambda _: None
) -> list[Markup | None]:
    """Two runs on the same tasks: the verdict in words, by kind, and the tasks that changed hands."""
    low = min((0.0, *(c.difference.interval.low for c in (found.overall, *found.by_kind.values()))))
    high = max((0.0, *(c.difference.interval.high for c in (found.overall, *found.by_kind.values()))))
    span = (min(-0.25, low), max(0.25, high))

    def row(name: str, contrast: Contrast) -> list[object]:
        return [
            name,
            rate_words(contrast.a),
            rate_words(contrast.b),
            charts.interval_mark(contrast.difference, span),
            signed(contrast.difference),
            p_words(contrast.adjusted),
            f"{contrast.tasks:,}",
        ]

    heads = ("", f"{a}#", f"{b}#", "", f"{b} − {a}#", "p#", "tasks#")
    rows = [row("all tasks", found.overall), *(row(kind, contrast) for kind, contrast in found.by_kind.items())]
    level = found.overall.difference.interval.level
    at = "" if level == LEVEL else f" Intervals hold at {100 * level:.4g} %."
    told = (*found.notes, *found.missing_words(a, b))
    return [
        tag("p", found.words(a, b) + "." + at, class_="claim"),
        tag("ul", [tag("li", line) for line in told], class_="notes") if told else None,
        section("Difference by kind", table(heads, rows, caption="paired difference"), id_="difference"),
        _flips(f"Solved only by {b}", found.gained, (a, b), flip_link),
        _flips(f"Solved only by {a}", found.lost, (a, b), flip_link),
    ]


def _flips(
    title: str, flips: Sequence[Flip], names: tuple[str, str], flip_link: Callable[[Flip], str | None]
) -> Markup | None:
    if not flips:
        return None
    rows = [
        [
            link(flip_link(flip), f"{flip.split}/{flip.index}"),
            *(flip.kind, f"{flip.a:.2f}", f"{flip.b:.2f}", flip.reason_a, flip.reason_b),
        ]
        for flip in flips[:200]
    ]
    solved, ended = ([f"{name} {word}" for name in names] for word in ("solved#", "ended with"))
    heads = ("task", "kind", *solved, *ended)
    more = tag("p", f"{len(flips) - 200} more", class_="quiet") if len(flips) > 200 else None
    return section(title, table(heads, rows, caption=title), more)
