"""A ledger proves itself: whatever was changed, added or taken away is found, and named, before anything is asked."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from builders import Doubles, FromFunction, doubled, rollout

from whet.errors import WhetError
from whet.ledger.account import Account, AttemptReserve
from whet.ledger.copies import backup_ledger, salvage_ledger
from whet.ledger.head import LedgerHead, head_path, read_head
from whet.ledger.proof import anchor_line, ledger_findings
from whet.ledger.schema import ALL, ATTEMPTS, SETTLEMENTS
from whet.ledger.store import FILE, Ledger
from whet.ledger.writer import LedgerWriter
from whet.run.api import evaluate, rebuild, resume
from whet.run.verify import verify_run
from whet.types import Fault, Policy, Rollout, Usage

RESERVE = AttemptReserve(100, 50, 0.5)


def faulty(index: int) -> Rollout:
    base = rollout(index)
    return Rollout(base.ticket, base.label, base.key, base.request, base.policy, (), Fault("timeout", "there", "slow"))


def filled(folder: Path, rollouts: int = 12) -> LedgerWriter:
    """A ledger with rows in every table, still open."""
    ledger = LedgerWriter.create(folder)
    ledger.set_meta(kind="eval", identity="i")
    ledger.add_policy(Policy("m"))
    ledger.add_event("session", planned=rollouts)
    for index in range(rollouts):
        ledger.add_rollouts([rollout(index)])
    ledger.add_rollouts([faulty(900)])
    ledger.add_effect("k", "call", "train/e1", "r", {"text": "hello"})
    ledger.write({ATTEMPTS: [(ledger.number(ATTEMPTS), "k", "target", 100, 50, 0.5) for _ in range(3)]})
    ledger.write({SETTLEMENTS: [(1, "told", 1, 60, 20, 5, 0.25), (2, "untold", 1, 100, 50, 0, 0.5)]})
    for _ in range(3):
        ledger.may_cost(RESERVE.usage)
    ledger.may_cost(Usage(1, 60, 20, 5, 0.25), RESERVE.usage)
    return ledger


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sound") / "run"
    filled(folder).close()
    return folder


def copied(sound: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "copy"
    shutil.copytree(sound, folder)
    return folder


def edited(folder: Path, *statements: str) -> list[str]:
    with sqlite3.connect(folder / FILE) as db:
        for statement in statements:
            db.execute(statement)
    db.close()
    return ledger_findings(folder / FILE)


# --------------------------------------------------------------------------------------------- bytes


def test_a_sound_ledger_has_nothing_wrong(sound: Path) -> None:
    assert ledger_findings(sound / FILE) == []
    assert not (sound / f"{FILE}-wal").exists(), "a closed ledger is one file"


def test_any_single_changed_byte_is_found(sound: Path, tmp_path: Path) -> None:
    """The header, free space and every page: a closed ledger is known by its whole file."""
    folder = copied(sound, tmp_path)
    path = folder / FILE
    whole = path.read_bytes()
    chance = random.Random(14)
    places = [*range(100), *(chance.randrange(len(whole)) for _ in range(200)), len(whole) - 1]
    for place in places:
        other = bytes([whole[place] ^ chance.randrange(1, 256)])
        path.write_bytes(whole[:place] + other + whole[place + 1 :])
        assert ledger_findings(path), f"byte {place}"
        with contextlib.suppress(WhetError), Ledger.read(folder) as ledger:
            assert ledger.counts()["rollouts"] == 12, f"byte {place} may be read past only where it holds nothing"
        path.write_bytes(whole)
    assert ledger_findings(path) == []


@pytest.mark.parametrize("change", ["cut", "longer", "half", "empty"])
def test_a_file_of_another_length_is_found(sound: Path, tmp_path: Path, change: str) -> None:
    path = copied(sound, tmp_path) / FILE
    whole = path.read_bytes()
    path.write_bytes(
        {"cut": whole[:-1], "longer": whole + b"\0", "half": whole[: len(whole) // 2], "empty": b""}[change]
    )
    assert ledger_findings(path)


def test_any_changed_byte_of_the_head_is_found(sound: Path, tmp_path: Path) -> None:
    path = copied(sound, tmp_path) / FILE
    beside = head_path(path)
    whole = beside.read_bytes()
    for place in range(len(whole)):
        beside.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert ledger_findings(path), f"byte {place}"


# --------------------------------------------------------------------------------------------- rows

COLUMNS = [(table, column) for table in ALL for column in table.columns.replace(",", " ").split()]


@pytest.mark.parametrize(("table", "column"), COLUMNS, ids=[f"{table.name}.{column}" for table, column in COLUMNS])
def test_an_edited_column_is_found_by_the_chain_and_named(sound: Path, tmp_path: Path, table: Any, column: str) -> None:
    folder = copied(sound, tmp_path)
    changed = "seq + 5000" if column == "seq" else f"CASE typeof({column}) WHEN 'text' THEN {column} || 'x' "
    if column != "seq":
        changed += f"WHEN 'blob' THEN CAST({column} || ' ' AS BLOB) WHEN 'null' THEN 1 ELSE {column} + 1 END"
    _unseal(folder)
    found = edited(folder, f"UPDATE {table.name} SET {column} = {changed} WHERE seq = 1")
    assert found[0].startswith(f"{table.name} 1: "), found
    with pytest.raises(WhetError, match=f"{table.name} 1: "):
        LedgerWriter.open(folder)


def _unseal(folder: Path) -> None:
    """As if it had been killed: nothing says what the file was, and only the chain can tell."""
    head = read_head(folder / FILE)
    assert head is not None
    head_path(folder / FILE).write_bytes(LedgerHead(head.link, head.head, head.spent).line() * 2)


@pytest.mark.parametrize("table", ALL, ids=lambda table: table.name)
def test_rows_that_were_deleted_or_added_are_found(sound: Path, tmp_path: Path, table: Any) -> None:
    folder = copied(sound, tmp_path)
    _unseal(folder)
    names = table.columns.replace(",", " ").split()[1:]
    kept = ", ".join(f"{name} || 'x'" if name in ("key", "digest") else name for name in names)
    added = f"INSERT INTO {table.name} (seq, {', '.join(names)}) SELECT 7000, {kept} FROM {table.name} WHERE seq = 1"
    assert any(f"{table.name} 7000: no commit has written" in line for line in edited(folder, added))
    assert any(
        f"{table.name} 1: the row is gone" in line for line in edited(folder, f"DELETE FROM {table.name} WHERE seq = 1")
    )


def test_the_first_bad_row_is_named_first(sound: Path, tmp_path: Path) -> None:
    """First in the order of the commits, whatever its table."""
    folder = copied(sound, tmp_path)
    found = edited(
        folder, "UPDATE effects SET kind = 'x'", "UPDATE rollouts SET hard = 0 WHERE seq = 9", "DELETE FROM attempts"
    )
    assert found[0] == "rollouts 9: not what was written (select/8 draw 0 of eval)"


def test_a_deleted_tail_is_found_although_the_chain_before_it_holds(sound: Path, tmp_path: Path) -> None:
    folder = copied(sound, tmp_path)
    _unseal(folder)
    last = "SELECT max(link) FROM chain"
    found = edited(folder, "DELETE FROM settlements", f"DELETE FROM chain WHERE link = ({last})")
    assert "the last 1 of" in found[0]


def test_a_chain_that_was_written_anew_is_another_than_the_head_says(sound: Path, tmp_path: Path) -> None:
    folder, other = copied(sound, tmp_path), tmp_path / "other"
    filled(other, rollouts=11).close()
    (folder / FILE).write_bytes((other / FILE).read_bytes())
    assert any("commits are gone" in line or "is another than ledger.head says" in line for line in _found(folder))


def _found(folder: Path) -> list[str]:
    return ledger_findings(folder / FILE)


# --------------------------------------------------------------------------------------------- kills


def killed(tmp_path: Path, *, log: bool) -> Path:
    """What a kill leaves, with or without the write-ahead log."""
    ledger = filled(tmp_path / "run")
    left = tmp_path / "left"
    left.mkdir()
    for file in (tmp_path / "run").iterdir():
        if log or not file.name.endswith(("-wal", "-shm")):
            shutil.copyfile(file, left / file.name)
    ledger.close()
    return left


def test_a_killed_ledger_is_whole_and_goes_on(tmp_path: Path) -> None:
    left = killed(tmp_path, log=True)
    assert ledger_findings(left / FILE) == []
    with LedgerWriter.open(left) as ledger:
        assert ledger.counts()["rollouts"] == 12
        assert ledger.close_lost() == 1
        assert ledger.account().lost == Usage(1, 100, 50, 0, 0.5)
    assert ledger_findings(left / FILE) == []


def test_a_deleted_log_is_noticed_before_anything_is_asked_again(tmp_path: Path) -> None:
    """It once re-asked everything that the log had held, without a word."""
    left = killed(tmp_path, log=False)
    for opening in (LedgerWriter.open, Ledger.read):
        with pytest.raises(WhetError, match=r"commits are gone .*pay for what they hold again.*whet salvage") as told:
            opening(left)
        assert "\n" not in str(told.value)


def test_any_changed_byte_of_a_log_is_found(tmp_path: Path) -> None:
    left = killed(tmp_path, log=True)
    log = left / f"{FILE}-wal"
    whole, chance = log.read_bytes(), random.Random(3)
    for _ in range(60):
        place = chance.randrange(32, len(whole))
        log.write_bytes(whole[:place] + bytes([whole[place] ^ 64]) + whole[place + 1 :])
        (left / f"{FILE}-shm").unlink(missing_ok=True)
        assert ledger_findings(left / FILE), f"byte {place}"


def test_a_lost_head_is_noticed(sound: Path, tmp_path: Path) -> None:
    folder = copied(sound, tmp_path)
    head_path(folder / FILE).unlink()
    with pytest.raises(WhetError, match=r"ledger\.head is gone"):
        LedgerWriter.open(folder)


# --------------------------------------------------------------------------------------------- runs


def test_an_edited_score_changes_no_result(tmp_path: Path) -> None:
    """`results.json` once followed the column without a word."""
    result = evaluate(Doubles(), FromFunction(doubled), n=10, runs=tmp_path)
    before = (result.folder / "results.json").read_bytes()
    with sqlite3.connect(result.folder / FILE) as db:
        db.execute("UPDATE rollouts SET hard = 0, reward = 0.0 WHERE seq = 4")
    db.close()
    model = FromFunction(doubled)
    for act in (lambda: rebuild(result.folder), lambda: resume(result.folder, env=Doubles(), model=model)):
        with pytest.raises(WhetError, match="rollouts 4: not what was written"):
            act()
    assert model.requests == []
    assert (result.folder / "results.json").read_bytes() == before


def test_an_anchored_head_stays_on_the_chain_as_the_run_goes_on(tmp_path: Path) -> None:
    with filled(tmp_path / "run") as ledger:
        line = anchor_line(ledger.path)
        ledger.add_event("more")
    path = tmp_path / "run" / FILE
    assert line.startswith("whet-ledger 3 run ")
    assert ledger_findings(path, expect=line) == []
    salvage_ledger(tmp_path / "run", tmp_path / "anew")  # a chain of its own, sound in itself
    anew = tmp_path / "anew" / FILE
    assert ledger_findings(anew) == []
    assert "nowhere in its chain" in ledger_findings(anew, expect=line)[0]
    assert "not a head" in ledger_findings(path, expect="hello")[0]


# --------------------------------------------------------------------------------------------- copies


def test_a_backup_of_a_ledger_under_way_is_a_ledger(tmp_path: Path) -> None:
    with filled(tmp_path / "run") as ledger:
        head = backup_ledger(tmp_path / "run", tmp_path / "copies" / FILE)
        assert head.link == ledger.head.link
        ledger.add_event("more")
    assert ledger_findings(tmp_path / "copies" / FILE) == []
    with LedgerWriter.open(tmp_path / "copies") as copy:
        assert copy.counts()["rollouts"] == 12
    with pytest.raises(WhetError, match="is there already"):
        backup_ledger(tmp_path / "run", tmp_path / "copies" / FILE)


def test_what_is_sound_is_salvaged_and_what_is_lost_counts_as_spent(sound: Path, tmp_path: Path) -> None:
    folder = copied(sound, tmp_path)
    edited(
        folder,
        "UPDATE rollouts SET hard = 0 WHERE seq = 3",
        "DELETE FROM transcripts WHERE seq = 5",
        "DELETE FROM attempts WHERE seq = 1",
        "DELETE FROM settlements WHERE seq = 1",
    )
    found = salvage_ledger(folder, tmp_path / "out")
    assert (found.kept["rollouts"], found.kept["transcripts"]) == (10, 10)
    assert found.lost["rollouts"] == found.lost["transcripts"] == 2
    assert found.maybe == Usage(1, 60, 20, 0, 0.25)
    assert ledger_findings(tmp_path / "out" / FILE) == []
    with Ledger.read(tmp_path / "out") as ledger:
        assert ledger.rollout("eval-2-0") is None
        assert ledger.rollout("eval-3-0") == rollout(3)
        assert ledger.account().lost == found.maybe
        assert ledger.events("salvaged")


def test_a_salvaged_run_goes_on_and_asks_only_for_what_is_lost(tmp_path: Path) -> None:
    result = evaluate(Doubles(), FromFunction(doubled), n=20, runs=tmp_path)
    before = (result.folder / "results.json").read_bytes()
    edited(result.folder, "UPDATE rollouts SET reward = 0.5 WHERE seq IN (2, 7)")
    salvage_ledger(result.folder, tmp_path / "kept")
    model = FromFunction(doubled)
    resume(tmp_path / "kept", env=Doubles(), model=model)
    assert len(model.requests) == 2
    assert (tmp_path / "kept" / "results.json").read_bytes() == before
    assert verify_run(tmp_path / "kept") == []


def test_a_file_cut_in_half_gives_what_can_be_read(tmp_path: Path) -> None:
    filled(tmp_path / "run", rollouts=400).close()
    path = tmp_path / "run" / FILE
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) * 2 // 3])
    assert ledger_findings(path)
    found = salvage_ledger(tmp_path / "run", tmp_path / "out")
    assert found.lost["rollouts"] or found.commits
    assert found.kept["rollouts"] > 0, "what comes before the cut is there"
    assert ledger_findings(tmp_path / "out" / FILE) == []


def test_a_file_that_lacks_its_last_page_gives_nearly_all(tmp_path: Path) -> None:
    """Nothing at all was kept of one: a file that is shorter than its header says is not even opened."""
    filled(tmp_path / "run", rollouts=100).close()
    path = tmp_path / "run" / FILE
    os.truncate(path, path.stat().st_size - 4096)
    found = salvage_ledger(tmp_path / "run", tmp_path / "out")
    assert found.kept["rollouts"] > 60
    assert found.kept["meta"] == 2


def test_what_gates_have_spent_is_salvaged_with_their_run(sound: Path, tmp_path: Path) -> None:
    folder = copied(sound, tmp_path)
    filled(folder / "gates" / "g1").close()
    salvage_ledger(folder, tmp_path / "out")
    assert ledger_findings(tmp_path / "out" / "gates" / "g1" / FILE) == []


def test_a_full_disk_is_told_once_to_whoever_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who came after it was told, too, and left a future that complained of it when all was over."""

    async def two() -> None:
        with LedgerWriter.create(tmp_path / "run") as ledger:

            def full(entries: object) -> None:
                raise WhetError("disk is full")

            monkeypatch.setattr(ledger, "write", full)
            for _ in range(2):
                with pytest.raises(WhetError, match="disk is full"):
                    await ledger.journal.attempt("k", "target", RESERVE)
            assert ledger.journal._waiting == []

    asyncio.run(two())


def test_an_account_says_what_may_have_been_paid() -> None:
    account = Account(Usage(3, 30, 6, 0, 0.5), Usage(1, 10, 5, 0, 0.25), Usage(2, 20, 10, 0, 0.5))
    assert str(account) == (
        "account: 3 calls, 36 tokens, $0.5000; may have been paid: up to 3 calls, 45 tokens, $0.7500 "
        "(1 without a known usage, 2 cut off by a kill)"
    )
