"""`whet groupqc` as a user types it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from whet.apps.groupqc.commands import app
from whet.envs.groupqc.pack.file import bundled
from whet.errors import WhetError

MISSION = "RRU线缆"


def groupqc(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)


@pytest.fixture
def tickets(tmp_path: Path) -> Path:
    path = tmp_path / "t.jsonl"
    assert groupqc("generate", path, "-n", "40", "--mission", MISSION, "--noise", "label=0.2").exit_code == 0
    return path


def test_generate_writes_tickets_with_their_truth(tickets: Path) -> None:
    lines = [json.loads(line) for line in tickets.read_text(encoding="utf-8").splitlines()]
    truths = [json.loads(line) for line in (tickets.parent / "t.truth.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["group_id"] for line in lines] == [truth["group_id"] for truth in truths]
    assert {line["mission"] for line in lines} == {MISSION}


def test_generate_tells_the_planted_conventions_beside_the_truth_alone(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    done = groupqc("generate", path, "-n", "20", "--mission", MISSION, "--conventions", "3", "--truth")
    planted = json.loads((tmp_path / "t.conventions.json").read_text(encoding="utf-8"))
    texts = [convention["text"] for convention in planted["missions"][MISSION]]
    assert planted["seed"] == 3
    assert all(text in " ".join(done.stdout.split("\n")) for text in texts)
    assert not any(text in path.read_text(encoding="utf-8") for text in texts)
    truths = [json.loads(line) for line in (tmp_path / "t.truth.jsonl").read_text(encoding="utf-8").splitlines()]
    assert any(truth["decided_by"] for truth in truths)


def test_generate_without_conventions_makes_labels_by_the_checklist(tmp_path: Path) -> None:
    groupqc("generate", tmp_path / "t.jsonl", "-n", "20", "--mission", MISSION, "--conventions", "none")
    truths = [json.loads(line) for line in (tmp_path / "t.truth.jsonl").read_text(encoding="utf-8").splitlines()]
    assert all(truth["label"] == truth["checklist"] for truth in truths)
    assert not (tmp_path / "t.conventions.json").exists()


def test_pack_check_lists_every_mistake_and_exits_with_one(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    text = bundled()["firesafety"].decode().replace("pass_share = 0.75", "pass_share = 75", 1)
    path.write_text(text.replace('"CHK-{zone}{n}-{m}"', '"CHK-{zone}{year}"', 1), encoding="utf-8")
    done = groupqc("pack", "check", path)
    assert done.exit_code == 1
    assert "2 mistakes" in done.stdout
    assert "{year}" in done.stdout
    assert "from 0 to 1" in done.stdout


def test_pack_check_is_content_with_a_pack_that_can_be_used() -> None:
    done = groupqc("pack", "check", "rru")
    assert (done.exit_code, "3 missions" in done.stdout) == (0, True)


def test_pack_keys_prints_the_reference() -> None:
    assert "## [[mission.need]]" in groupqc("pack", "keys").stdout


def test_generate_draws_photos_into_a_folder(tmp_path: Path) -> None:
    done = groupqc("generate", tmp_path / "photos", "-n", "1", "--mission", "Fire door check")
    assert "1 groups" in done.stdout
    assert list(tmp_path.rglob("*.jpg"))


def test_audit_prints_the_figures_and_names_the_report(tickets: Path, tmp_path: Path) -> None:
    words = (
        "audit",
        tickets,
        "--decode",
        "0.3",
        "--decode",
        "0.7/0.9",
        "--sequential",
        "--runs",
        tmp_path,
        "--run",
        "a",
    )
    done = groupqc(*words, "--json", tmp_path / "m.json")
    assert done.exit_code == 0
    for told in ("false releases, of the truly failing", "40 of 40 tickets judged", "report.md"):
        assert told in done.stdout
    assert json.loads((tmp_path / "m.json").read_text())["n_used"] == 40
    assert {path.name for path in (tmp_path / "a").glob("baseline_*")} == {
        "baseline_metrics.json",
        "baseline_ticket_stats.jsonl",
        "baseline_wrong_cases.jsonl",
        "baseline_np_cases.jsonl",
        "baseline_ng_cases.jsonl",
        "baseline_metrics_steps.jsonl",
    }


def test_audit_takes_generated_tickets(tmp_path: Path) -> None:
    done = groupqc("audit", "generated", "-n", "10", "--split", "select", "-a", "noise=realistic", "--runs", tmp_path)
    assert "10 of 10 tickets judged" in done.stdout


def test_a_strict_audit_refuses_a_bad_line_that_a_lenient_one_sets_aside(tickets: Path, tmp_path: Path) -> None:
    tickets.write_text(tickets.read_text(encoding="utf-8") + "{\n", encoding="utf-8")
    with pytest.raises(WhetError, match="line 41"):
        groupqc("audit", tickets, "--strict", "--runs", tmp_path)
    assert "1 lines that are no ticket" in groupqc("audit", tickets, "--runs", tmp_path).stdout


def test_the_ticket_filter_is_applied(tickets: Path, tmp_path: Path) -> None:
    first = json.loads(tickets.read_text(encoding="utf-8").splitlines()[0])
    (tmp_path / "out.txt").write_text(f"{first['group_id']}::{first['label']}\n")
    done = groupqc("audit", tickets, "--exclude", tmp_path / "out.txt", "--runs", tmp_path)
    assert "1 excluded by the ticket filter" in done.stdout


def test_lint_exits_with_one_on_a_bad_line(tickets: Path) -> None:
    assert groupqc("lint", tickets).exit_code == 0
    tickets.write_text("{\n", encoding="utf-8")
    assert groupqc("lint", tickets).exit_code == 1


def test_drift_exits_with_one_when_something_drifted(tickets: Path, tmp_path: Path) -> None:
    other = tmp_path / "o.jsonl"
    groupqc("generate", other, "-n", "200", "--mission", MISSION, "--noise", "malformed=0.9", "--seed", "2")
    assert groupqc("drift", tickets, tickets).exit_code == 0
    done = groupqc("drift", tickets, other, "--json", tmp_path / "d.json")
    assert done.exit_code == 1
    assert any(about.startswith("summary") for about in json.loads((tmp_path / "d.json").read_text())["drifted"])


def test_smoke_says_what_holds() -> None:
    done = groupqc("smoke", "--no-photos", "--pack", "rru")
    assert done.exit_code == 0
    assert "ok    audit" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("audit", "none.jsonl"), "no such file"),
        (("audit", "generated", "--decode", "warm"), "write a temperature"),
        (("audit", "generated", "--decode", "0.3", "--decode", "0.3"), "given twice"),
        (("audit", "generated", "--samples", "0"), "at least one"),
        (("audit", "generated", "--releases", "5"), "between 0 and 1"),
        (("audit", "generated", "-m", "baseline:ruls"), "Did you mean 'rules'"),
        (("generate", "x.jsonl", "--noise", "omision=0.1"), "omision"),
        (("generate", "x.jsonl", "--conventions", "some"), "conventions is 'some'"),
        (("pack", "check", "none.toml"), "cannot read the pack"),
        (("generate", "x.jsonl", "--mission", "RRU线"), "Did you mean 'RRU线缆'"),
        (("run", "none", "--out", "o"), "no such folder"),
    ],
)
def test_mistakes_go_up_as_one_line(words: tuple[str, ...], said: str) -> None:
    with pytest.raises(WhetError, match=said) as refused:
        groupqc(*words)
    assert "\n" not in str(refused.value)


def test_the_commands_can_be_listed_without_loading_anything_heavy() -> None:
    heavy = "('numpy', 'scipy', 'pydantic', 'PIL')"
    code = f"import sys; import whet.apps.groupqc.commands; print([one for one in {heavy} if one in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
