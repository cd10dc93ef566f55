"""The review page of the viewer: the queue, a case with its evidence, and where a token is held, what to do with it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from whet.errors import WhetError
from whet.release.cases import ReviewCase
from whet.release.review import ReviewQueue, queue_of
from whet.report.markup import Markup, block, join, tag
from whet.report.sections import section, table
from whet.web.pages import address, page

MOVES = ("/review/claim", "/review/return", "/review/resolve")
"""Where forms of this page are posted to."""

LONGEST = 20_000
"""Bytes of a form."""

SHOWN = 200
"""Cases on the page of the queue."""

READING = "Read-only: whet view --review asks for a token and lets whoever has it decide."
WRITING = "Whoever has the token decides here; every move is an entry of the trail."


def review_page(releases: Path, number: int, *, writable: bool) -> str:
    """The queue, or one case of it."""
    queue = queue_of(releases)
    foot = WRITING if writable else READING
    if number >= 0:
        body = _case(queue, queue.case(number), writable)
        return page(f"case {number}", tag("h1", f"Case {number}"), *body, here="review", foot=foot)
    cases = [case for case in queue.cases(limit=1 << 30) if case.state != "resolved"]
    told = tag("ul", [tag("li", line.strip()) for line in queue.figures().lines()])
    if not cases:
        return page(
            "review", tag("h1", "Review"), told, tag("p", "nothing waits for a person", class_="lead"), foot=foot
        )
    rows = [_row(queue, case) for case in cases[:SHOWN]]
    heads = ("case#", "priority#", "why", "state", "ticket", "the champion said")
    listed = table(heads, rows, caption="cases that wait, the most urgent first")
    more = tag("p", f"and {len(cases) - SHOWN} more") if len(cases) > SHOWN else None
    return page("review", tag("h1", "Review"), told, listed, more, here="review", foot=foot)


def _row(queue: ReviewQueue, case: ReviewCase) -> list[object]:
    decision = queue.decision(case)
    state = f"{case.state}, {case.holder}" if case.holder else case.state
    said = f"{decision.proposed or 'no verdict'}: {decision.reason[:160]}"
    link = tag("a", str(case.number), href=address("/review", case=case.number))
    return [link, case.priority, case.code, state, decision.name[:80] or "(redacted)", said]


def _case(queue: ReviewQueue, case: ReviewCase, writable: bool) -> list[Markup | None]:
    decision, entry = queue.decision(case), queue.trail.entry(case.decision)
    facts = {
        "why a person is asked": case.code,
        "state": ", ".join(part for part in (case.state, case.holder, case.outcome) if part),
        "ticket": f"{decision.name or '(redacted)'} ({case.ticket})",
        "champion": f"{decision.champion}@v{decision.version}, {decision.model}, playbook {decision.playbook}",
        "it said": f"{decision.proposed or 'no verdict'}: {decision.reason}",
        "became of it": decision.verdict,
        "confidence, evidence gap, score": f"{decision.confidence:g}, {decision.gap:g}, {decision.score:g}",
        "reviewers so far": ", ".join(f"{who}: {said}" for who, said in case.votes) or "none",
    }
    listed = tag("dl", [tag("div", tag("dt", name), tag("dd", value)) for name, value in facts.items()])
    lacks = [
        tag("li", f"{part}: {'; '.join(map(str, told['what']))}")
        for part, told in decision.lacks.items()
        if isinstance(told, dict) and told.get("what")
    ]
    ticket = entry.private.get("ticket", {})
    summaries = ticket.get("per_image", {}) if isinstance(ticket, dict) else {}
    shown = [join(tag("h3", str(key)), block(str(text), 4000)) for key, text in summaries.items()]
    return [
        listed,
        section("What the evidence lacks", tag("ul", lacks)) if lacks else None,
        section("Evidence", shown) if shown else tag("p", "its ticket was redacted", class_="notes"),
        _forms(queue, case) if writable and case.state != "resolved" else None,
    ]


def _forms(queue: ReviewQueue, case: ReviewCase) -> Markup | None:
    """What can be done with a case as it stands."""
    who = tag("label", "you are ", tag("input", name="as", required=True, maxlength="80", value=case.holder))
    held = [
        tag("input", type="hidden", name="case", value=str(case.number)),
        tag("input", type="hidden", name="ticket", value=case.ticket),
    ]
    if case.state == "open":
        claim = tag("form", *held, who, tag("button", "claim"), method="post", action="/review/claim")
        return section("Decide", claim)
    buttons = [tag("button", choice, name="verdict", value=choice) for choice in queue.choices(case)]
    comment = tag("label", "why ", tag("input", name="comment", maxlength="2000"))
    resolve = tag("form", *held, who, comment, *buttons, method="post", action="/review/resolve")
    back = tag("form", *held, who, tag("button", "give it back"), method="post", action="/review/return")
    return section("Decide", resolve, back)


def move(releases: Path, place: str, words: Mapping[str, str]) -> int:
    """Make the move that a form asks for; returns the number of its case."""
    said = words.get("case", "")
    if not (said.isascii() and said.isdecimal() and len(said) < 16):
        raise WhetError("this form names no case")
    number, who, ticket = int(said), words.get("as", ""), words.get("ticket", "")
    queue = queue_of(releases)
    with queue.trail:
        if place == "/review/claim":
            queue.claim(number, who)
        elif place == "/review/return":
            queue.hand_back(number, who)
        else:
            if not ticket:
                raise WhetError(f"case {number}: this form names no ticket; open the case again")
            queue.resolve(number, who, words.get("verdict", ""), comment=words.get("comment", ""), ticket=ticket)
    return number
