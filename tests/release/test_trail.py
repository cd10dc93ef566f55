"""The trail: what was appended is proved, whatever was done to its file."""

from __future__ import annotations

import hashlib
import multiprocessing
import sqlite3
from pathlib import Path

import pytest
from forged_trail import rewrite
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from whet.errors import WhetError
from whet.release.anchor import SETTING, Anchor, AnchorLine
from whet.release.redaction import redact
from whet.release.trail import ANCHORED, FILE, Trail
from whet.release.upkeep import set_anchor


def filled(folder: Path, count: int = 6, anchor: Anchor | None = None) -> Path:
    """A closed trail of some decisions."""
    path = folder / FILE
    with Trail(path, anchor) as trail:
        for number in range(count):
            with trail.turn() as turn:
                made = turn.append(
                    "decided",
                    {"champion": "site", "verdict": "pass", "number": number, "site": "s"},
                    subject=f"ticket{number}",
                    private={"name": f"QC-2026-{number}", "reason": "Image1: fine"},
                )
                turn.db.execute("INSERT INTO decisions VALUES (?, ?, ?, ?)", ("site", made.subject, made.seq, "s"))
    return path


def test_what_was_appended_is_there_and_proved(tmp_path: Path) -> None:
    trail = Trail(filled(tmp_path))
    assert trail.verify() == []
    assert [entry.whole["name"] for entry in trail.entries("decided")] == [f"QC-2026-{n}" for n in range(6)]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes, bytes]:
    path = filled(tmp_path_factory.mktemp("sound"))
    return path, path.read_bytes(), path.with_suffix(".head").read_bytes()


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_one_changed_byte_is_found(sound: tuple[Path, bytes, bytes], data: st.DataObject) -> None:
    path, body, head = sound
    whole = body + head
    at = data.draw(st.integers(0, len(whole) - 1))
    changed = bytearray(whole)
    changed[at] ^= data.draw(st.integers(1, 255))
    try:
        path.write_bytes(changed[: len(body)])
        path.with_suffix(".head").write_bytes(changed[len(body) :])
        assert Trail(path).verify(), f"byte {at} was changed and nobody noticed"
    finally:
        path.write_bytes(body)
        path.with_suffix(".head").write_bytes(head)


def test_whoever_writes_another_chain_is_found_by_the_anchor_alone(tmp_path: Path) -> None:
    anchor = Anchor(str(tmp_path / "elsewhere.txt"))
    path = filled(tmp_path / "releases", anchor=anchor)
    assert Trail(path, anchor).verify() == []
    rewrite(path, 3)
    assert Trail(path).entry(3).record["verdict"] == "fail"
    assert Trail(path).verify() == [], "this operator is thorough: within the file nothing is wrong"
    assert "written anew" in Trail(path).verify(anchor)[0]
    assert "written anew" in Trail(path).verify(expect=str(anchor.lines()[3]))[0]


def test_a_trail_that_was_cut_is_found_by_its_head_and_by_the_anchor(tmp_path: Path) -> None:
    anchor = Anchor(str(tmp_path / "elsewhere.txt"))
    path = filled(tmp_path / "releases", anchor=anchor)
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM entries WHERE seq = 6")
        db.execute("DELETE FROM chain WHERE link = 6")
    told = " ".join(Trail(path).verify(anchor))
    assert "commits are gone" in told
    assert "has fewer now" in told
    with pytest.raises(WhetError, match="nothing was added"):
        Trail(path).append("decided", {})


def _append(path: str, who: int, count: int) -> None:
    with Trail(Path(path)) as trail:
        for number in range(count):
            trail.append("noted", {"who": who, "number": number})


def test_processes_that_append_at_once_make_one_chain(tmp_path: Path) -> None:
    path = tmp_path / FILE
    context = multiprocessing.get_context("spawn")
    several = [context.Process(target=_append, args=(str(path), who, 40)) for who in range(3)]
    for process in several:
        process.start()
    for process in several:
        process.join()
    trail = Trail(path)
    assert trail.verify() == []
    assert len(trail.entries("noted")) == 120


def test_a_redaction_takes_the_text_out_and_keeps_the_chain(tmp_path: Path) -> None:
    path = filled(tmp_path)
    before = Trail(path).head()
    with Trail(path) as trail:
        assert redact(trail, "ticket2", fields=("name",), why="asked to be forgotten", who="dpo") == 1
    trail = Trail(path)
    assert trail.verify(expect=str(before)) == []
    assert "name" not in trail.entry(3).whole
    assert trail.entry(3).whole["reason"] == "Image1: fine"
    assert b"QC-2026-2" not in path.read_bytes()


def test_a_text_that_is_gone_without_a_redaction_is_found(tmp_path: Path) -> None:
    path = filled(tmp_path)
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM private WHERE seq = 2 AND field = 'name'")
    assert any("no redaction says so" in line for line in Trail(path).verify())


def test_a_decision_that_was_put_into_the_table_alone_is_found(tmp_path: Path) -> None:
    path = filled(tmp_path)
    with sqlite3.connect(path) as db:
        db.execute("INSERT INTO decisions VALUES ('site', 'forged', 99, 's')")
    assert any("not what its entry says" in line for line in Trail(path).verify())


