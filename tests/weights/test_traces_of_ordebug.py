"""Worked attempts of `ordebug` as they are written to a file are what the imitating learner takes."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from small_world import sft_config
from tiny_weights import READING, talking_weights

from whet.apps.ordebug.traces import write_traces
from whet.run.api import train

pytest.importorskip("highspy")


def test_two_steps_of_imitation_on_traces_of_tiny_problems(tmp_path: Path) -> None:
    rung = {"spec": "table", "type": "A"}
    file = tmp_path / "traces.jsonl"
    write_traces(file, n=4, args={"size": "tiny", "subtlety": "near", **rung})
    assert len(file.read_bytes().splitlines()) == 4
    config = sft_config(
        talking_weights(tmp_path / "base", READING),
        env={"name": "ordebug/tiny_near", "args": {"max_steps": 2, **rung}},
        train={"tasks": 4, "select": 4, "test": 4},
        tune={"steps": 2, "segment": 2, "micro": 2},
        sft={"source": "chat", "path": str(file), "batch": 4},
    )
    found = train(config, runs=tmp_path / "runs", name="smoke")
    log = [orjson.loads(line) for line in (found.folder / "training_log.jsonl").read_bytes().splitlines()]
    assert [row["step"] for row in log] == [1, 2]
    assert all(row["loss"] > 0 for row in log)
