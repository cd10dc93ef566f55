"""What a run of a weight learner made, found by its name: the address of its best weights, and its tasks as rows."""

from __future__ import annotations

from pathlib import Path

import orjson

from whet.config.playbooks import read_playbook
from whet.errors import WhetError, nearest
from whet.run.train import load_train_config, plan_training
from whet.run.workspace import RUNS, find_run

FILE = "weights.json"
"""Where a run of a weight learner says what its weights are called."""


def best_address(named: str, runs: Path = RUNS) -> str:
    """The address of weights: as given (`hf:...`), or the best ones of a run."""
    if named.startswith("hf:"):
        return named
    folder = find_run(named, runs)
    file = folder / FILE
    if not file.is_file():
        raise WhetError(f"{folder} has trained no weights (there is no {FILE}); name a run of sft or grpo, or hf:...")
    return str(orjson.loads(file.read_bytes())["best"])


def export_gguf(named: str, out: Path | None, kind: str, runs: Path = RUNS) -> Path:
    """The best weights of a run, a model folder or an address as a GGUF file; beside the run or in the folder."""
    from whet.learn.weights.gguf_export import NUMBER_TYPES, write_gguf

    number_type = next((known for known in NUMBER_TYPES if known == kind), None)
    if number_type is None:
        raise WhetError(f"no number type {kind!r}.{nearest(kind, NUMBER_TYPES)} Known: {', '.join(NUMBER_TYPES)}.")
    is_folder = (Path(named).expanduser() / "config.json").is_file()
    if out is None and named.startswith("hf:"):
        raise WhetError(f"{named} is no run: say which file to write with --out")
    place = out or (Path(named).expanduser() if is_folder else find_run(named, runs)) / "model.gguf"
    address = f"hf:{named}" if is_folder else best_address(named, runs)
    return write_gguf(address, place, number_type)


def export_dataset(config: Path, out: Path, overrides: tuple[str, ...] = ()) -> int:
    """The train tasks that a config names, as rows for another trainer."""
    from whet.learn.weights.export import write_dataset

    plan = plan_training(load_train_config(config, None, overrides))
    return write_dataset(plan.env, plan.tasks, read_playbook(plan.config.train.playbook), out)