def test_a_line_that_is_no_anchor_is_refused() -> None:
    with pytest.raises(WhetError, match="not a line of an anchor"):
        AnchorLine.parse("whet-trail 1 x y z")
    line = AnchorLine(3, hashlib.sha256(b"x").digest()[:16].hex(), 1.5)
    assert AnchorLine.parse(str(line)) == line


def test_an_anchor_that_cannot_be_reached_is_told_and_decides_nothing(tmp_path: Path) -> None:
    trail = Trail(tmp_path / FILE, Anchor(str(tmp_path / "no" / "such" / "folder")))
    trail.append("noted", {})
    assert "did not arrive" in trail.trouble
    assert len(trail.entries()) == 1
    trail.close()


def test_a_command_is_handed_the_head_at_the_end(tmp_path: Path) -> None:
    kept = tmp_path / "kept.txt"
    script = tmp_path / "keep.sh"
    script.write_text(f"#!/bin/sh\ncat >> {kept}\n")
    script.chmod(0o700)
    path = filled(tmp_path / "releases", anchor=Anchor(f"cmd:{script}"))
    (line,) = kept.read_text().splitlines()
    assert AnchorLine.parse(line).link == 6
    assert Trail(path).verify(expect=line) == []


def anchored(tmp_path: Path) -> tuple[Path, Path]:
    """A releases folder with some decisions, anchored in a file elsewhere; and that file."""
    releases, elsewhere = tmp_path / "releases", tmp_path / "elsewhere.txt"
    filled(releases)
    set_anchor(releases, Anchor(str(elsewhere)))
    assert Trail.of(releases).verify() == []
    return releases, elsewhere


@pytest.mark.parametrize("place", ["releases/heads.txt", "x/../releases/heads.txt", "../{up}/releases/h", "linked/h"])
def test_an_anchor_that_lies_with_the_trail_is_refused_by_whatever_way_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.chdir(tmp_path)
    filled(tmp_path / "releases")
    (tmp_path / "linked").symlink_to("releases")
    with pytest.raises(WhetError, match="lies with the trail"):
        set_anchor(Path("releases"), Anchor(place.format(up=tmp_path.name)))
    assert Trail.of(Path("releases")).entries(ANCHORED) == []


def test_a_place_that_nothing_arrives_at_is_no_anchor_and_no_entry_says_so(tmp_path: Path) -> None:
    filled(tmp_path / "releases")
    with pytest.raises(WhetError, match="did not arrive"):
        set_anchor(tmp_path / "releases", Anchor(str(tmp_path / "no" / "such" / "folder")))
    trail = Trail.of(tmp_path / "releases")
    assert trail.anchor is None
    assert trail.entries(ANCHORED) == []
    assert trail.verify() == []


def test_two_trails_do_not_share_an_anchor(tmp_path: Path) -> None:
    _, elsewhere = anchored(tmp_path)
    filled(tmp_path / "other", 3)
    before = elsewhere.read_bytes()
    with pytest.raises(WhetError, match="heads of another trail"):
        set_anchor(tmp_path / "other", Anchor(str(elsewhere)))
    assert elsewhere.read_bytes() == before


@pytest.mark.parametrize("how", ["no setting", "another setting", "emptied", "gone"])
def test_an_operator_who_takes_the_witness_away_is_found(tmp_path: Path, how: str) -> None:
    releases, elsewhere = anchored(tmp_path)
    if how == "no setting":
        (releases / SETTING).unlink()
    elif how == "another setting":
        copy = tmp_path / "copy.txt"
        copy.write_bytes(elsewhere.read_bytes())
        Anchor(str(copy)).keep(releases)
    elif how == "emptied":
        elsewhere.write_bytes(b"")
    else:
        elsewhere.unlink()
    (told,) = Trail.of(releases).verify()
    assert told.startswith("anchor")


def test_a_trail_that_was_written_anew_is_not_gone_on_with_and_its_head_does_not_reach_the_anchor(
    tmp_path: Path,
) -> None:
    """Else the false head stands in the anchor beside the true one, and the true trail, put back, is called false."""
    releases, elsewhere = anchored(tmp_path)
    sound = {file: file.read_bytes() for file in releases.iterdir() if file.is_file()}
    witness = elsewhere.read_bytes()
    rewrite(releases / FILE, 3)
    with pytest.raises(WhetError, match="not what was anchored"):
        Trail.of(releases).append("decided", {})
    assert elsewhere.read_bytes() == witness
    for file, body in sound.items():
        file.write_bytes(body)
    assert Trail.of(releases).verify() == []
    with Trail.of(releases) as trail:
        trail.append("noted", {})
    assert Trail.of(releases).verify() == []


def test_a_trail_that_is_gone_with_its_head_is_missed_by_the_anchor(tmp_path: Path) -> None:
    releases, elsewhere = anchored(tmp_path)
    witness = elsewhere.read_bytes()
    for file in (releases / FILE, (releases / FILE).with_suffix(".head")):
        file.unlink()
    with pytest.raises(WhetError, match="is gone"):
        Trail.of(releases).append("decided", {})
    assert not (releases / FILE).exists()
    assert elsewhere.read_bytes() == witness
