"""Drawn photos, Stage-A over HTTP, Stage-B with a scripted policy, audit: record for record, and killed in between."""

from __future__ import annotations

import functools
import json
import math
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from reader_server import ReaderServer, serving_reader

from whet.envs.groupqc.pack.file import find_mission, load_packs
from whet.envs.groupqc.pack.schema import Pack
from whet.envs.groupqc.photos.tree import ArchiveDamage, GroupFolder, write_tree
from whet.envs.groupqc.reader.reader import PhotoReader
from whet.envs.groupqc.world.noise import Noise
from whet.envs.groupqc.world.world import SiteWorld

MISSION = "BBU接地线检查"
GROUPS = 60
SPOIL = ArchiveDamage(malformed=0.1, missing=0.1, empty=0.05, copied=0.1, turned=0.1)
AT_ONCE = 4
KILLS = 4

POLICY = """
import re

def judge(request):
    shown = re.findall(r"^Image\\\\d+: ⟦(.*)⟧$", request.messages[-1].text, re.MULTILINE)
    return verdict(shown)

def verdict(shown):
    if shown[0] == "无关图片":
        return "I would rather not say"
    both = any("机柜处接地螺丝" in one for one in shown) and any("地排处接地螺丝" in one for one in shown)
    bad = any('"不符合"' in one or '"散乱"' in one for one in shown)
    return "Verdict: 通过\\\\nReason: 总结: 都在" if both and not bad else "Verdict: 不通过\\\\nReason: 总结: 不全"
""".replace("\\\\", "\\")


class Gate:
    """Lets so many photos be read and holds up the next, so that a run is surely under way when it is killed."""

    def __init__(self) -> None:
        self._state = threading.Condition()
        self._left: float = math.inf
        self._holding = False

    def enter(self) -> None:
        with self._state:
            self._holding = self._left <= 0
            self._state.notify_all()
            self._state.wait_for(lambda: self._left > 0)
            self._left -= 1

    def hold_after(self, photos: int) -> None:
        with self._state:
            self._left, self._holding = photos, False

    def wait_until_it_holds(self) -> bool:
        with self._state:
            return self._state.wait_for(lambda: self._holding, timeout=120)

    def open(self) -> None:
        with self._state:
            self._left = math.inf
            self._state.notify_all()


@dataclass(frozen=True)
class Site:
    """What was drawn, and who reads it."""

    root: Path
    written: tuple[GroupFolder, ...]
    server: ReaderServer
    gate: Gate
    policy: Path

    def expected(self) -> list[GroupFolder]:
        """The groups that can be summarised, in the order in which Stage-A finds them."""
        ordered = sorted(
            self.written, key=lambda folder: (folder.group.ticket.label != "fail", folder.group.ticket.group_id)
        )
        return [folder for folder in ordered if folder.readable and not self.contradicted(folder)]

    def contradicted(self, folder: GroupFolder) -> bool:
        """Whether the same photos stand under both labels: a copy was planted in the second of two submissions."""
        mine = (folder.group.ticket.group_id, _content(folder))
        return (
            bool(folder.images)
            and [(other.group.ticket.group_id, _content(other)) for other in self.written].count(mine) > 1
        )

    def verdict(self, folder: GroupFolder) -> str | None:
        """What the policy says of a group's true summaries: pass, fail, or nothing that can be read."""
        made: dict[str, Any] = {}
        exec(self.policy.read_text(encoding="utf-8"), made)
        said = made["verdict"](folder.summaries).split("\n")[0]
        return {"Verdict: 通过": "pass", "Verdict: 不通过": "fail"}.get(said)


def _content(folder: GroupFolder) -> list[bytes]:
    return [(folder.path / name).read_bytes() for name in folder.images]


