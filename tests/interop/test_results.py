"""Results of verifiers are read and written: what goes out comes back the same, and what was not scored is no 0."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from whet.apps.interop.results import Line, convert_results, read_results, write_results
from whet.errors import WhetError

RECORDS: list[dict[str, Any]] = [
    {
        "messages": [
            {"role": "system", "content": "Count."},
            {"role": "user", "content": "1 + 1?"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "c", "type": "function", "function": {"name": "add", "arguments": "{}"}}],
            },
            {"role": "tool", "content": "2", "tool_call_id": "c"},
            {"role": "assistant", "content": "2"},
        ],
        "task": "train/0",
        "draw": 0,
        "purpose": "eval",
        "hard": 1,
        "reward": 1.0,
        "reason": "correct",
        "policy": "p",
    },
    {
        "messages": [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "5"}],
        "task": "train/1",
        "draw": 0,
        "purpose": "eval",
        "hard": 0,
        "reward": 0.25,
        "reason": "wrong",
        "policy": "p",
    },
]


@pytest.mark.parametrize("line", ["v0", "v1"])
def test_what_is_written_is_read_back(tmp_path: Path, line: Line) -> None:
    assert write_results(RECORDS, tmp_path, line, "run") == 2
    back = list(read_results(tmp_path))
    assert [record["reward"] for record in back] == [1.0, 0.25]
    assert [record["parts"]["hard"] for record in back] == [1.0, 0.0]
    for before, after in zip(RECORDS, back, strict=True):
        assert [(m["role"], m["content"]) for m in after["messages"]] == [
            (m["role"], m["content"]) for m in before["messages"]
        ]


def test_a_row_that_was_not_scored_has_no_reward(tmp_path: Path) -> None:
    error = {"error": "ModelError", "error_chain_repr": "ModelError() -> TimeoutError()"}
    row = {"example_id": 3, "prompt": [], "completion": [], "reward": 0.0, "error": error}
    (tmp_path / "results.jsonl").write_bytes(orjson.dumps(row) + b"\n")
    (record,) = read_results(tmp_path)
    assert record["reward"] is None
    assert "TimeoutError" in record["error"]
    told = convert_results(tmp_path, tmp_path / "chat.jsonl")
    assert "1 rollouts, 1 of them not scored" in told


def test_an_episode_that_failed_has_no_reward(tmp_path: Path) -> None:
    trace = {"nodes": [], "rewards": {"close": None}, "errors": [{"type": "TaskError", "message": "no number"}]}
    row = {"task": {"type": "T", "data": {"idx": 4}}, "ok": False, "traces": [trace]}
    (tmp_path / "traces.jsonl").write_bytes(orjson.dumps(row) + b"\n")
    (record,) = read_results(tmp_path)
    assert (record["reward"], record["task"], record["error"]) == (None, "4", "TaskError: no number")


def test_a_line_that_was_cut_by_a_kill_is_left_out_and_a_broken_one_is_named(tmp_path: Path) -> None:
    write_results(RECORDS, tmp_path, "v1", "run")
    file = tmp_path / "traces.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole + b'{"task": {"ty')
    assert len(list(read_results(tmp_path))) == 2
    file.write_bytes(b"nonsense\n" + whole)
    with pytest.raises(WhetError, match=r"traces\.jsonl, line 1: not JSON"):
        list(read_results(tmp_path))


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match=r"holds neither traces\.jsonl nor results\.jsonl"):
        read_results(tmp_path)
