"""The ledger remembers every effect once, survives what happens to files, and says what is wrong with one."""

from __future__ import annotations

import math
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from builders import rollout

from whet.errors import ReplayMismatch, WhetError
from whet.files import write_atomically
from whet.ledger.store import FILE, Ledger
from whet.ledger.writer import LedgerWriter
from whet.types import (
    Example,
    Fault,
    Image,
    MalformedCall,
    Message,
    Playbook,
    Policy,
    Reply,
    Rollout,
    Sampling,
    Score,
    ToolCall,
    Turn,
    Usage,
    failed,
    user,
)


def rich_rollout() -> Rollout:
    """Every field set, so that nothing is lost on the way to disk and back."""
    call = ToolCall("c1", "run", {"code": "1"}, '{"code": "1"}')
    bad = MalformedCall("c2", "run", "{", "cut_off", "the reply was cut off")
    reply = Reply("text", (call,), (bad,), "length", Usage(1, 2, 3, 1, None), "v1", "thought", (1, 2), (-0.5, -0.1))
    said = (Message("user", ("look: ", Image("ab" * 32))), Message("tool", "done", call_id="c1"))
    turns = (Turn("target", said, reply), Turn("judge", (user("fair?"),), Reply("yes")))
    base = rollout(7, outcome=failed("malformed", "why", part=0.25))
    return Rollout(base.ticket, base.label, base.key, base.request, base.policy, turns, base.outcome, reply.usage, 1.5)


def test_a_rollout_comes_back_as_it_was(tmp_path: Path) -> None:
    with LedgerWriter.create(tmp_path) as ledger:
        ledger.add_rollouts([rich_rollout()])
        assert ledger.rollout("eval-7-0") == rich_rollout()


def test_outcomes_hold_what_the_rollouts_say(tmp_path: Path) -> None:
    with LedgerWriter.create(tmp_path) as ledger:
        ledger.add_rollouts([rich_rollout()])
        [outcome] = ledger.outcomes("eval")
    assert (outcome.hard, outcome.reason, outcome.truncated, outcome.malformed) == (0, "malformed", True, ("cut_off",))
    assert outcome.usage == Usage(1, 2, 3, 1, None)
    assert outcome.parts == {"part": 0.25}


def test_a_part_that_is_no_finite_number_is_not_in_the_outcome(tmp_path: Path) -> None:
    parts = {"edge": 2, "sum": math.nan, "ratio": math.inf, "said": None}
    with LedgerWriter.create(tmp_path) as ledger:
        ledger.add_rollouts([rollout(1, outcome=Score(1, 1.0, 1.0, parts))])  # type: ignore[arg-type]
        [outcome] = ledger.outcomes("eval")
    assert outcome.parts == {"edge": 2.0}


def test_a_key_is_never_answered_twice(tmp_path: Path) -> None:
    with LedgerWriter.create(tmp_path) as ledger:
        ledger.add_rollouts([rollout(1)])
        with pytest.raises(WhetError, match="answered twice"):
            ledger.add_rollouts([rollout(2), rollout(1)])
        assert [one.ticket.index for one in ledger.outcomes()] == [1], "the transaction must leave nothing behind"


def test_a_changed_request_stops_the_replay_and_says_where(tmp_path: Path) -> None:
    with LedgerWriter.create(tmp_path) as ledger:
        ledger.add_rollouts([rollout(1)])
        assert ledger.has_rollout("eval-1-0", "request-1", "select/1")
        with pytest.raises(ReplayMismatch, match="select/1"):
            ledger.has_rollout("eval-1-0", "another request", "select/1")


def test_a_fault_is_not_an_answer(tmp_path: Path) -> None:
    faulted = rollout(1, outcome=None)
    faulted = Rollout(
        *(getattr(faulted, name) for name in ("ticket", "label", "key", "request", "policy", "turns")),
        outcome=Fault("timeout", "here", "slow"),
    )
    with LedgerWriter.create(tmp_path) as ledger:
        ledger.add_rollouts([faulted])
        assert ledger.faulted() == {"eval-1-0"}
        assert not ledger.has_rollout("eval-1-0", "request-1", "select/1")
        assert [one.fault for one in ledger.outcomes()] == ["timeout"]
        ledger.add_rollouts([rollout(1)])
        assert [one.fault for one in ledger.outcomes()] == [""], "an answer closes the fault"


