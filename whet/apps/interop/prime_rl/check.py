"""`whet doctor prime-rl FILE`: which keys a version refuses and where they went, and what would go wrong later."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from whet.apps.interop.prime_rl.tables import NEWEST, VersionTable, table_of
from whet.errors import WhetError, nearest

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ConfigFinding:
    """`fail`: the version refuses the config, or the run would break. `warn`: known to go wrong, or not known here."""

    status: Literal["fail", "warn"]
    key: str
    told: str

    def __str__(self) -> str:
        return f"{'FAIL' if self.status == 'fail' else 'warn'}  {self.key}: {self.told}"


def read_prime_toml(file: Path) -> Json:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as problem:
        raise WhetError(f"cannot read {file}: {problem.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        told = " ".join(str(problem).split()).replace("Cannot overwrite a value", "a key is there twice")
        raise WhetError(f"{file} is not TOML: {told}") from None


def check_prime_rl(file: Path, version: str = NEWEST) -> list[ConfigFinding]:
    """Findings of one file, in its order; empty where all is well."""
    table = table_of(version)
    config = read_prime_toml(file)
    return [*_keys(config, table), *_rules(config, table)]


def _keys(config: Json, table: VersionTable, path: str = "") -> Iterator[ConfigFinding]:
    for name, value in config.items():
        key = f"{path}{name}"
        if key in table.moved:
            yield ConfigFinding("fail", key, f"prime-rl {table.version} has no such key -> {table.moved[key]}")
        elif _is_open(key, table):
            continue
        elif isinstance(value, dict):
            yield from _keys(value, table, f"{key}.")
        elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            for item in value:
                yield from _keys(item, table, f"{key}.")
        elif any(known.startswith(f"{key}.") for known in table.known):
            told = f"is a table in prime-rl {table.version}, and here a value"
            yield ConfigFinding("fail", key, told)
        elif key not in table.known:
            hint = nearest(key, table.known)
            yield ConfigFinding("warn", key, f"not among the keys of {table.version} that are known here.{hint}")


def _is_open(key: str, table: VersionTable) -> bool:
    return any(key == known[:-2] or key.startswith(known[:-1]) for known in table.known if known.endswith(".*"))


def _at(config: Json, path: str, default: Any = None) -> Any:
    found: Any = config
    for name in path.split("."):
        if not isinstance(found, dict) or name not in found:
            return default
        found = found[name]
    return found


def _rules(config: Json, table: VersionTable) -> Iterator[ConfigFinding]:
    shared = _at(config, "seq_len", 0)
    trained, asked = _at(config, "trainer.model.seq_len", shared), _at(config, "orchestrator.seq_len", shared)
    if isinstance(trained, int) and isinstance(asked, int) and trained < asked:
        told = f"{trained} is less than orchestrator.seq_len = {asked}: what is sampled would not fit the trainer"
        yield ConfigFinding("fail", "trainer.model.seq_len", f"{told}; set one top-level seq_len")
    for path in ("orchestrator.train.sampling.max_completion_tokens", "orchestrator.sampling.max_tokens"):
        most = _at(config, path)
        if isinstance(most, int) and isinstance(asked, int) and 0 < asked <= most:
            told = f"{most} is not less than the sequence length of {asked}, which holds the prompt too"
            yield ConfigFinding("warn", path, f"{told}: such replies are cut off and trained on as they are")
    gpus = [_at(config, f"deployment.num_{who}_gpus", 1) for who in ("infer", "train")]
    if all(isinstance(count, int) for count in gpus) and (min(gpus) < 1 or sum(gpus) < table.gpus):
        told = f"the launcher needs a GPU for inference and another for training, {table.gpus} in all"
        yield ConfigFinding("fail", "deployment", told)
    if _at(config, "ckpt") is None:
        yield ConfigFinding(
            "warn", "ckpt", "no checkpoints are written: add [ckpt] with interval, or launch with --ckpt"
        )
    if _at(config, "trainer.model.fsdp_cpu_offload") and _at(config, "trainer.model.lora") is not None:
        yield ConfigFinding("fail", "trainer.model.fsdp_cpu_offload", "breaks with LoRA: tensors lie on two devices")
    name = str(_at(config, "model.name", ""))
    if "-vl-" in name.lower() or name.lower().endswith("-vl"):
        yield ConfigFinding("warn", "model.name", f"{name} reads images: weights of such models are not reloaded well")
