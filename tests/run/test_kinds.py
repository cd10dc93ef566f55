"""Commands about runs know every kind of run: list, show, resume, rebuild, verify."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest
from builders import Doubles, FromFunction, doubled
from reflact_world import Kinds, config, optimiser, target, trained
from rich.console import Console

from whet.errors import FaultError, WhetError
from whet.ledger.writer import LedgerWriter
from whet.models.base import Request
from whet.run.api import decide, evaluate, rebuild, resume
from whet.run.catalog import list_runs, show_run, show_transcripts
from whet.run.compose import Given
from whet.run.kinds import KINDS, rebuild_run
from whet.run.verify import verify_run
from whet.types import Fault, Playbook

BETTER = Playbook("Count twice.")


def half(request: Request) -> str:
    taught = request.messages[0].author == "system"
    number = int(request.messages[-1].text.split()[2].strip(","))
    return doubled(request) if taught or number % 2 else "wrong"


def proposer() -> FromFunction:
    model = FromFunction(optimiser)
    model.fingerprint = "optimiser-1"
    return model


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run of each kind of the house."""
    folder = tmp_path_factory.mktemp("runs")
    result = evaluate(Doubles(), FromFunction(half), n=30, runs=folder)
    result.folder.rename(folder / "measured")
    decide(folder / "measured", BETTER, env=Doubles(), model=FromFunction(half))
    trained(folder / "trained", config(train={"epochs": 1}))
    return folder


def given(kind: str) -> Given:
    if kind == "trained":
        return Given(Kinds(), FromFunction(target), optimizer=proposer())
    return Given(Doubles(), FromFunction(half))


def folder_of(runs: Path, kind: str) -> Path:
    return next((runs / "measured" / "gates").iterdir()) if kind == "gate" else runs / kind


def text(page: object) -> str:
    out = Console(width=200, no_color=True)
    with out.capture() as captured:
        out.print(page)
    return captured.get()


EACH = pytest.mark.parametrize("kind", ["measured", "gate", "trained"])


def test_every_kind_of_the_house_is_registered() -> None:
    assert {"eval", "gate", "train", "audit", "stage_a"} <= set(KINDS.names())


def test_the_list_names_the_kind_of_each_run(runs: Path) -> None:
    entries = {entry.name: (entry.kind, entry.state, entry.trouble) for entry in list_runs(runs)}
    assert entries == {"measured": ("eval", "complete", ""), "trained": ("train", "trained", "")}
    [decision] = list_runs(runs / "measured" / "gates")
    assert (decision.kind, decision.state) == ("gate", "accept")


@EACH
def test_each_kind_is_shown(runs: Path, kind: str) -> None:
    shown = text(show_run(str(folder_of(runs, kind)), runs))
    assert {"measured": "doubles", "gate": "accepted by paired", "trained": "sealed test"}[kind] in shown


@EACH
def test_each_kind_is_resumed_without_a_call_when_it_is_complete(runs: Path, kind: str) -> None:
    made = given(kind)
    result = resume(folder_of(runs, kind), env=made.env, model=made.model, optimizer=made.optimizer)
    assert result.folder == folder_of(runs, kind)
    assert isinstance(made.model, FromFunction)
    assert made.model.requests == []
    assert result.page().exit_code == 0


@EACH
def test_each_kind_is_rebuilt_byte_for_byte(runs: Path, kind: str) -> None:
    folder = folder_of(runs, kind)
    file = folder / {"measured": "results.json", "gate": "decision.json", "trained": "history.json"}[kind]
    before = file.read_bytes()
    file.unlink()
    assert rebuild_run(folder, given=given(kind)).startswith("rebuilt from")
    if kind != "trained":  # a history holds durations
        assert file.read_bytes() == before


@EACH
def test_each_kind_is_verified(runs: Path, kind: str) -> None:
    assert verify_run(folder_of(runs, kind), given=given(kind)) == []


@EACH
def test_a_file_that_was_written_by_hand_is_found(runs: Path, kind: str) -> None:
    folder = folder_of(runs, kind)
    name = {"measured": "results.json", "gate": "decision.json", "trained": "best_skill.md"}[kind]
    before = (folder / name).read_bytes()
    (folder / name).write_bytes(before.replace(b"e", b"E", 3) + b" ")
    try:
        assert [line.split(":")[0] for line in verify_run(folder, given=given(kind))] == [name]
    finally:
        (folder / name).write_bytes(before)


