"""`whet export prime-rl CONFIG -o DIR`: a config of ours as one of prime-rl, with what it takes to run it.

The folder holds `rl.toml`, the environment as a package, `setup.sh` and `RUNBOOK.md`. Written whole or not at all.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.apps.interop.package import export_verifiers
from whet.apps.interop.prime_rl.check import check_prime_rl
from whet.apps.interop.prime_rl.tables import NEWEST, VersionTable, table_of
from whet.errors import WhetError, nearest
from whet.files import write_atomically
from whet.run.kinds import load_any_config


@dataclass(frozen=True, slots=True)
class Profile:
    """How a training is laid out; what the config of ours says goes before it."""

    batch_size: int
    group_size: int
    completion: int
    gpus: int = 2


PROFILES = {
    "baseline": Profile(128, 8, 4096),
    "fast": Profile(128, 4, 2048),
    "single-gpu": Profile(64, 8, 2000, gpus=1),
}


def export_prime_rl(config: Path, out: Path, profile: str = "baseline", version: str = NEWEST) -> Path:
    table = table_of(version)
    if profile not in PROFILES:
        raise WhetError(f"there is no profile {profile!r}.{nearest(profile, PROFILES)} Known: {', '.join(PROFILES)}")
    chosen = PROFILES[profile]
    if chosen.gpus < table.gpus:
        raise WhetError(
            f"prime-rl {version} needs {table.gpus} GPUs, one to sample and one to train: the profile {profile} "
            'is for versions that share one; on one GPU use learner = "grpo" of Whet'
        )
    if out.exists():
        raise WhetError(f"{out} is there already: name a new folder")
    ours = load_any_config(config)
    model = str(ours.target.model)
    base = model.removeprefix("hf:").partition("+")[0]
    if not model.startswith("hf:") or "/" not in base:
        raise WhetError(
            f"target.model = {model!r}: prime-rl trains a model of the hub, as in hf:Qwen/Qwen3-4B-Instruct-2507"
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=".whet-", dir=out.parent))
    try:
        package = export_verifiers(ours.env.name, made / "environment", dict(ours.env.args))
        if "0.4" not in package.lines:
            raise WhetError(
                f"{ours.env.name} offers tools or asks more than once, and prime-rl takes tasksets of verifiers 0.4"
            )
        write_atomically(made / "rl.toml", _toml(base, package.module, chosen, ours, version, profile).encode())
        write_atomically(made / "setup.sh", _setup(table, package.module).encode())
        write_atomically(made / "RUNBOOK.md", _runbook(table, package.module, base).encode())
        (made / "setup.sh").chmod(0o755)
        wrong = check_prime_rl(made / "rl.toml", version)
        assert not wrong, wrong
        made.replace(out)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return out


def _toml(model: str, module: str, profile: Profile, ours: Any, version: str, name: str) -> str:
    tune, grpo = _section(ours, "tune"), _section(ours, "grpo")
    # Many learners count a step in groups of attempts; here a batch is counted in attempts.
    group = int(grpo.get("generations") or profile.group_size)
    batch = int(grpo.get("groups", 0)) * group or profile.batch_size
    completion = int(ours.target.sampling.max_tokens or profile.completion)
    rank, alpha = int(tune.get("rank") or 16), int(tune.get("alpha") or 32)
    return f"""# For prime-rl {version}, profile {name}. Check it with: whet doctor prime-rl rl.toml
max_steps = {int(tune.get("steps") or 200)}
seq_len = {2 * completion + 2048}

[deployment]
num_infer_gpus = 1
num_train_gpus = {profile.gpus - 1}

[model]
name = "{model}"

[monitors.wandb]
project = "{module}"

[ckpt]
interval = 5
keep_last = 3

[trainer.optim]
lr = {float(tune.get("lr") or 1e-5)!r}
weight_decay = 0.0

[trainer.model.lora]
rank = {rank}
alpha = {alpha}

[orchestrator]
batch_size = {batch}
group_size = {group}
filter_zero_advantages = true

[orchestrator.train.sampling]
max_completion_tokens = {completion}

[[orchestrator.train.source]]
env.taskset.id = "{module}"
env.taskset.split = "train"
env.agent.harness.id = "null"
env.agent.runtime.type = "subprocess"
"""


def _section(config: Any, name: str) -> Mapping[str, Any]:
    found = getattr(config, name, None)
    return found.model_dump() if found is not None else {}


def _setup(table: VersionTable, module: str) -> str:
    return f"""#!/bin/sh
# Run once on a machine with {table.gpus} NVIDIA GPUs or more, in this folder. Needs git and uv.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
export VLLM_WORKER_MULTIPROC_METHOD=spawn
test -d prime-rl || git clone --branch v{table.version} --depth 1 https://github.com/PrimeIntellect-ai/prime-rl.git
cd prime-rl
uv sync --all-extras
uv pip install "$here/environment"
uv run python -c "import {module}; {module}.WhetTaskset; print('{module} loads')"
uv run rl @ "$here/rl.toml" --dry-run
"""


def _runbook(table: VersionTable, module: str, model: str) -> str:
    return f"""# Training {module} with prime-rl {table.version}

Needs Python {table.python}, NVIDIA GPUs ({table.gpus} or more) and the weights of {model}.

## Variables

| variable | for |
|---|---|
| `WANDB_API_KEY` | the figures; without it remove `[monitors.wandb]` from `rl.toml` |
| `HF_TOKEN` | weights that ask for one |
| `VLLM_WORKER_MULTIPROC_METHOD=spawn` | vLLM beside a trainer |

## Install

    ./setup.sh

It clones prime-rl, installs the environment from `environment/` (any package that Python can import will do, no hub is
needed), loads it, and has prime-rl resolve the config.

## Launch, with checkpoints

    cd prime-rl && tmux new -s training
    uv run rl @ ../rl.toml 2>&1 | tee ../training.log

Mind the space after `@`. Checkpoints are off unless `[ckpt]` is there; here one is written every 5 steps, 3 are kept.

## Resume

    uv run rl @ ../rl.toml {table.resume}

`{table.resume}.step N` goes back to a step.

## Look at it

    tail -f ../training.log
    tail -f outputs/logs/orchestrator.log

Look at the mean reward, at the share of replies that were cut off, and at the share of groups with equal rewards. When
replies are cut off, raise `max_completion_tokens` and `seq_len` together.

## Before you change `rl.toml`

    whet doctor prime-rl rl.toml
"""
