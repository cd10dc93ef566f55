"""Photos to summaries to verdicts to a report: record for record as planted, and the same after any number of kills."""

from __future__ import annotations

import contextlib
import hashlib
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from reader_server import ReaderServer, serving_reader

from whet.apps.groupqc.audit.files import NG, NP, STATS
from whet.apps.groupqc.generation.files import generate_groups, write_photos, write_tickets
from whet.apps.groupqc.pipeline.run import PipelinePlan, run_all
from whet.envs.groupqc.pack.file import find_mission
from whet.envs.groupqc.pack.schema import Pack
from whet.envs.groupqc.photos.tree import ArchiveDamage, GroupFolder, write_tree
from whet.envs.groupqc.records import GeneratedGroup
from whet.envs.groupqc.summaries.counts import read_summary
from whet.envs.groupqc.summaries.text import with_header
from whet.envs.groupqc.verdict.rules import judge
from whet.envs.groupqc.world.noise import Noise
from whet.errors import WhetError

MISSION = "BBU接地线检查"
GROUPS = 60
NOISE = Noise(resubmission=0.4, unobservable=0.1)
SPOIL = ArchiveDamage(malformed=0.1, missing=0.1, empty=0.05)

COMMAND = "from whet.apps.groupqc.commands import app; app()"


def small_groups(n: int) -> list[GeneratedGroup]:
    """Groups of at most two photos, so that drawing them takes little; both of a pair, or none."""
    made = [group for _, group in generate_groups({MISSION: find_mission(MISSION)}, 12 * n, noise=NOISE)]
    pairs = zip(made[::2], made[1::2], strict=True)
    return [group for pair in pairs if all(len(group.photos) <= 2 for group in pair) for group in pair][:n]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[GroupFolder]]:
    root = tmp_path_factory.mktemp("photos")
    pack, _ = find_mission(MISSION)
    return root, write_tree(root, pack, small_groups(GROUPS), SPOIL)


@contextlib.contextmanager
def seeing(
    written: Sequence[GroupFolder], monkeypatch: pytest.MonkeyPatch, pause: float = 0.0
) -> Iterator[ReaderServer]:
    """A vision endpoint that knows every planted photo by its bytes."""
    pack, _ = find_mission(MISSION)
    known = {
        hashlib.sha256((folder.path / name).read_bytes()).hexdigest(): with_header(pack, summary)
        for folder in written
        for name, summary in zip(folder.images, folder.summaries, strict=True)
    }

    def look(self: ReaderServer, image: bytes, text: str) -> str:
        time.sleep(pause)
        return known[hashlib.sha256(image).hexdigest()]

    monkeypatch.setattr(ReaderServer, "_read", look)
    with serving_reader([pack]) as server:
        yield server


def expected_verdict(pack: Pack, folder: GroupFolder) -> str:
    readings = [read_summary(pack, text) for text in folder.summaries]
    return judge(pack, pack.mission(MISSION), readings).verdict


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def wish(root: Path, out: Path, server: ReaderServer, **more: Any) -> PipelinePlan:
    sections = {"control": {"target": {"base_url": server.base_url}}, "photos": {"whole_groups": True}}
    return PipelinePlan(root, out, "openai:reader", "baseline:rules", stage_a=sections, **more)


def command(root: Path, out: Path, url: str) -> list[str]:
    return [
        *(sys.executable, "-c", COMMAND, "run", str(root), "--out", str(out), "-m", "openai:reader"),
        *("-v", "baseline:rules", "--base-url", url, "--concurrency", "2", "--samples", "3", "--sequential"),
    ]


def results(out: Path) -> dict[str, bytes]:
    """Every file that was written, ledgers and timings apart."""
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.suffix in (".json", ".jsonl", ".md") and path.name not in ("timing.json", "results.json")
    }


