"""`report.html`: one file that opens without a network. Its style and its script are known by their hashes, and nothing
else may load or run: whatever a model wrote stays text."""

from __future__ import annotations

import base64
import hashlib
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

from whet.errors import WhetError
from whet.evals.compare import Comparison
from whet.ledger.store import glance
from whet.report import query, sections
from whet.report.fold import DecisionFacts, RunFacts
from whet.report.markup import Markup, join, tag
from whet.report.overview import overview
from whet.report.sections import PageLinks
from whet.report.transcript import grade, transcript
from whet.types import Playbook

STATIC = Path(__file__).parent / "static"

CASE_TEXT = 6_000
"""Characters of a message in a hard case."""

CASE_SIZE = 250_000
"""Characters of a whole hard case; a longer one is named, not shown."""

LARGEST = 64 << 20
"""Bytes of a transcript that is read for a report at all."""


def style() -> str:
    return (STATIC / "whet.css").read_text("utf-8")


def script() -> str:
    return (STATIC / "report.js").read_text("utf-8")


def report_page(runs: Sequence[RunFacts], compared: Sequence[tuple[str, str, Comparison | str]] = ()) -> str:
    """The report of one run, or of several with what they come to against the first."""
    title = runs[0].name if len(runs) == 1 else f"{len(runs)} runs"
    parts = [_several(runs, compared)] if len(runs) > 1 else []
    body = join(
        tag("a", "to the content", href="#main", class_="skip"),
        _bar(runs),
        tag(
            "main",
            parts,
            [run_body(run, alone=len(runs) == 1) for run in runs],
            tag(
                "footer", f"Whet {version('whet')}, made {time.strftime('%Y-%m-%d %H:%M')}. Nothing in this file loads."
            ),
            id="main",
        ),
        Markup(f"<script>{script()}</script>"),
    )
    return document(title, body)


def document(title: str, body: Markup) -> str:
    css, js = style(), script()
    policy = (
        f"default-src 'none'; style-src '{_hash(css)}'; script-src '{_hash(js)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    head = join(
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", f"{title} · Whet"),
        Markup(f"<style>{css}</style>"),
    )
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def _hash(source: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}"


def _bar(runs: Sequence[RunFacts]) -> Markup:
    named = [tag("a", run.name, href=f"#{_place(run)}") for run in runs] if len(runs) > 1 else []
    switch = tag("button", "light / dark", type="button", id="theme", class_="plain")
    inner = join(tag("span", "Whet report", class_="brand"), tag("nav", named, aria_label="runs"), switch)
    return tag("header", tag("div", inner), class_="bar")


def run_body(run: RunFacts, *, alone: bool) -> Markup:
    """Everything about one run."""
    links = PageLinks(decision=lambda number: f"#{_place(run)}-decision-{number}")
    facts = " · ".join(filter(None, (run.kind, run.env, run.model, sections.moment(run.changed))))
    return join(
        tag("h1", run.name, " ", sections.state_mark(run), id=_place(run)),
        tag("p", facts, class_="sub"),
        overview(run, links, evidence=_evidence(run), playbooks=sections.playbooks(run), cases=_cases(run)),
    )


def _place(run: RunFacts) -> str:
    return f"run-{hashlib.sha256(str(run.folder).encode()).hexdigest()[:8]}"


def _evidence(run: RunFacts) -> Markup | None:
    def made(decision: DecisionFacts) -> Markup:
        return tag(
            "details",
            tag("summary", f"evidence of {decision.purpose}"),
            sections.evidence(decision),
            id=f"{_place(run)}-decision-{decision.number}",
        )

    shown = sections.within(run.decisions[:60], made, "decisions")
    return join(shown) if shown else None


def _cases(run: RunFacts) -> Markup | None:
    """The hardest tasks with what was said."""
    if not run.cases:
        return None
    try:
        with closing(glance(run.folder)) as db:
            shown = [_case(db, line) for line in run.cases]
    except (WhetError, sqlite3.Error):
        return None
    lead = "Tasks that failed most often, kinds in turn, one attempt of each."
    return sections.section("Hard cases", *shown, id_="cases", lead=lead)


def _case(db: sqlite3.Connection, line: query.RolloutLine) -> Markup:
    name = f"{line.split}/{line.task}"
    head = tag("summary", f"{name} ", tag("span", f"{line.kind} {line.difficulty}", class_="quiet"), f" {line.reason}")
    size = db.execute("SELECT length(body) FROM transcripts WHERE seq = ?", (line.seq,)).fetchone()
    if size is None or size[0] > LARGEST:
        return tag("details", head, tag("p", "its transcript is too large for a report: see it with whet view"))
    try:
        rollout = query.rollout_record(db, line.seq)
    except (LookupError, ValueError, TypeError, AttributeError):
        return tag("details", head, tag("p", "its transcript cannot be read; whet verify says what is wrong"))
    if rollout is None:
        return tag("details", head, tag("p", "its transcript is gone"))
    said = transcript(rollout, Playbook(), shown=CASE_TEXT)
    if len(said) > CASE_SIZE:
        said = transcript(rollout, Playbook(), shown=300)
    if len(said) > CASE_SIZE:
        said = tag("p", f"{len(rollout.turns)} turns, too many for a report: see them with whet view")
    return tag("details", head, grade(rollout), said)


def _several(runs: Sequence[RunFacts], compared: Sequence[tuple[str, str, Comparison | str]]) -> Markup:
    from whet.report.charts import interval_mark

    rows = [
        [
            tag("a", run.name, href=f"#{_place(run)}"),
            run.kind,
            run.env,
            run.model,
            interval_mark(run.score),
            sections.rate_words(run.score),
            run.on,
            sections.money(run.usd),
        ]
        for run in runs
    ]
    heads = ("run", "kind", "environment", "model", "", "solved#", "on", "cost#")
    made: list[object] = []
    for a, b, found in compared:
        said = tag("p", found) if isinstance(found, str) else sections.comparison(found, a, b)
        made.append(tag("details", tag("summary", f"{b} against {a}"), said, open=True))
    return join(
        tag("h1", f"{len(runs)} runs"),
        sections.section("Side by side", sections.table(heads, rows, caption="the runs of this report"), id_="runs"),
        sections.section("Compared task by task", *made, id_="compared") if made else None,
    )
