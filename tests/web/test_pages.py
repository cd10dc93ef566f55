"""The viewer without a browser: who may look, what every answer says, and that no state of a run breaks a page."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import MutableMapping
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import run_folders

from whet.types import Reply
from whet.web.guard import App
from whet.web.server import build_app, moves
from whet.web.site import ViewerSite


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


def asked(
    app: App, place: str, *, method: str = "GET", host: str = "127.0.0.1:8420", cookie: str = "", **more: str
) -> Answer:
    """One request, straight to the application."""
    path, _, query = place.partition("?")
    headers = [(b"host", host.encode()), *([(b"cookie", cookie.encode())] if cookie else [])]
    headers += [(name.replace("_", "-").encode(), value.encode()) for name, value in more.items()]
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": headers,
        "scheme": "http",
        "http_version": "1.1",
        "server": ("127.0.0.1", 8420),
        "root_path": "",
    }
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))  # type: ignore[arg-type]
    told = {name.decode().lower(): value.decode() for name, value in sent[0]["headers"]}
    return Answer(sent[0]["status"], told, b"".join(part.get("body", b"") for part in sent[1:]))


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((name, dict(attributes)))


PAGES = (
    *("/", "/run?run=kinds", "/rollouts?run=kinds", "/rollouts?run=kinds&flipped=1&solved=no&kind=birch&start=50"),
    *("/rollout?run=kinds&seq=1", "/rollout?run=kinds&seq=1&beside=2", "/playbook?run=kinds"),
    *("/decision?run=kinds&number=1", "/compare?run=third&run=other", "/compare", "/compare?run=third&run=kinds"),
    *("/pair?a=third&b=other&task=select/3", "/run?run=half", "/rollouts?run=half", "/run?run=newer"),
    *("/run?run=bare", "/run?run=damaged", "/run?run=hostile", "/rollouts?run=hostile", "/playbook?run=hostile"),
)


@pytest.mark.parametrize("place", PAGES)
def test_every_page_is_shown_and_nothing_in_it_acts(site_runs: Path, place: str) -> None:
    answer = asked(build_app(site_runs), place)
    assert answer.status == 200
    assert "Traceback" not in answer.text
    for name, attributes in Tags(answer.text).found:
        assert not [key for key in attributes if key.startswith("on") or key == "style"]
        assert name != "script" or attributes == {"src": "/static/view.js"}
        for key in ("href", "src", "action"):
            assert (attributes.get(key) or "/").startswith(("/", "#"))


@pytest.mark.parametrize(
    "place",
    [
        *("/run?run=../third", "/run?run=/etc", "/run", "/rollout?run=third&seq=x", "/rollout?run=third&seq=999999"),
        *("/decision?run=third&number=0", "/rollouts?run=newer", "/rollouts?run=damaged", "/rollouts?run=bare"),
        *("/text?run=third&seq=1&entry=99", "/image?run=third&sha256=abc", "/static/..%2fpages.py", "/static/x"),
    ],
)
def test_what_is_not_there_is_a_line_and_no_trace(site_runs: Path, place: str) -> None:
    answer = asked(build_app(site_runs), place)
    assert answer.status in (404, 500)
    assert "Traceback" not in answer.text
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")


def test_every_answer_says_what_may_load(site_runs: Path) -> None:
    headers = asked(build_app(site_runs), "/").headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"


def test_another_name_for_this_machine_is_not_answered(site_runs: Path) -> None:
    app = build_app(site_runs)
    assert asked(app, "/", host="evil.example:8420").status == 403
    assert asked(app, "/", host="localhost:1").status == 200
    assert asked(app, "/", host="[::1]:8420").status == 200


def test_nothing_can_be_changed(site_runs: Path) -> None:
    assert asked(build_app(site_runs), "/", method="POST").status == 405


def test_beyond_this_machine_a_token_is_asked_for(site_runs: Path) -> None:
    app = build_app(site_runs, "s3cret-token")
    assert asked(app, "/", host="10.0.0.5").status == 401
    assert asked(app, "/?token=wrong", host="10.0.0.5").status == 401
    entered = asked(app, "/run?run=kinds&token=s3cret-token", host="10.0.0.5")
    assert (entered.status, entered.headers["location"]) == (303, "/run?run=kinds")
    assert "HttpOnly" in entered.headers["set-cookie"]
    assert "SameSite=Strict" in entered.headers["set-cookie"]
    assert asked(app, "/", host="10.0.0.5", cookie="whet_token=s3cret-token").status == 200
    assert asked(app, "/", host="10.0.0.5", cookie="whet_token=other").status == 401
    assert asked(app, "//evil.example/?token=s3cret-token", host="10.0.0.5").headers["location"] == "/"


def test_a_transcript_of_five_megabytes_is_cut_and_can_be_had_whole(tmp_path: Path) -> None:
    run_folders.hostile(tmp_path, ("y" * 5_000_000,))
    app = build_app(tmp_path)
    page = asked(app, "/rollout?run=hostile&seq=1")
    assert len(page.body) < 200_000
    assert "of 5,000,000 characters" in page.text
    whole = asked(app, "/text?run=hostile&seq=1&entry=0")
    assert len(whole.body) == 5_000_000
    assert whole.headers["content-type"].startswith("text/plain")
    assert "sandbox" in whole.headers["content-security-policy"]


def test_a_stream_says_when_something_was_committed(tmp_path: Path) -> None:
    async def told() -> list[str]:
        with run_folders.writer(tmp_path / "live") as ledger:
            stream = moves(ViewerSite(tmp_path), "live", lambda: False)
            said = [await anext(stream)]
            ledger.add_rollouts([run_folders.rollout(0, "t")])
            said.append(await asyncio.wait_for(anext(stream), 10))
            return said

    assert asyncio.run(told())[1].startswith("event: moved")


def test_a_ledger_that_took_anothers_place_is_counted_anew(tmp_path: Path) -> None:
    site = ViewerSite(tmp_path)
    for rollouts in (5, 2):
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
        with run_folders.writer(tmp_path / "run") as ledger:
            ledger.add_rollouts([run_folders.rollout(index, "t") for index in range(rollouts)])
        assert site.counts("run").rollouts == rollouts
        assert site.record("run").rollouts == rollouts


def test_the_package_carries_its_static_files() -> None:
    from whet.web.server import FILES

    assert all(place.is_file() and "whet" in place.parts for place, _ in FILES.values())


def test_a_cookie_of_another_program_does_not_hide_ours(site_runs: Path) -> None:
    app = build_app(site_runs, "s3cret-token")
    for others in ('prefs={"a": [1, 2]}; ', "x=a b,c; =; ;", "whet_token=old; "):
        assert asked(app, "/", host="10.0.0.5", cookie=f"{others}whet_token=s3cret-token").status == 200


def test_a_page_of_another_site_cannot_load_parts_from_here(site_runs: Path) -> None:
    app = build_app(site_runs)
    for place in ("/events?run=kinds", "/image?run=kinds&sha256=a", "/static/view.js"):
        assert asked(app, place, sec_fetch_site="cross-site", sec_fetch_mode="no-cors").status == 403
    assert asked(app, "/run?run=kinds", sec_fetch_site="cross-site", sec_fetch_mode="navigate").status == 200
    assert asked(app, "/run?run=kinds", sec_fetch_site="same-origin", sec_fetch_mode="cors").status == 200


def test_to_look_at_a_run_runs_no_code_that_it_names(tmp_path: Path) -> None:
    folder = run_folders.hostile(tmp_path)
    code = f"import pathlib\npathlib.Path({str(tmp_path / 'ran')!r}).touch()\n"
    (folder / "task.py").write_text(code)
    config = f'[env]\nname = "{folder / "task.py"}:Env"\n[target]\nmodel = "test:function"\n'
    (folder / "config.toml").write_text(config)
    assert asked(build_app(tmp_path), f"/image?run=hostile&sha256={'a' * 64}").status == 404
    assert not (tmp_path / "ran").exists()


def test_files_that_lead_out_of_a_run_are_not_shown(tmp_path: Path) -> None:
    folder = run_folders.hostile(tmp_path)
    (tmp_path / "secret.md").write_text("the combination is 1234")
    for name in ("config.toml", "skills/skill_v0000.md", "summary.json"):
        place = folder / name
        place.parent.mkdir(exist_ok=True)
        place.unlink(missing_ok=True)
        place.symlink_to(tmp_path / "secret.md")
    os.mkfifo(folder / "history.json")
    for place in ("/run?run=hostile", "/playbook?run=hostile"):
        answer = asked(build_app(tmp_path), place)
        assert answer.status == 200
        assert "1234" not in answer.text
    assert "leads out of the run&#x27;s folder" in asked(build_app(tmp_path), "/run?run=hostile").text


def test_a_conversation_of_any_length_is_a_page(tmp_path: Path) -> None:
    with run_folders.writer(tmp_path / "long") as ledger:
        held = run_folders.rollout(0, "t")
        turns = tuple(replace(held.turns[1], reply=Reply(f"{number} " + "w" * 30_000)) for number in range(600))
        ledger.add_rollouts([replace(held, turns=turns)])
    page = asked(build_app(tmp_path), "/rollout?run=long&seq=1")
    assert page.status == 200
    assert len(page.body) < 6_000_000


def test_a_run_that_goes_away_is_a_line(tmp_path: Path) -> None:
    run_folders.hostile(tmp_path)
    app = build_app(tmp_path)
    assert asked(app, "/run?run=hostile").status == 200
    shutil.rmtree(tmp_path / "hostile")
    for place in ("/run?run=hostile", "/rollouts?run=hostile", "/rollout?run=hostile&seq=1"):
        assert asked(app, place).status == 404
    assert "no runs in" in asked(app, "/").text


def test_what_is_counted_on_does_not_move_under_a_page(tmp_path: Path) -> None:
    with run_folders.writer(tmp_path / "run") as ledger:
        site = ViewerSite(tmp_path)
        ledger.add_rollouts([run_folders.rollout(0, "t", reason="first")])
        seen = site.counts("run")
        ledger.add_rollouts([run_folders.rollout(1, "t", reason="second")])
        assert set(site.counts("run").choices("reason")) == {"first", "second"}
        assert set(seen.choices("reason")) == {"first"}