def test_sixty_groups_come_out_record_for_record(
    planted: tuple[Path, list[GroupFolder]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, written = planted
    with seeing(written, monkeypatch) as server:
        ran = run_all(wish(root, tmp_path / "out", server))
    pack, _ = find_mission(MISSION)
    good = {folder.group.ticket.key: folder for folder in written if folder.readable}
    lines = rows(tmp_path / "out" / f"{MISSION}_stage_a.jsonl")
    assert {f"{line['group_id']}::{line['label']}": list(line["per_image"].values()) for line in lines} == {
        key: list(folder.summaries) for key, folder in good.items()
    }
    refused = {row["ticket_key"] for row in rows(tmp_path / "out" / f"{MISSION}_stage_a.errors.jsonl")}
    assert refused == {folder.group.ticket.key for folder in written} - set(good)
    assert {"malformed", "missing", "empty"} <= {kind for folder in written for kind, _ in folder.planted}
    assert len({folder.group.ticket.group_id for folder in written}) < len(written), "some sites are handed in twice"
    assert ran.audit is not None
    stats = {row["ticket_key"]: row["majority_pred"] for row in rows(ran.audit.folder / STATS)}
    verdicts = {key: expected_verdict(pack, folder) for key, folder in good.items()}
    assert stats == verdicts
    for name, call in ((NG, "pass"), (NP, "fail")):
        wrong = {key for key, verdict in verdicts.items() if verdict == call and not key.endswith(call)}
        assert {row["ticket_key"] for row in rows(ran.audit.folder / name)} == wrong
    assert ran.audit.metrics["n_used"] == len(good)
    assert ran.exit_code == 1, "some groups were refused"


def test_killed_and_started_again_it_ends_in_the_same_bytes(
    planted: tuple[Path, list[GroupFolder]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, written = planted
    with seeing(written, monkeypatch, pause=0.01) as server:
        out, kept = tmp_path / "out", tmp_path / "whole"
        whole = subprocess.run(command(root, out, server.base_url), capture_output=True)
        assert whole.returncode == 1, whole.stderr.decode()
        out.rename(kept)
        for share in (0.2, 0.5):
            before, enough = server.asked, int(share * len(written))
            process = subprocess.Popen(command(root, out, server.base_url))
            while process.poll() is None and server.asked < before + enough:
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
            process.wait()
        ended = subprocess.run(command(root, out, server.base_url), capture_output=True)
        assert ended.returncode == 1, ended.stderr.decode()
    assert results(out) == results(kept)


def test_a_budget_stops_it_and_the_rest_follows(
    planted: tuple[Path, list[GroupFolder]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, written = planted
    with seeing(written, monkeypatch) as server:
        base = {"target": {"base_url": server.base_url}}
        short = PipelinePlan(
            root, tmp_path / "o", "openai:r", "baseline:rules", stage_a={"control": {**base, "budget": {"calls": 9}}}
        )
        stopped = run_all(short)
        assert (stopped.exit_code, stopped.audit) == (3, None)
        ended = run_all(PipelinePlan(root, tmp_path / "o", "openai:r", "baseline:rules", stage_a={"control": base}))
    assert ended.audit is not None
    assert ended.report is not None
    assert "groups summarised" in ended.report.read_text(encoding="utf-8")


def test_the_reader_judges_with_the_rules_and_other_models_with_themselves(tmp_path: Path) -> None:
    judging = [PipelinePlan(tmp_path, tmp_path, model).judging for model in ("baseline:reader", "openai:x")]
    assert judging == ["baseline:rules", "openai:x"]


def test_missions_that_are_not_there_are_refused(tmp_path: Path) -> None:
    for root, missions, said in (
        (tmp_path / "none", (), "no such folder"),
        (tmp_path, (), "called like a mission"),
        (tmp_path, ("BBU接地",), "Did you mean 'BBU接地线检查'"),
    ):
        with pytest.raises(WhetError, match=said):
            run_all(PipelinePlan(root, tmp_path / "out", "baseline:reader", missions=missions))


def test_generated_tickets_are_those_of_the_environment(tmp_path: Path) -> None:
    from whet.envs.groupqc import GroupQc

    missions = {name: find_mission(name) for name in (MISSION, "RRU线缆")}
    made = write_tickets(tmp_path / "t.jsonl", generate_groups(missions, 8, noise=NOISE, conventions=0))
    env = GroupQc("", {"mission": [MISSION, "RRU线缆"], "noise": {"resubmission": 0.4, "unobservable": 0.1}})
    assert [row["group_id"] for row in rows(made.out)] == [env.ticket("train", n).group_id for n in range(8)]
    assert [row["ticket_key"] for row in rows(made.truth)] == [env.ticket("train", n).key for n in range(8)]


def test_nothing_is_written_over(tmp_path: Path) -> None:
    groups = generate_groups({MISSION: find_mission(MISSION)}, 2)
    write_tickets(tmp_path / "t.jsonl", groups)
    with pytest.raises(WhetError, match="exists"):
        write_tickets(tmp_path / "t.jsonl", groups)
    with pytest.raises(WhetError, match="not empty"):
        write_photos(tmp_path, groups)


def test_no_groups_are_refused() -> None:
    with pytest.raises(WhetError, match="at least 1"):
        generate_groups({MISSION: find_mission(MISSION)}, 0)
