"""The pages of the viewer: functions from what the site knows to markup."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version
from sqlite3 import Connection
from typing import Any
from urllib.parse import urlencode

import orjson

from whet import wire
from whet.errors import WhetError
from whet.evals.compare import Comparison, Flip
from whet.report import charts, query, sections
from whet.report.fold import RunFacts
from whet.report.markup import Markup, join, tag
from whet.report.overview import overview
from whet.report.pair import try_compare
from whet.report.query import RolloutFilter, RolloutLine
from whet.report.sections import PageLinks, money, rate_words, section, table
from whet.report.transcript import grade, transcript, whole_text
from whet.types import Playbook, Rollout
from whet.web.site import ViewerSite

SIZE = 50
"""Rollouts on a page of the list."""

PURPOSES = 80
"""So many purposes are offered one by one; of more, only what they begin with."""


def address(path: str, **words: object) -> str:
    """An address within the viewer; words without a value are left out."""
    said = urlencode({name: str(value) for name, value in words.items() if value not in ("", None, False)})
    return f"{path}?{said}" if said else path


def page(
    title: str,
    *body: object,
    run: str = "",
    here: str = "",
    live: str | None = None,
    wide: bool = False,
    foot: str = "Read-only; nothing is loaded from elsewhere.",
) -> str:
    """A whole page. `live` names what its figures follow: a run, or '' for all of them."""
    places = [("runs", "/"), ("review", "/review")]
    if run:
        named = {"overview": "/run", "rollouts": "/rollouts", "playbook": "/playbook"}
        places += [(name, address(path, run=run)) for name, path in named.items()]
    links = [tag("a", name, href=place, aria_current="page" if name == here else None) for name, place in places]
    bar = join(
        tag("a", "Whet", href="/", class_="brand"),
        tag("nav", links, aria_label="pages"),
        tag("span", "", id="pulse", class_="quiet", role="status"),
        tag("button", "keys", type="button", id="help", class_="plain", title="keyboard (?)"),
        tag("button", "light / dark", type="button", id="theme", class_="plain"),
    )
    head = join(
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", f"{title} · Whet"),
        tag("link", rel="stylesheet", href="/static/whet.css"),
        tag("link", rel="icon", href="/static/icon.svg"),
        tag("script", src="/static/view.js"),
    )
    body_markup = tag(
        "body",
        tag("a", "to the content", href="#main", class_="skip"),
        tag("header", tag("div", bar), class_="bar"),
        tag("main", *body, tag("footer", f"Whet {version('whet')}. {foot}"), id="main", tabindex="-1"),
        _keys(),
        data_live_run=live,
        class_="wide" if wide else None,
    )
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>{body_markup}</html>\n'


def _keys() -> Markup:
    known = {
        "j, k": "next and previous: a row of a list, or the rollout",
        "Enter": "open the row",
        "x": "mark a run for comparison",
        "/": "filter",
        "g": "all runs",
        "t": "light or dark",
        "?": "this list; Esc closes it",
    }
    rows = [tag("div", tag("dt", tag("kbd", key)), tag("dd", what)) for key, what in known.items()]
    return tag(
        "dialog",
        tag("h2", "Keyboard"),
        tag("dl", rows),
        tag("button", "close", type="button", id="close"),
        id="keys",
        aria_label="keyboard",
    )


# --------------------------------------------------------------------------------------------- all runs


def runs_page(site: ViewerSite) -> str:
    """Every run with how it stands."""
    lines = site.lines()
    names = {run.folder: site.name(run.folder) for run in lines}
    if not lines:
        empty = tag("p", f"no runs in {site.root}; start one with: whet eval ENV -m MODEL", class_="lead")
        return page("runs", tag("h1", "Runs"), tag("div", empty, id="runs", data_live=True), here="runs", live="")

    def row(run: RunFacts) -> list[object]:
        name = names[run.folder]
        mark = tag("input", type="checkbox", name="run", value=name, aria_label=f"compare {name}", form="compare")
        told = run.trouble or "; ".join(run.notes)
        state = join(sections.state_mark(run), tag("p", told, class_="trouble") if told else None)
        return [
            tag("a", name, href=address("/run", run=name)),
            mark,
            state,
            charts.interval_mark(run.score),
            rate_words(run.score),
            run.on,
            "" if run.trouble else money(run.usd),
            f"{run.rollouts:,}" if run.rollouts else "",
            *(run.kind, run.env, run.model),
            sections.moment(run.changed),
        ]

    heads = (
        *("run", "compare", "state", "", "solved#", "on", "cost#", "rollouts#"),
        *("kind", "environment", "model", "changed"),
    )
    listed = table(heads, map(row, lines), caption="runs, newest first", class_="rows")
    live = sum(run.live for run in lines)
    told = f"{len(lines)} runs" + (f", {live} under way" if live else "")
    search = tag(
        "label", "find", tag("input", type="text", id="find", placeholder="name, model, environment", data_rows="rows")
    )
    form = tag(
        "form",
        search,
        tag("button", "compare the two marked", type="submit"),
        action="/compare",
        id="compare",
        class_="filter",
    )
    return page(
        "runs",
        tag("h1", "Runs"),
        tag("p", told, class_="sub", id="told", data_live=True),
        form,
        tag("div", listed, id="runs", data_live=True),
        here="runs",
        live="",
        wide=True,
    )


# --------------------------------------------------------------------------------------------- one run


def links_of(name: str) -> PageLinks:
    return PageLinks(
        rollouts=lambda **words: address("/rollouts", run=name, **words),
        rollout=lambda seq: address("/rollout", run=name, seq=seq),
        decision=lambda number: address("/decision", run=name, number=number),
    )


def run_head(run: RunFacts, name: str) -> list[Markup | None]:
    facts = " · ".join(filter(None, (run.kind, run.env, run.model, sections.moment(run.changed))))
    return [tag("h1", name, " ", sections.state_mark(run), id="head", data_live=True), tag("p", facts, class_="sub")]


def run_page(site: ViewerSite, name: str) -> str:
    run, links = site.record(name), links_of(name)
    return page(
        name,
        *run_head(run, name),
        overview(run, links, cases=_cases(run, links)),
        run=name,
        here="overview",
        live=name,
    )


def _cases(run: RunFacts, links: PageLinks) -> Markup | None:
    if not run.cases:
        return None
    rows = [
        [sections.link(links.rollout(line.seq), f"{line.split}/{line.task}"), line.kind, line.difficulty, line.reason]
        for line in run.cases
    ]
    lead = "Tasks that failed most often, kinds in turn."
    return section(
        "Hard cases",
        table(("task", "kind", "difficulty", "ended with"), rows, caption="hard cases"),
        id_="cases",
        lead=lead,
    )


def playbook_page(site: ViewerSite, name: str) -> str:
    run = site.record(name)
    shown = sections.playbooks(run) or tag("p", "this run works from no playbook", class_="lead")
    return page(f"{name}, playbook", *run_head(run, name), shown, run=name, here="playbook", live=name)


def decision_page(site: ViewerSite, name: str, number: int) -> str:
    run = site.record(name)
    if not 0 <= number < len(run.decisions):
        raise WhetError(f"{name}: no decision {number}")
    decision = run.decisions[number]
    others = [
        tag("a", f"{word} decision", href=address("/decision", run=name, number=other), rel=rel)
        for other, word, rel in ((number - 1, "previous", "prev"), (number + 1, "next", "next"))
        if 0 <= other < len(run.decisions)
    ]
    said = tag("section", tag("h2", decision.purpose), sections.evidence(decision))
    return page(f"{name}, decision {number}", tag("h1", name), tag("p", others, class_="pager"), said, run=name)


# --------------------------------------------------------------------------------------------- rollouts


def rollouts_page(site: ViewerSite, name: str, words: Mapping[str, str]) -> str:
    chosen = RolloutFilter.of(words)
    start = _number(words.get("start", ""), 0)
    counts = site.counts(name)
    with site.open(name) as db:
        found = query.rollout_page(db, chosen, start, SIZE)
    told = chosen.words()
    listed = (
        table(
            ROLLOUT_HEADS, (_rollout_row(name, line, told) for line in found.lines), caption="rollouts", class_="rows"
        )
        if found.lines
        else tag("p", "no rollout is like this", class_="lead")
    )
    return page(
        f"{name}, rollouts",
        tag("h1", name),
        _filter_form(name, chosen, counts),
        tag("div", _pager(name, found, told), class_="pager"),
        tag("div", listed, id="rows", data_live=True),
        run=name,
        here="rollouts",
        live=name,
        wide=True,
    )


ROLLOUT_HEADS = (
    *("task", "draw#", "", "reward#", "reason", "marks", "kind", "difficulty", "purpose"),
    *("turns#", "tokens#", "time#"),
)


def _rollout_row(name: str, line: RolloutLine, told: Mapping[str, str]) -> list[object]:
    marks = [word for word, on in (("truncated", line.truncated), ("malformed", line.malformed)) if on]
    return [
        tag("a", f"{line.split}/{line.task}", href=address("/rollout", run=name, seq=line.seq, **told)),
        f"{line.draw}",
        tag(
            "span",
            "solved" if line.hard == 1 else "not solved",
            class_=f"state {'good' if line.hard == 1 else 'bad'}",
        ),
        f"{line.reward:.3g}",
        line.reason,
        ", ".join(marks),
        line.kind,
        line.difficulty,
        line.purpose,
        f"{line.turns}",
        f"{line.tokens:,}",
        f"{line.seconds:.1f} s",
    ]


def _pager(name: str, found: query.RolloutPage, told: Mapping[str, str]) -> list[object]:
    """Which rollouts are shown, and the ways to those before and after."""
    last = min(found.start + SIZE, found.total)
    shown = f"{found.start + 1:,} to {last:,} of {found.total:,}" if found.total else "0 rollouts"
    turn: list[object] = [tag("span", shown, id="shown", data_live=True)]
    if found.start:
        turn.append(
            tag(
                "a",
                "previous page",
                href=address("/rollouts", run=name, start=max(0, found.start - SIZE), **told),
                rel="prev",
            )
        )
    if last < found.total:
        turn.append(
            tag("a", "next page", href=address("/rollouts", run=name, start=found.start + SIZE, **told), rel="next")
        )
    return turn


def _filter_form(name: str, chosen: RolloutFilter, counts: query.RolloutCounts) -> Markup:
    def offered(column: str) -> dict[str, int]:
        return counts.choices(column)

    def picker(label: str, column: str, choices: Mapping[str, int | str]) -> Markup:
        held = str(getattr(chosen, column))
        names = list(choices) if held in choices or not held else [held, *choices]
        options = [tag("option", "all", value="")]
        for value in names:
            if value:
                many = choices.get(value, "")
                words = f"{value} ({many:,})" if isinstance(many, int) else value
                options.append(tag("option", words, value=value, selected=value == held))
        return tag("label", label, tag("select", options, name=column, class_="changed" if held else None))

    purposes = offered("purpose")
    if len(purposes) > PURPOSES:
        heads: dict[str, int] = {}
        for purpose, many in purposes.items():
            for depth in (1, 2):
                head = "/".join(purpose.split("/")[:depth])
                heads[head] = heads.get(head, 0) + (many if depth <= purpose.count("/") + 1 else 0)
        purposes = dict(sorted(heads.items())[:PURPOSES])
    ticks = [
        tag(
            "label",
            tag("input", type="checkbox", name=flag, value="1", checked=getattr(chosen, flag)),
            words,
            class_="tick",
        )
        for flag, words in (("truncated", "truncated"), ("malformed", "malformed"), ("flipped", "flipped"))
    ]
    task = tag(
        "input",
        type="text",
        name="task",
        value=chosen.task,
        placeholder="select/3",
        id="find",
        class_="changed" if chosen.task else None,
    )
    policy = tag("input", type="hidden", name="policy", value=chosen.policy) if chosen.policy else None
    clear = tag("a", "clear", href=address("/rollouts", run=name)) if chosen.words() else None
    return tag(
        "form",
        tag("input", type="hidden", name="run", value=name),
        policy,
        picker("purpose", "purpose", purposes),
        picker("split", "split", offered("split")),
        picker("kind", "kind", offered("kind")),
        picker("difficulty", "difficulty", offered("difficulty")),
        picker("solved", "solved", {"yes": "", "no": ""}),
        picker("reason", "reason", offered("reason")),
        tag("label", "task", task),
        ticks,
        tag("button", "filter", type="submit"),
        clear,
        action="/rollouts",
        class_="filter auto",
    )


def _number(said: str, default: int) -> int:
    return int(said) if said.isdecimal() and len(said) < 16 else default


def rollout_page(site: ViewerSite, name: str, words: Mapping[str, str]) -> str:
    """A transcript, or two side by side."""
    seq, chosen = _number(words.get("seq", ""), -1), RolloutFilter.of(words)
    other_run, other = words.get("beside_run") or name, words.get("beside", "")
    with site.open(name) as db:
        line = query.rollout_line(db, seq)
        if line is None:
            raise WhetError(f"{name}: no rollout {words.get('seq', '')}")
        before, after = query.beside(db, chosen, seq)
        kin = query.siblings(db, line)
    told = chosen.words()
    turns = [
        tag("a", f"{word} rollout", href=address("/rollout", run=name, seq=near, **told), rel=rel)
        for near, word, rel in ((before, "previous", "prev"), (after, "next", "next"))
        if near is not None
    ]
    turns.append(tag("a", "back to the list", href=address("/rollouts", run=name, **told)))
    first = reader(site, name, seq)
    body: Markup = first
    if other:
        second = reader(site, other_run, _number(other, -1))
        body = tag("div", first, second, class_="twain")
    return page(
        f"{name}, {line.split}/{line.task}",
        tag("p", turns, class_="pager"),
        body,
        None if other else _kin(name, line, kin),
        run=name,
        wide=bool(other),
    )


def _kin(name: str, line: RolloutLine, kin: list[RolloutLine]) -> Markup | None:
    if not kin:
        return None
    rows = [
        [
            tag("a", f"{other.purpose} draw {other.draw}", href=address("/rollout", run=name, seq=other.seq)),
            tag(
                "span",
                "solved" if other.hard == 1 else "not solved",
                class_=f"state {'good' if other.hard == 1 else 'bad'}",
            ),
            other.reason,
            f"{other.reward:.3g}",
            tag("a", "beside this one", href=address("/rollout", run=name, seq=line.seq, beside=other.seq)),
        ]
        for other in kin
    ]
    return section(
        "Other attempts at this task",
        table(("attempt", "", "reason", "reward#", ""), rows, caption="other attempts"),
        id_="kin",
    )


def reader(site: ViewerSite, name: str, seq: int) -> Markup:
    """One attempt with its grade, its parts and all that was said."""
    with site.open(name) as db:
        line, rollout = query.rollout_line(db, seq), query.rollout_record(db, seq)
        if line is None or rollout is None:
            return tag("div", tag("h1", name), tag("p", f"no rollout {seq} here", class_="notes"))
        playbook = _playbook(db, rollout)

    def whole(number: int) -> Markup:
        return tag("a", "the whole text", href=address("/text", run=name, seq=seq, entry=number))

    def image(sha256: str, media_type: str) -> str | None:
        return address("/image", run=name, sha256=sha256)

    facts = {
        "purpose": line.purpose,
        "kind": " ".join(filter(None, (line.kind, line.difficulty))),
        "draw": f"{line.draw}",
        "turns": f"{line.turns}",
        "tokens": f"{line.tokens:,}",
        "cost": money(line.usd),
        "time": f"{line.seconds:.1f} s",
    }
    return tag(
        "div",
        tag("h1", f"{line.split}/{line.task}", " ", tag("span", name, class_="quiet")),
        grade(rollout),
        sections.pairs(facts),
        transcript(rollout, playbook, whole=whole, image=image),
    )


def _playbook(db: Connection, rollout: Rollout) -> Playbook:
    row = db.execute("SELECT body FROM policies WHERE digest = ?", (rollout.policy,)).fetchone()
    return wire.playbook_in(orjson.loads(row[0])["playbook"]) if row else Playbook()


def entry_text(site: ViewerSite, name: str, seq: int, number: int) -> str:
    """The whole text of one entry of a transcript."""
    with site.open(name) as db:
        rollout = query.rollout_record(db, seq)
        found = None if rollout is None else whole_text(rollout, _playbook(db, rollout), number)
    if found is None:
        raise WhetError(f"{name}: no such text")
    return found


# --------------------------------------------------------------------------------------------- two runs


def compare_page(site: ViewerSite, names: list[str]) -> str:
    if len(names) != 2:
        asked = tag("p", "mark two runs in the list to compare them", class_="lead")
        return page("compare", tag("h1", "Compare"), asked)
    a, b = names
    first, second = site.record(a), site.record(b)
    found: Comparison | str = try_compare(first, second)

    def flipped(flip: Flip) -> str | None:
        return address("/pair", a=a, b=b, task=f"{flip.split}/{flip.index}")

    said: list[Any] = (
        [tag("p", found, class_="notes")] if isinstance(found, str) else sections.comparison(found, a, b, flipped)
    )
    heads = ("run", "model", "", "solved#", "on", "cost#")
    rows = [
        [
            tag("a", name, href=address("/run", run=name)),
            run.model,
            charts.interval_mark(run.score),
            rate_words(run.score),
            run.on,
            money(run.usd),
        ]
        for name, run in ((a, first), (b, second))
    ]
    turned = tag("a", "the other way round", href="/compare?" + urlencode([("run", b), ("run", a)]))
    return page(
        f"{b} against {a}",
        tag("h1", f"{b} against {a}"),
        tag("p", turned, class_="sub"),
        table(heads, rows, caption="the two runs"),
        *said,
    )


def pair_page(site: ViewerSite, a: str, b: str, task: str) -> str:
    """One task as two runs attempted it, side by side."""
    shown = []
    for name in (a, b):
        run = site.record(name)
        with site.open(name) as db:
            found = query.rollout_page(db, replace(run.headline, task=task), 0, 1).lines
        shown.append(
            reader(site, name, found[0].seq)
            if found
            else tag("div", tag("h1", name), tag("p", f"no rollout of {task}", class_="notes"))
        )
    back = tag("a", "back to the comparison", href="/compare?" + urlencode([("run", a), ("run", b)]))
    return page(f"{task}, {a} and {b}", tag("p", back, class_="pager"), tag("div", *shown, class_="twain"), wide=True)


def trouble_page(said: str) -> str:
    """What is shown where a page cannot be."""
    return page("not to be shown", tag("h1", "This cannot be shown"), tag("p", said, class_="notes"))
