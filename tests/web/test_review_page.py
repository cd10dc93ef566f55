"""The review page: anybody may look who may look at runs; only whoever has the token claims and resolves."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from ticket_desk import promoted, spoken, tickets

from whet.release.decider import open_decider
from whet.release.review import queue_of
from whet.release.trail import Trail
from whet.web.guard import App
from whet.web.server import build_app

TOKEN = "s3cret-token-of-reviewers"
HOST = "127.0.0.1:8420"
OWN = {"cookie": f"whet_token={TOKEN}", "origin": f"http://{HOST}"}


def asked(app: App, place: str, form: dict[str, str] | None = None, **headers: str) -> tuple[int, str]:
    """The status and the text of an answer."""
    sent: list[MutableMapping[str, Any]] = []
    path, _, query = place.partition("?")
    told = {"host": HOST, **headers}
    scope = {
        "type": "http",
        "method": "GET" if form is None else "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in told.items()],
    }

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": urlencode(form or {}).encode(), "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))  # type: ignore[arg-type]
    return sent[0]["status"], b"".join(part.get("body", b"") for part in sent).decode()


@pytest.fixture
def releases(tmp_path: Path) -> Path:
    """A queue with two cases, one of which says what no page may run."""
    folder = tmp_path / "releases"
    (tmp_path / "runs").mkdir()
    model = spoken(lambda request: "Verdict: pass\nReason: Image1: <script>alert(1)</script>")
    champion = promoted(folder, model)

    async def work() -> None:
        async with open_decider(champion, folder, model=model) as decider:
            for line in tickets(2):
                await decider.decide(line)

    asyncio.run(work())
    return folder


def test_the_queue_is_shown_and_nothing_in_it_acts(releases: Path) -> None:
    status, text = asked(build_app(releases.parent / "runs"), "/review")
    assert status == 200
    assert "no_threshold" in text
    assert "<script>alert" not in text
    assert "<form" not in text


def test_a_case_is_claimed_and_resolved_by_whoever_has_the_token(releases: Path) -> None:
    app = build_app(releases.parent / "runs", TOKEN, releases)
    case = queue_of(releases).cases()[0]
    form = {"case": str(case.number), "ticket": case.ticket, "as": "ann"}
    assert "claim" in asked(app, f"/review?case={case.number}", **OWN)[1]
    assert asked(app, "/review/claim", form, **OWN)[0] == 303
    assert "give it back" in asked(app, f"/review?case={case.number}", **OWN)[1]
    assert asked(app, "/review/resolve", {**form, "verdict": "fail", "comment": "rust"}, **OWN)[0] == 303
    assert queue_of(releases).case(case.number).outcome == "fail"
    assert Trail.of(releases).verify() == []


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"cookie": f"whet_token={TOKEN}"},
        {"cookie": "whet_token=guessed", "origin": f"http://{HOST}"},
        {"cookie": f"whet_token={TOKEN}", "origin": "http://evil.example"},
        {"cookie": f"whet_token={TOKEN}", "origin": "null", "sec_fetch_site": "cross-site"},
    ],
)
def test_nobody_else_changes_anything(releases: Path, headers: dict[str, str]) -> None:
    app = build_app(releases.parent / "runs", TOKEN, releases)
    case = queue_of(releases).cases()[0]
    before = Trail.of(releases).head()
    form = {"case": str(case.number), "ticket": case.ticket, "as": "ann"}
    assert asked(app, "/review/claim", form, **headers)[0] in (401, 403, 405)
    assert Trail.of(releases).head() == before


def test_without_a_token_there_is_nothing_to_post_to(releases: Path) -> None:
    app = build_app(releases.parent / "runs")
    assert asked(app, "/review/claim", {"case": "1", "as": "ann"}, **OWN)[0] == 405


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"case": "x"}, "names no case"),
        ({"case": "99999"}, "there is no case"),
        ({"as": ""}, "say who reviews"),
        ({"ticket": "another"}, "it changed; look again"),
        ({"verdict": "maybe"}, "is no verdict"),
        ({"ticket": ""}, "names no ticket"),
    ],
)
def test_a_move_that_cannot_be_made_is_a_line_and_changes_nothing(
    releases: Path, words: dict[str, str], said: str
) -> None:
    app = build_app(releases.parent / "runs", TOKEN, releases)
    queue = queue_of(releases)
    case = queue.cases()[0]
    queue.claim(case.number, "ann")
    queue.trail.close()
    before = Trail.of(releases).head()
    form = {"case": str(case.number), "ticket": case.ticket, "as": "ann", "verdict": "pass", **words}
    status, text = asked(app, "/review/resolve", form, **OWN)
    assert status == 409
    assert said in text
    assert Trail.of(releases).head() == before


def test_a_form_that_has_no_end_is_refused(releases: Path) -> None:
    app = build_app(releases.parent / "runs", TOKEN, releases)
    assert asked(app, "/review/claim", {"case": "1" * 30_000}, **OWN)[0] == 413
