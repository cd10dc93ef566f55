"""The report: one file that loads nothing, in which nothing that a model wrote acts."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
import run_folders
from command_line import Whet

from whet.errors import WhetError
from whet.gate.decide import DECISION
from whet.report.fold import ARMS, PlaybookVersion, fold_run
from whet.report.markup import block, tag, text
from whet.report.page import report_page
from whet.report.text import markdown
from whet.report.write import write_report
from whet.types import Ticket


class Elements(HTMLParser):
    """Every element of a page with its attributes, and the text outside of scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.bodies: dict[str, list[str]] = {"script": [], "style": []}
        self._in = ""
        self.feed(page)

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((name, dict(attributes)))
        self._in = name if name in self.bodies else self._in

    def handle_endtag(self, name: str) -> None:
        self._in = "" if name == self._in else self._in

    def handle_data(self, data: str) -> None:
        if self._in:
            self.bodies[self._in].append(data)
        else:
            self.text += data


def acting(page: str) -> list[str]:
    """What in a page would run or load."""
    bad = []
    for name, attributes in Elements(page).found:
        bad += [f"{name} {key}" for key in attributes if key.startswith("on") or key == "style"]
        bad += [name for _ in (1,) if name in ("iframe", "object", "embed", "base", "frame")]
        for key in ("src", "href", "xlink:href", "action", "formaction"):
            place = attributes.get(key) or ""
            if place and not place.startswith("#"):
                bad.append(f"{name} {key}={place}")
    return bad


def test_a_report_loads_nothing_and_nothing_in_it_acts(seen_runs: Path) -> None:
    for name in ("kinds", "third", "hostile"):
        page = report_page([fold_run(seen_runs / name)])
        assert acting(page) == []
        assert page.count("<script>") == page.count("<style>") == 1


