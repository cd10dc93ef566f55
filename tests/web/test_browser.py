"""The viewer in a real browser: what moves, what is filtered, that nothing acts, that all can read and reach it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import run_folders

playwright = pytest.importorskip("playwright.sync_api", reason="browser tests need playwright: pip install playwright")

CHROMIUM = os.environ.get("WHET_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
AXE = Path(os.environ.get("WHET_AXE") or Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js")

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium here: apt-get install chromium, or name one in WHET_CHROMIUM"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(30_000)
    opened = context.new_page()
    opened.trouble = []
    opened.on("pageerror", lambda error: opened.trouble.append(str(error)))
    opened.on("console", lambda line: opened.trouble.append(line.text) if line.type == "error" else None)
    yield opened
    context.close()


def test_the_list_leads_to_a_run_and_keys_move_in_it(page: Any, address: str) -> None:
    page.goto(f"{address}/")
    assert page.locator("table.rows tbody tr").count() == 8
    page.keyboard.press("/")
    page.keyboard.type("third")
    assert page.locator("table.rows tbody tr:visible").count() == 1
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/run?run=third")
    assert page.locator("h1").inner_text().startswith("third")
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    assert page.trouble == []


def test_a_running_evaluation_is_seen_to_move(page: Any, address: str, site_runs: Path) -> None:
    folder = site_runs / "live"
    try:
        with run_folders.writer(folder) as ledger:
            ledger.add_rollouts([run_folders.rollout(0, "first", hard=1)])
            page.goto(f"{address}/run?run=live")
            assert "running" in page.locator("h1").inner_text()
            assert "1 rollouts" in page.locator("#cards").inner_text()
            ledger.add_rollouts([run_folders.rollout(index, "more") for index in range(1, 4)])
            playwright.expect(page.locator("#cards")).to_contain_text("4 rollouts", timeout=30_000)
            ledger.add_event("ended", seconds=1.0, why="done")
        playwright.expect(page.locator("h1")).to_contain_text("complete", timeout=30_000)
        assert page.trouble == []
    finally:
        shutil.rmtree(folder)


def test_a_choice_filters_the_list_and_stands_in_the_address(page: Any, address: str) -> None:
    page.goto(f"{address}/rollouts?run=kinds")
    page.select_option("select[name=kind]", "birch")
    page.wait_for_url("**kind=birch**")
    page.check("input[name=flipped]")
    page.wait_for_url("**flipped=1**")
    assert set(page.locator("table.rows tbody tr td:nth-child(7)").all_inner_texts()) == {"birch"}
    page.locator("table.rows tbody a").first.click()
    page.keyboard.press("j")
    page.wait_for_load_state()
    assert "kind=birch" in page.url
    assert page.trouble == []


def test_nothing_that_a_model_wrote_runs(page: Any, address: str, site_runs: Path, tmp_path: Path) -> None:
    from whet.report.write import write_report

    out = write_report(["hostile"], tmp_path / "r.html", site_runs)
    places = [f"{address}{path}" for path in ("/", "/run?run=hostile", "/rollouts?run=hostile")]
    places += [f"{address}/rollout?run=hostile&seq={seq}" for seq in (1, 2, 3)]
    places += [f"{address}/text?run=hostile&seq=1&entry=0", out.as_uri()]
    for place in places:
        page.goto(place)
        page.evaluate("document.querySelectorAll('details').forEach((box) => { box.open = true; })")
        page.mouse.move(300, 400)
        page.wait_for_timeout(50)
        assert page.evaluate("window.owned") is None
        assert page.locator("img[src=x], svg[onload]").count() == 0
    page.goto(f"{address}/rollout?run=hostile&seq=1")
    assert run_folders.HOSTILE in page.locator(".entry pre").first.inner_text()
    page.goto(f"{address}/rollout?run=hostile&seq=2")
    assert "\\u202e" in page.locator("main").inner_text()
    assert page.trouble == []


def test_two_runs_and_two_transcripts_side_by_side(page: Any, address: str) -> None:
    page.goto(f"{address}/")
    for name in ("third", "other"):
        page.check(f"input[value={name}]")
    page.get_by_role("button", name="compare the two marked").click()
    page.wait_for_url("**/compare?**")
    assert "tasks" in page.locator(".claim").inner_text()
    page.locator("section table a").first.click()
    page.wait_for_url("**/pair?**")
    left, right = page.locator(".twain > div").all()
    assert left.bounding_box()["x"] < right.bounding_box()["x"]
    assert page.trouble == []


WHOLE = ("/", "/run?run=kinds", "/rollouts?run=kinds", "/rollout?run=kinds&seq=1&beside=2", "/playbook?run=kinds")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_narrow_window_shows_all_without_scrolling_sideways(browser: Any, address: str, theme: str) -> None:
    context = browser.new_context(viewport={"width": 400, "height": 800}, color_scheme=theme)
    page = context.new_page()
    for path in (*WHOLE, "/compare?run=third&run=other", "/decision?run=kinds&number=1"):
        page.goto(f"{address}{path}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
    context.close()


def test_the_theme_is_turned_and_kept(page: Any, address: str) -> None:
    page.goto(f"{address}/")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.keyboard.press("t")
    after = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert before != after
    page.goto(f"{address}/run?run=kinds")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == after


@pytest.mark.skipif(not AXE.is_file(), reason="no axe-core here: npm install axe-core, or name axe.min.js in WHET_AXE")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Any, address: str, site_runs: Path, tmp_path: Path, theme: str) -> None:
    from whet.report.write import write_report

    report = write_report(["kinds"], tmp_path / "r.html", site_runs).as_uri()
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme=theme, bypass_csp=True)
    page = context.new_page()
    found = []
    paths = (*WHOLE, "/compare?run=third&run=other", "/decision?run=kinds&number=1", "/run?run=newer")
    for place in (*(f"{address}{path}" for path in paths), report):
        page.goto(place)
        page.add_script_tag(content=AXE.read_text())
        told = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        found += [
            f"{place}: {rule['id']} ({rule['impact']}): {rule['nodes'][0]['html'][:120]}"
            for rule in told["violations"]
            if rule["impact"] in ("serious", "critical")
        ]
    context.close()
    assert found == []


def test_the_page_says_so_where_scripts_are_off(browser: Any, address: str) -> None:
    """Every page is whole without its script."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/rollouts?run=kinds&kind=birch")
    assert page.locator("table.rows tbody tr").count() > 0
    page.get_by_role("button", name="filter").click()
    assert "kind=birch" in page.url
    context.close()