def test_policies_come_back_as_they_were(tmp_path: Path) -> None:
    policy = Policy("m", Sampling(0.5, stop=("\n",)), Playbook("body", (Example("q", "a"),), {"a.txt": "text"}))
    with LedgerWriter.create(tmp_path) as ledger:
        assert ledger.policy(ledger.add_policy(policy)) == policy


def test_effects_are_looked_up_by_key_and_request(tmp_path: Path) -> None:
    with LedgerWriter.create(tmp_path) as ledger:
        assert ledger.effect("k", "r", "step 1") is None
        ledger.add_effect("k", "call", "train/e1", "r", {"text": "hello"})
        assert ledger.effect("k", "r", "step 1") == {"text": "hello"}
        with pytest.raises(ReplayMismatch, match="step 1"):
            ledger.effect("k", "other", "step 1")


def test_a_second_process_is_refused_by_name(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from whet.ledger.writer import LedgerWriter; "
        f"LedgerWriter.open(Path({str(tmp_path)!r}))"
    )
    with LedgerWriter.create(tmp_path):
        other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert "is writing to this run" in other.stderr
    subprocess.run([sys.executable, "-c", code], check=True)


def test_reading_needs_no_lock(tmp_path: Path) -> None:
    with LedgerWriter.create(tmp_path) as ledger:
        ledger.add_rollouts([rollout(1)])
        with Ledger.read(tmp_path) as reader:
            assert reader.counts()["rollouts"] == 1


def test_a_newer_ledger_is_refused_unchanged(tmp_path: Path) -> None:
    LedgerWriter.create(tmp_path).close()
    db = sqlite3.connect(tmp_path / FILE)
    db.execute("PRAGMA user_version = 99")
    db.close()
    before = (tmp_path / FILE).read_bytes()
    for opening in (LedgerWriter.open, Ledger.read):
        with pytest.raises(WhetError, match="newer Whet"):
            opening(tmp_path)
    assert (tmp_path / FILE).read_bytes() == before


def test_a_truncated_ledger_is_named(tmp_path: Path) -> None:
    with LedgerWriter.create(tmp_path) as ledger:
        ledger.add_rollouts([rollout(index) for index in range(200)])
    whole = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(WhetError, match="damaged"):
        LedgerWriter.open(tmp_path)


@pytest.mark.parametrize("content", [b"", b"not a database at all, but long enough to look at" * 20])
def test_a_foreign_file_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(WhetError, match="not a ledger"):
        LedgerWriter.open(tmp_path)


def test_a_missing_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="no run here"):
        Ledger.read(tmp_path / "nowhere")


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "results.json"
    write_atomically(file, b"old")

    def fails(path: Path, target: Path) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(file, b"new")
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_full_disk_is_one_clear_line_and_the_ledger_goes_on_when_there_is_room(tmp_path: Path) -> None:
    """The transaction stayed open, so that whatever was written next failed with other words."""
    with LedgerWriter.create(tmp_path / "run") as ledger:
        pages = ledger._db.execute("PRAGMA page_count").fetchone()[0]
        ledger._db.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(WhetError, match=r"cannot be written \(database or disk is full\)"):
            ledger.add_event("large", body="x" * 100_000)
        ledger._db.execute("PRAGMA max_page_count = 100000")
        ledger.add_event("small")
        assert [event.name for event in ledger.events()] == ["small"]


def test_a_missing_value_is_not_called_a_second_answer(tmp_path: Path) -> None:
    with LedgerWriter.create(tmp_path / "run") as ledger:
        with pytest.raises(sqlite3.IntegrityError, match="NOT NULL"):
            ledger.set_meta(kind=None)  # type: ignore[arg-type]
        ledger.set_meta(kind="eval")
