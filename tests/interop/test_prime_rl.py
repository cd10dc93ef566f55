"""Configs for prime-rl: what is written passes its own check, and what is old is told where it went."""

from __future__ import annotations

from pathlib import Path

import pytest

from whet.apps.interop.prime_rl.check import check_prime_rl
from whet.apps.interop.prime_rl.export import export_prime_rl
from whet.errors import WhetError

JANUARY = Path(__file__).with_name("january.toml")
"""A config that was recommended for prime-rl in January 2026; the real schema of 0.8.0 refuses ten of its keys."""

ROOT = Path(__file__).parents[2]

OURS = """
learner = "grpo"
[env]
name = "{root}/examples/sums.py:Sums"
[target]
model = "{model}"
[tune]
steps = 12
rank = 8
alpha = 16
[grpo]
groups = 4
generations = 8
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "rl.toml"
    file.write_text(text)
    return file


def test_each_key_that_moved_is_told_with_its_new_place() -> None:
    wrong = {finding.key: finding.told for finding in check_prime_rl(JANUARY) if finding.status == "fail"}
    assert set(wrong) == {
        *("inference_gpu_ids", "trainer_gpu_ids", "wandb", "inference.model"),
        *("orchestrator.rollouts_per_example", "orchestrator.oversampling_factor", "orchestrator.lora_name"),
        *("orchestrator.sampling", "orchestrator.buffer", "orchestrator.env"),
    }
    assert "group_size" in wrong["orchestrator.rollouts_per_example"]
    assert "[monitors.wandb]" in wrong["wandb"]
    assert "[inference.vllm]" in wrong["inference.model"]


def test_what_would_go_wrong_later_is_told_too() -> None:
    told = {finding.key for finding in check_prime_rl(JANUARY) if finding.status == "warn"}
    assert {"ckpt", "orchestrator.sampling.max_tokens"} <= told, "no checkpoints, and replies longer than the sequence"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[ckpt]\n[trainer.model]\nseq_len = 1024\n[orchestrator]\nseq_len = 2048\n", "trainer.model.seq_len"),
        ("[ckpt]\n[trainer.model.experimental.lora]\nrank = 8\n", "trainer.model.experimental"),
        ("[ckpt]\n[model.lora]\nrank = 8\n", "model.lora"),
        ("[ckpt]\n[orchestrator.train.sampling]\ntop_p = 0.9\n", "orchestrator.train.sampling.top_p"),
        ("[ckpt]\n[orchestrator]\nmask_truncated_completions = true\n", "orchestrator.mask_truncated_completions"),
        ("[ckpt]\n[deployment]\nnum_infer_gpus = 1\nnum_train_gpus = 0\n", "deployment"),
        ("orchestrator = 3\n[ckpt]\n", "orchestrator"),
        ("[ckpt]\n[trainer]\nmodel = 'Qwen/Qwen3-8B'\n", "trainer.model"),
        ("[ckpt]\n[trainer.model]\nfsdp_cpu_offload = true\n[trainer.model.lora]\n", "trainer.model.fsdp_cpu_offload"),
    ],
)
def test_a_rule_that_is_broken_is_named(tmp_path: Path, text: str, key: str) -> None:
    assert [finding.key for finding in check_prime_rl(written(tmp_path, text)) if finding.status == "fail"] == [key]


def test_a_key_that_is_not_known_here_is_no_verdict(tmp_path: Path) -> None:
    (finding,) = check_prime_rl(written(tmp_path, "[ckpt]\n[orchestrator]\nbatch_sise = 8\n"))
    assert finding.status == "warn"
    assert "orchestrator.batch_size" in finding.told


def test_a_key_that_stands_twice_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match=r"rl\.toml is not TOML: a key is there twice \(at line 2") as problem:
        check_prime_rl(written(tmp_path, "max_steps = 1\nmax_steps = 2\n"))
    assert "\n" not in str(problem.value)


def test_a_version_without_a_table_is_refused() -> None:
    with pytest.raises(WhetError, match=r"no table of prime-rl '0\.1\.0' here; known: 0\.8\.0"):
        check_prime_rl(JANUARY, "0.1.0")


@pytest.mark.parametrize("profile", ["baseline", "fast"])
def test_what_is_written_passes_the_check(tmp_path: Path, profile: str) -> None:
    config = tmp_path / "train.toml"
    config.write_text(OURS.format(root=ROOT, model="hf:Qwen/Qwen3-0.6B"))
    out = export_prime_rl(config, tmp_path / "out", profile)
    assert check_prime_rl(out / "rl.toml") == []
    text = (out / "rl.toml").read_text()
    for line in ("max_steps = 12", 'name = "Qwen/Qwen3-0.6B"', "group_size = 8", "batch_size = 32", "rank = 8"):
        assert line in text
    assert (out / "environment" / "pyproject.toml").is_file()
    runbook = (out / "RUNBOOK.md").read_text()
    assert all(f"## {part}" in runbook for part in ("Variables", "Install", "Launch", "Resume", "Look at it"))
    assert (out / "setup.sh").stat().st_mode & 0o100


@pytest.mark.parametrize(
    ("model", "profile", "told"),
    [
        ("hf:Qwen/Qwen3-0.6B", "single-gpu", "needs 2 GPUs"),
        ("hf:Qwen/Qwen3-0.6B", "fats", "Did you mean 'fast'"),
        ("openai:gpt", "baseline", "a model of the hub"),
    ],
)
def test_what_cannot_be_written_leaves_nothing(tmp_path: Path, model: str, profile: str, told: str) -> None:
    config = tmp_path / "train.toml"
    config.write_text(OURS.format(root=ROOT, model=model))
    with pytest.raises(WhetError, match=told):
        export_prime_rl(config, tmp_path / "out", profile)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["train.toml"]