def sites(pack: Pack) -> list[Any]:
    """Groups of few photos, so that drawing them is quick; sites that come twice stay together."""
    _, mission = find_mission(MISSION)
    world = SiteWorld(pack, mission, Noise(resubmission=0.4))
    pairs = ((world.group("train", 2 * at), world.group("train", 2 * at + 1)) for at in range(10_000))
    small = (pair for pair in pairs if all(len(group.photos) <= 3 for group in pair))
    return [group for _, pair in zip(range(GROUPS // 2), small, strict=False) for group in pair]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    pack, _ = find_mission(MISSION)
    written = write_tree(folder / "root", pack, sites(pack), SPOIL)
    (folder / "policy.py").write_text(POLICY, encoding="utf-8")
    gate = Gate()
    # The same photo is read once for all runs: reading is what takes the time here.
    read = functools.lru_cache(maxsize=None)(PhotoReader.read)

    def held(reader: PhotoReader, image: bytes) -> str:
        gate.enter()
        return read(reader, image)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PhotoReader, "read", held)
        with serving_reader(load_packs()) as server:
            yield Site(folder / "root", tuple(written), server, gate, folder / "policy.py")


def start(site: Site, folder: Path) -> subprocess.Popen[bytes]:
    folder.mkdir(exist_ok=True)
    words = [
        *("run", str(site.root), "--out", "out", "-m", "openai:reader", "--base-url", site.server.base_url),
        *("-v", f"scripted:{site.policy}:judge", "--concurrency", str(AT_ONCE), "--whole-groups"),
    ]
    code = "from whet.apps.groupqc.commands import app; app()"
    return subprocess.Popen(
        [sys.executable, "-c", code, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


@pytest.fixture(scope="module")
def whole(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a run that nobody disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    process = start(site, folder)
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 1, f"some groups are refused, and nothing else goes wrong:\n{said.decode()}"
    return folder / "out"


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def audit_rows(out: Path, name: str) -> list[dict[str, Any]]:
    (path,) = out.glob(f"audits/*/{name}")
    return rows(path) if name.endswith(".jsonl") else [json.loads(path.read_text(encoding="utf-8"))]


def readable_files(out: Path) -> Mapping[str, bytes]:
    """Everything that was written but ledgers, clocks, and the places that a run was made from."""
    found = {str(path.relative_to(out)): path for path in out.rglob("*") if path.is_file()}
    return {
        name: path.read_bytes()
        for name, path in sorted(found.items())
        if "ledger" not in path.name and path.name not in ("timing.json", "sources.json")
    }


def test_everything_that_can_go_wrong_was_planted(site: Site) -> None:
    planted = {kind for folder in site.written for kind, _ in folder.planted}
    assert planted == {"malformed", "missing", "empty", "copied", "turned"}
    assert len(site.written) == GROUPS
    ids = [folder.group.ticket.group_id for folder in site.expected()]
    assert len(set(ids)) < len(ids), "a site was handed in again, and both times can be read"


def test_every_record_is_as_expected(site: Site, whole: Path) -> None:
    found = rows(whole / f"{MISSION}_stage_a.jsonl")
    assert found == [
        {
            "schema_version": 1,
            "group_id": folder.group.ticket.group_id,
            "mission": MISSION,
            "label": folder.group.ticket.label,
            "images": list(folder.images),
            "per_image": {f"图片_{number}": text for number, text in enumerate(folder.summaries, start=1)},
        }
        for folder in site.expected()
    ]


def test_every_other_group_is_in_the_error_file_with_its_reason(site: Site, whole: Path) -> None:
    found = {(row["ticket_key"], row["reason"], row["file"]) for row in rows(whole / f"{MISSION}_stage_a.errors.jsonl")}
    expected = set()
    for folder in site.written:
        if site.contradicted(folder):
            expected.add((folder.group.ticket.key, "two_labels", str(folder.path)))
        for kind, name in folder.planted:
            if kind == "malformed":
                expected.add((folder.group.ticket.key, "not_a_photo", str(folder.path / name)))
            elif kind == "empty":
                expected.add((folder.group.ticket.key, "empty_group", str(folder.path)))
    assert found == expected


def test_copied_photos_are_found_and_nothing_else(site: Site, whole: Path) -> None:
    photos = {
        f"{folder.path.parent.name}/{folder.path.name}/{name}": (
            (folder.path / name).read_bytes(),
            folder.group.ticket.key,
        )
        for folder in site.expected()
        for name in folder.images
    }
    same = {
        (first, second)
        for first, (data, key) in photos.items()
        for second, (other, another) in photos.items()
        if first < second and data == other and key != another
    }
    assert {(row["first"], row["second"]) for row in rows(whole / f"{MISSION}_stage_a.copies.jsonl")} == same
    assert same


def test_every_vote_is_as_expected(site: Site, whole: Path) -> None:
    found = audit_rows(whole, "baseline_ticket_stats.jsonl")
    told = [(row["ticket_key"], row["gt_label"], row["majority_pred"], row["n_images"]) for row in found]
    expected = [
        (folder.group.ticket.key, folder.group.ticket.label, site.verdict(folder), len(folder.images))
        for folder in site.expected()
    ]
    assert told == sorted(expected)
    assert {verdict for _, _, verdict, _ in expected} == {"pass", "fail", None}


def test_the_figures_are_those_of_the_votes(site: Site, whole: Path) -> None:
    (metrics,) = audit_rows(whole, "baseline_metrics.json")
    said = [(folder.group.ticket.label, site.verdict(folder)) for folder in site.expected()]
    assert metrics["n_used"] == len(said)
    assert (metrics["tp"], metrics["fp"]) == (said.count(("pass", "pass")), said.count(("fail", "pass")))
    assert (metrics["fn"], metrics["tn"]) == (said.count(("pass", "fail")), said.count(("fail", "fail")))
    assert metrics["invalid"] == sum(verdict is None for _, verdict in said)
    for name, pair in (("np", ("pass", "fail")), ("ng", ("fail", "pass"))):
        listed = {row["ticket_key"] for row in audit_rows(whole, f"baseline_{name}_cases.jsonl")}
        keys = {
            folder.group.ticket.key
            for folder in site.expected()
            if (folder.group.ticket.label, site.verdict(folder)) == pair
        }
        assert listed == keys


def test_killed_and_started_again_it_ends_in_the_same_bytes(site: Site, whole: Path, tmp_path: Path) -> None:
    photos = {(folder.path / name).read_bytes() for folder in site.expected() for name in folder.images}
    before = site.server.asked
    for _ in range(KILLS):
        site.gate.hold_after(len(photos) // (KILLS + 2))
        process = start(site, tmp_path)
        assert site.gate.wait_until_it_holds()
        process.send_signal(signal.SIGKILL)
        process.communicate()
        site.gate.open()
    process = start(site, tmp_path)
    process.communicate(timeout=300)
    assert process.returncode == 1
    assert readable_files(tmp_path / "out") == readable_files(whole)
    asked = site.server.asked - before
    assert asked <= len(photos) + AT_ONCE * KILLS, "only what was under way at a kill is asked twice"
