"""Configs that are shipped can be read by whom they are for; the Chinese one can be rehearsed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tiny_gguf

from whet.run.train import load_train_config, plan_training

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(("name", "processes", "kind"), [("one_gpu", 1, "NO"), ("fsdp", 8, "FSDP")])
def test_accelerate_reads_the_configs(name: str, processes: int, kind: str) -> None:
    from accelerate.commands.config.config_args import load_config_from_file

    config = load_config_from_file(str(EXAMPLES / "accelerate" / f"{name}.yaml"))
    assert (config.num_processes, config.distributed_type.value, config.mixed_precision) == (processes, kind, "bf16")


def test_every_config_for_accelerate_says_whether_it_was_run() -> None:
    said = (EXAMPLES / "accelerate" / "README.md").read_text()
    for file in (EXAMPLES / "accelerate").glob("*.yaml"):
        [line] = [line for line in said.splitlines() if line.startswith(f"| `{file.name}`")]
        assert "run" in line.split("|")[3]


def test_the_chinese_config_is_rehearsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a tiny model of bytes: prompts are Chinese, rewards have their parts, and right beats wrong."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(tiny_gguf, "CONTEXT", 8192)
    tiny_gguf.write_gguf(tmp_path / "tiny.gguf")
    laid: dict[str, Any] = {
        "target": {"model": f"hf:{tmp_path / 'tiny.gguf'}", "sampling": {"max_tokens": 8}},
        "tune": {"blocks": 1},
        "grpo": {"generations": 2},
    }
    config = load_train_config(EXAMPLES / "weights_groupqc_zh.toml", laid)
    told = list(plan_training(config).rehearse(tmp_path / "dry"))
    rows = [json.loads(line) for line in (tmp_path / "dry" / "completions.jsonl").read_text().splitlines()]
    assert len(rows) == 8
    assert all({"label", "format"} <= set(row["parts"]) for row in rows)
    assert all("任务" in row["messages"][-1]["content"] for row in rows)
    correct, wrong = (float(told[0].partition(f"{name} ")[2].partition(",")[0]) for name in ("correct", "wrong"))
    assert correct > wrong