def test_a_score_that_was_edited_in_the_ledger_is_found(tmp_path: Path) -> None:
    result = evaluate(Doubles(), FromFunction(half), n=10, runs=tmp_path)
    with sqlite3.connect(result.folder / "ledger.sqlite") as db:
        db.execute("UPDATE rollouts SET hard = 1 - hard WHERE task = 3 OR seq = 1")
    found = verify_run(result.folder, given=Given(Doubles(), FromFunction(half)))
    assert "rollouts 1: not what was written" in found[0]
    assert any("graded" in line for line in found)


def test_transcripts_of_any_kind_are_shown_with_the_playbook_that_stood_there(runs: Path) -> None:
    shown = text(show_transcripts(str(folder_of(runs, "gate")), _task_of(runs), runs))
    assert "Count twice." in shown
    with pytest.raises(WhetError, match="tasks are named like"):
        show_transcripts("trained", "select/9999", runs)


def _task_of(runs: Path) -> str:
    from whet.ledger.store import Ledger

    with Ledger.read(folder_of(runs, "gate")) as ledger:
        ticket = next(iter(ledger.rollouts("gate"))).ticket
    return f"{ticket.split}/{ticket.index}"


def test_a_run_of_a_kind_that_is_not_installed_is_named(tmp_path: Path) -> None:
    result = evaluate(Doubles(), FromFunction(half), n=4, runs=tmp_path)
    with LedgerWriter.open(result.folder) as ledger:
        ledger.set_meta(kind="survey")
    with pytest.raises(WhetError, match="there is no kind of run 'survey'"):
        rebuild(result.folder)
    [entry] = list_runs(tmp_path)
    assert "survey" in entry.trouble


# --------------------------------------------------------------------------------------------- what is damaged


@pytest.mark.parametrize(
    ("file", "trouble"),
    [("events", "events 1: not what was"), ("table", "events: cannot be read"), ("meta", "meta 1: the row is gone")],
)
def test_a_run_that_cannot_be_read_is_a_line_of_the_list_and_not_its_end(
    tmp_path: Path, file: str, trouble: str
) -> None:
    damage = {
        "events": "UPDATE events SET body = '{}'",
        "table": "DROP TABLE events",
        "meta": "DELETE FROM meta",
    }
    sound, damaged = (evaluate(Doubles(), FromFunction(half), n=n, runs=tmp_path).folder for n in (10, 11))
    with sqlite3.connect(damaged / "ledger.sqlite") as db:
        db.execute(damage[file])
    entries = {entry.name: entry for entry in list_runs(tmp_path)}
    assert entries[damaged.name].trouble.startswith(trouble)
    assert entries[sound.name].state == "complete"


@pytest.mark.parametrize("budget", [{"seconds": 0.05}, {"calls": 60}])
def test_a_training_that_was_stopped_is_no_false_alarm(tmp_path: Path, budget: dict[str, float]) -> None:
    """Why it stopped is no part of what the ledger gives: a rebuild ends where the ledger does."""
    result = trained(tmp_path / "run", config(control={"budget": budget}))
    assert result.stopped
    assert verify_run(result.folder, given=given("trained")) == []


def test_a_training_that_a_service_stopped_is_no_false_alarm(tmp_path: Path) -> None:
    calls = iter(range(10**6))

    def failing(request: Request) -> str:
        if next(calls) > 60:
            raise FaultError(Fault("server_error", "there", "500"))
        return target(request)

    result = trained(tmp_path / "run", target=failing)
    assert "met a fault" in result.stopped
    assert verify_run(result.folder, given=given("trained")) == []


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE rollouts SET policy = 'another' WHERE seq = 1",
        "UPDATE rollouts SET key = 'another' WHERE seq = 1",
        "UPDATE rollouts SET parts = '{\"length\": 1.0}' WHERE seq = 1",
        "UPDATE rollouts SET calls = 0 WHERE seq = 1",
        "UPDATE transcripts SET body = '{}' WHERE seq = 1",
        "DELETE FROM transcripts WHERE seq = 1",
        "DELETE FROM policies",
    ],
)
def test_any_column_that_is_not_what_the_transcript_says_is_found(tmp_path: Path, edit: str) -> None:
    result = evaluate(Doubles(), FromFunction(half), n=10, runs=tmp_path)
    with sqlite3.connect(result.folder / "ledger.sqlite") as db:
        db.execute(edit)
    found = verify_run(result.folder, given=Given(Doubles(), FromFunction(half)))
    table = re.search(r"(rollouts|transcripts|policies)", edit)
    assert table
    assert found[0].startswith(f"{table[1]} 1: ")
    assert any(" of eval: " in line for line in found)
