"""What each version of prime-rl takes, as far as it is known here, and where keys of before went.

Keys are renamed there without an alias. A version is added here as a table of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from whet.errors import WhetError


@dataclass(frozen=True, slots=True)
class VersionTable:
    """`known` are keys that the version takes (`x.*`: anything below x), `moved` what it refuses and what to write."""

    version: str
    known: frozenset[str]
    moved: Mapping[str, str]
    gpus: int
    """The fewest that its launcher `rl` runs on."""
    resume: str
    python: str


_V080 = VersionTable(
    version="0.8.0",
    known=frozenset(
        (
            *("max_steps", "seq_len", "output_dir", "model.name"),
            *("deployment.type", "deployment.gpus_per_node", "deployment.num_infer_gpus", "deployment.num_train_gpus"),
            *("monitors.wandb.project", "monitors.wandb.name"),
            *("ckpt.interval", "ckpt.keep_last", "ckpt.keep_interval"),
            *("trainer.optim.lr", "trainer.optim.weight_decay", "trainer.model.seq_len", "trainer.model.ac.freq"),
            *("trainer.model.lora.rank", "trainer.model.lora.alpha", "trainer.model.lora.dropout"),
            *("trainer.model.lora.target_modules", "trainer.model.fsdp_cpu_offload"),
            *("orchestrator.batch_size", "orchestrator.group_size", "orchestrator.seq_len"),
            *("orchestrator.max_off_policy_steps", "orchestrator.filter_zero_advantages", "orchestrator.concurrency.*"),
            *("orchestrator.algo.*", "orchestrator.model.lora.name", "orchestrator.train.source.*"),
            *("orchestrator.train.sampling.max_completion_tokens", "orchestrator.train.sampling.temperature"),
            *("inference.vllm.*",),
        )
    ),
    moved={
        "inference_gpu_ids": "[deployment] num_infer_gpus = how many; GPUs are given out in order and not shared",
        "trainer_gpu_ids": "[deployment] num_train_gpus = how many; GPUs are given out in order and not shared",
        "wandb": "[monitors.wandb]",
        "config": "no key of prime-rl: keep notes on a config in comments",
        "orchestrator.rollouts_per_example": "orchestrator.group_size",
        "orchestrator.oversampling_factor": "gone; concurrency adapts by itself, see [orchestrator.concurrency]",
        "orchestrator.lora_name": "gone; the adapter is named r{rank}-a{alpha}, or [orchestrator.model.lora] name",
        "orchestrator.sampling": "[orchestrator.train.sampling], where max_tokens is max_completion_tokens",
        "orchestrator.train.sampling.max_tokens": "orchestrator.train.sampling.max_completion_tokens",
        "orchestrator.train.sampling.top_p": "gone; it is 1.0, as training on what was sampled needs",
        "orchestrator.buffer": "gone; orchestrator.filter_zero_advantages = true, and curriculum under a source",
        "orchestrator.env": "[[orchestrator.train.source]] with env.taskset.id, env.agent.harness.id, "
        "env.agent.runtime.type; arguments go beside env.taskset.id",
        "orchestrator.train.env": "[[orchestrator.train.source]] with env.taskset.id, env.agent.harness.id, "
        "env.agent.runtime.type",
        "orchestrator.mask_truncated_completions": "gone",
        "orchestrator.zero_truncated_completions": "gone",
        "trainer.model.experimental.lora": "[trainer.model.lora]",
        "trainer.model.experimental": "gone; LoRA is [trainer.model.lora]",
        "model.lora": "[trainer.model.lora]",
        "inference.model": "[inference.vllm], the name apart, which is [model] name",
        "ckpt.resume_step": "the command line: --resume, or --resume.step N",
    },
    gpus=2,
    resume="--resume",
    python="3.12",
)

TABLES: Mapping[str, VersionTable] = {table.version: table for table in (_V080,)}
NEWEST = "0.8.0"


def table_of(version: str) -> VersionTable:
    if version not in TABLES:
        raise WhetError(f"there is no table of prime-rl {version!r} here; known: {', '.join(TABLES)}")
    return TABLES[version]
