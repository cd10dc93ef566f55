"""`whet export chat`: the conversations of a run of any kind, as the model had them."""

from __future__ import annotations

import json
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders import Doubles, FromFunction, doubled, rollout
from reflact_world import trained

import whet
from whet.cli import main
from whet.errors import FaultError, WhetError
from whet.keys import policy_digest
from whet.ledger.writer import LedgerWriter
from whet.models.base import Request
from whet.rollout.chat import chat_message
from whet.run.export import ChatFilter, export_chat
from whet.types import Example, Fault, Playbook, Policy, Reply, Turn, failed, user


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def evaluated(folder: Path, answer: Any = doubled, **options: Any) -> tuple[FromFunction, Path]:
    model = FromFunction(answer)
    return model, whet.evaluate(Doubles(), model, runs=folder, **options).folder


def test_a_line_is_a_conversation_with_where_it_came_from_and_how_it_was_graded(tmp_path: Path) -> None:
    playbook = Playbook("Be right.", (Example("Say twice 1", "2"),))
    model, folder = evaluated(tmp_path, n=10, repeats=2, playbook=playbook)
    done = export_chat(folder)
    assert (done.path, done.written, done.faults) == (folder / "chat.jsonl", 20, 0)
    found = rows(done.path)
    sent = {json.dumps([chat_message(message) for message in request.messages]) for request in model.requests}
    assert {json.dumps(row["messages"][:-1]) for row in found} == sent
    first = found[0]
    task = Doubles().task("select", int(first["task"].removeprefix("select/")))
    assert first["messages"][-1] == {"role": "assistant", "content": task.truth}
    assert (first["kind"], first["difficulty"]) == (task.label.kind, task.label.difficulty)
    assert (first["purpose"], first["draw"], first["hard"], first["reward"]) == ("eval", 0, 1, 1.0)
    assert (first["reason"], "tools" in first) == ("correct", False)
    assert {row["policy"] for row in found} == {policy_digest(Policy(model.fingerprint, playbook=playbook))}
    assert [(row["task"], row["draw"]) for row in found] == sorted(
        ((row["task"], row["draw"]) for row in found), key=lambda at: (int(at[0].partition("/")[2]), at[1])
    )


def test_only_what_solved_its_task_on_demand(tmp_path: Path) -> None:
    def sometimes(request: Request) -> str:
        return doubled(request) if (request.sampling.seed or 0) % 2 else "wrong"

    _, folder = evaluated(tmp_path, sometimes, n=40)
    everything, solved = export_chat(folder), export_chat(folder, tmp_path / "s.jsonl", ChatFilter(solved=True))
    assert 0 < solved.written < everything.written == 40
    assert {row["hard"] for row in rows(solved.path)} == {1}


def test_reference_policies_are_left_out_unless_they_are_named(tmp_path: Path) -> None:
    _, folder = evaluated(tmp_path, n=5)
    done = export_chat(folder)
    assert {row["purpose"] for row in rows(done.path)} == {"eval"}
    assert "--purpose floor" in str(done)
    floor = export_chat(folder, tmp_path / "f.jsonl", ChatFilter("floor"))
    purposes = {row["purpose"] for row in rows(floor.path)}
    assert {"floor/empty", "floor/echo"} <= purposes
    assert "eval" not in purposes


def test_faults_are_counted_and_skipped(tmp_path: Path) -> None:
    def failing(request: Request) -> str:
        if request.messages[-1].text.split()[2].endswith("7,"):
            raise FaultError(Fault("server_error", "there", "500"))
        return doubled(request)

    _, folder = evaluated(tmp_path, failing, n=50)
    done = export_chat(folder)
    assert done.written + done.faults == 50
    assert done.faults > 0
    assert f"{done.written} conversations written, {done.faults} faults skipped" in str(done)
    elsewhere = export_chat(folder, tmp_path / "t.jsonl", ChatFilter(split="train"))
    assert (elsewhere.written, elsewhere.faults) == (0, 0)