def test_the_policy_of_a_report_names_its_script_and_style_by_hash(seen_runs: Path) -> None:
    elements = Elements(report_page([fold_run(seen_runs / "hostile")]))
    (policy,) = [a["content"] for n, a in elements.found if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    for kind in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256("".join(elements.bodies[kind]).encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy


def test_hostile_text_stands_there_as_text(seen_runs: Path) -> None:
    shown = Elements(report_page([fold_run(seen_runs / "hostile")])).text
    assert run_folders.HOSTILE in shown
    assert "\\x1b[31m" in shown
    assert "\\u202e" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "control or invisible characters are spelled out" in shown
    assert "holds right-to-left text" in shown


def test_a_report_tells_what_a_reader_looks_for(seen_runs: Path) -> None:
    shown = Elements(report_page([fold_run(seen_runs / "kinds")])).text
    for words in ("Sealed test", "Score over steps", "Gate decisions", "Playbook", "Hard cases", "Cost by stage"):
        assert words in shown
    assert "For dune tasks, answer with the word dune reversed." in shown
    assert "best is better than initial" in shown
    assert "config.toml" in shown


def test_a_huge_transcript_is_cut_with_a_note(tmp_path: Path) -> None:
    folder = run_folders.hostile(tmp_path, ("x" * 5_000_000,))
    page = report_page([fold_run(folder)])
    assert len(page) < 200_000
    assert "of 5,000,000 characters" in page


def test_several_runs_are_compared_task_by_task(seen_runs: Path, tmp_path: Path) -> None:
    out = write_report(["third", "half"], tmp_path / "both.json", seen_runs)
    (compared,) = json.loads(out.read_text())["compared"]
    assert compared["verdict"] in ("better", "worse", "unclear")
    assert compared["overall"]["n"] == 24
    page = Elements(write_report(["third", "half", "kinds"], tmp_path / "both.html", seen_runs).read_text()).text
    assert "Solved only by" in page
    assert "are not about the same tasks" in page


def test_markdown_escapes_what_markdown_would_act_on(seen_runs: Path, tmp_path: Path) -> None:
    written = write_report(["hostile"], tmp_path / "r.md", seen_runs).read_text()
    assert "<script>" not in written.replace("\\<", "")
    assert not re.search(r"(?<!\\)<", written)


@pytest.mark.parametrize(
    "made", [run_folders.newer, run_folders.without_ledger, run_folders.half_written, run_folders.damaged]
)
def test_a_run_in_a_bad_state_has_a_report_that_says_so(tmp_path: Path, whet: Whet, made: object) -> None:
    folder = made(tmp_path / "runs")  # type: ignore[operator]
    said = whet("report", folder, "-o", "out.html")
    assert (said.code, said.err) == (0, "")
    assert "Read with this" in (tmp_path / "out.html").read_text()


def test_a_report_of_nothing_is_refused_in_one_line(whet: Whet) -> None:
    said = whet("report", "nowhere")
    assert said.code == 2
    assert said.err.count("\n") == 1


def test_a_report_of_an_unknown_form_is_refused(seen_runs: Path, tmp_path: Path) -> None:
    with pytest.raises(WhetError, match=r"\.html, \.md, \.json"):
        write_report(["kinds"], tmp_path / "r.docx", seen_runs)


def test_attributes_and_texts_are_escaped() -> None:
    assert tag("a", '<b>"', href='"><script>') == '<a href="&quot;&gt;&lt;script&gt;">&lt;b&gt;&quot;</a>'
    assert text("\x00\u202e") == "\\x00\\u202e"
    assert "the first 3 of 10 characters" in block("y" * 10, 3)


def test_markdown_says_what_the_page_says_first(tmp_path: Path) -> None:
    with run_folders.writer(tmp_path / "run") as ledger:
        held = [run_folders.rollout(index, "t", hard=int(index == 0), reason="r") for index in range(8)]
        floor = [run_folders.rollout(8 + index, "t", hard=1) for index in range(8)]
        moved = [replace(line, ticket=Ticket("floor/echo", "select", n)) for n, line in enumerate(floor)]
        ledger.add_rollouts([*held, *moved])
    run = fold_run(tmp_path / "run")
    assert "a policy without any skill does as well" in report_page([run])
    assert "> a policy without any skill does as well" in markdown([run])


def test_a_report_has_an_end_whatever_the_run_holds(tmp_path: Path) -> None:
    with run_folders.writer(tmp_path / "big") as ledger:
        held = [run_folders.rollout(index, "t", reason=f"{index}" + "r" * 300_000) for index in range(4)]
        assert held[0].score is not None
        ledger.add_rollouts([replace(line, outcome=replace(held[0].score, detail="d" * 900_000)) for line in held])
        draws = [[arm, task, draw, [1.0]] for arm in ARMS for task in range(400) for draw in range(8)]
        body = {"verdict": "reject", "reason": "no_gain", "draws": draws, "says": "s" * 100_000}
        for number in range(8):
            ledger.add_effect(f"k{number}", DECISION, f"e1/s{number:04d}/decision/00", "r", body)
    (tmp_path / "big" / "config.toml").write_text("c" * 3_000_000)
    run = fold_run(tmp_path / "big")
    many = replace(run, playbooks=tuple(PlaybookVersion(f"step {n}", f"{n}\n" * 90_000, "", True) for n in range(9)))
    page = report_page([many])
    assert len(page) < 5_000_000
    assert "more decisions have no room here" in page


def test_a_transcript_that_is_damaged_is_a_line(tmp_path: Path) -> None:
    with run_folders.writer(tmp_path / "run") as ledger:
        ledger.add_rollouts([run_folders.rollout(0, "t")])
    with closing(sqlite3.connect(tmp_path / "run" / "ledger.sqlite")) as db:
        db.execute("UPDATE transcripts SET body = '{\"x\": 1'")
        db.commit()
    assert "its transcript cannot be read" in report_page([fold_run(tmp_path / "run")])


def test_the_bar_of_several_runs_leads_to_them(seen_runs: Path) -> None:
    page = report_page([fold_run(seen_runs / name) for name in ("third", "half")])
    led = re.findall(r'href="#(run-[0-9a-f]+)"', page)
    assert len(set(led)) == 2
    assert all(f'id="{place}"' in page for place in led)