def test_a_training_run_has_the_playbook_of_each_step_in_its_conversations(tmp_path: Path) -> None:
    seen: set[str] = set()

    def target(request: Request) -> str:
        from reflact_world import target as answer

        seen.add(json.dumps([chat_message(message) for message in request.messages]))
        return answer(request)

    folder = trained(tmp_path / "t", target=target).folder
    done = export_chat(folder)
    found = rows(done.path)
    assert {json.dumps(row["messages"][:-1]) for row in found} == seen
    assert len({row["policy"] for row in found}) > 1
    train = export_chat(folder, tmp_path / "train.jsonl", ChatFilter("train"))
    purposes = {row["purpose"] for row in rows(train.path)}
    assert all(purpose.startswith("train/") for purpose in purposes)
    assert len(purposes) > 1
    by_split = export_chat(folder, tmp_path / "test.jsonl", ChatFilter(split="test"))
    assert {row["task"].partition("/")[0] for row in rows(by_split.path)} == {"test"}
    assert train.written + by_split.written < done.written


def test_an_unknown_purpose_or_split_is_refused_with_those_there_are(tmp_path: Path) -> None:
    _, folder = evaluated(tmp_path, n=2)
    with pytest.raises(WhetError, match=r"no purpose 'evil'\. Did you mean 'eval'\? Known: eval, floor/"):
        export_chat(folder, chosen=ChatFilter("evil"))
    with pytest.raises(WhetError, match=r"no split 'eval'.*train, select, test"):
        export_chat(folder, chosen=ChatFilter(split="eval"))
    assert not (folder / "chat.jsonl").exists()


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, folder = evaluated(tmp_path, n=5)
    out = tmp_path / "new" / "c.jsonl"
    export_chat(folder, out)
    before = out.read_bytes()

    def breaking(*_: Any) -> Any:
        yield {"messages": [{"role": "user", "content": "half"}]}
        raise KeyboardInterrupt

    monkeypatch.setattr("whet.run.export.chat_records", breaking)
    with pytest.raises(KeyboardInterrupt):
        export_chat(folder, out)
    assert out.read_bytes() == before
    assert list(out.parent.iterdir()) == [out]


def test_a_place_that_cannot_be_written_to_is_one_line(tmp_path: Path) -> None:
    _, folder = evaluated(tmp_path, n=2)
    with pytest.raises(WhetError, match="cannot be written"):
        export_chat(folder, tmp_path)


def test_a_rollout_in_which_nothing_was_asked_is_skipped(tmp_path: Path) -> None:
    with LedgerWriter.create(tmp_path / "r") as ledger:
        policy = ledger.add_policy(Policy("m"))
        silent = rollout(0, outcome=failed("nothing"))
        ledger.add_rollouts([_with(silent, policy, ()), _with(rollout(1), policy, rollout(1).turns)])
    done = export_chat(tmp_path / "r")
    assert (done.written, done.silent) == (1, 1)
    assert "1 skipped in which nothing was asked" in str(done)


def _with(made: Any, policy: str, turns: tuple[Turn, ...]) -> Any:
    return replace(made, policy=policy, turns=turns)


def test_memory_does_not_grow_with_the_run(tmp_path: Path) -> None:
    def peak(count: int) -> int:
        folder = tmp_path / str(count)
        with LedgerWriter.create(folder) as ledger:
            policy = ledger.add_policy(Policy("m"))
            for index in range(count):
                turn = Turn("target", (user("x" * 20_000),), Reply("y"))
                made = _with(rollout(index), policy, (turn,))
                ledger.add_rollouts([made])
        tracemalloc.start()
        try:
            assert export_chat(folder).written == count
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    small, large = peak(20), peak(400)
    assert large < small + 2_000_000, "400 conversations of 20 kB are 8 MB"


def test_the_command_says_how_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, folder = evaluated(tmp_path / "runs", n=5)
    monkeypatch.chdir(tmp_path)

    def export(*words: str) -> int:
        monkeypatch.setattr(sys, "argv", ["whet", "export", "chat", folder.name, *words])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0)

    assert export("-o", "c.jsonl", "--purpose", "eval", "--solved") == 0
    assert capsys.readouterr().out == "c.jsonl: 5 conversations written, 0 faults skipped\n"
    assert len(rows(tmp_path / "c.jsonl")) == 5
    assert export("--purpose", "x") == 2
    assert "Known: eval, floor/" in capsys.readouterr().err


def test_a_purpose_stands_for_those_below_it_and_for_no_other() -> None:
    chosen = ChatFilter("train/e1")
    assert chosen.purposes(["train/e1/s1", "train/e1/s2", "train/e10/s1", "train/e1"]) == [
        "train/e1/s1",
        "train/e1/s2",
        "train/e1",
    ]
