"""What a step of imitation costs on a processor with scores where something is learnt, and with TRL's everywhere.

python bench/labelled.py [--steps 3] [--micro 2]

SmolLM2-135M with LoRA on tickets of `groupqc`: prompts of 550 tokens, and a verdict of 30 to learn. The sides take
turns on the same batches, in one process; what is told is processor time, which a busy machine changes little.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from typing import Any

import torch

from whet.envs.registry import load_environment
from whet.learn.weights import segment
from whet.learn.weights.base import open_base
from whet.learn.weights.checkpoint import Shelf
from whet.learn.weights.labelled import labels_alone
from whet.learn.weights.segment import SegmentClock, SegmentOrder, SegmentParts, quiet
from whet.learn.weights.sft import rows_of, trainer_of
from whet.learn.weights.traces import TokenScribe, gather_traces
from whet.learn.weights.trainable import set_trainable
from whet.models.hf.address import read_address
from whet.models.hf.chat_form import ChatForm
from whet.rollout.session import works_of
from whet.run.train import load_train_config
from whet.types import Playbook

CONFIG = Path(__file__).parents[1] / "examples" / "rl" / "groupqc_sft.toml"
SIDES = {"learnt alone": labels_alone, "everywhere": nullcontext}


def spent(trainer: Any, inputs: Any) -> float:
    began = time.process_time()
    trainer.training_step(trainer.model, dict(inputs), num_items_in_batch=torch.tensor(100))
    trainer.model.zero_grad()
    return time.process_time() - began


def measure(steps: int, micro: int, work: Path) -> tuple[dict[str, list[float]], Sequence[dict[str, list[int]]]]:
    config: Any = load_train_config(CONFIG, None, [f"tune.micro={micro}", f"sft.batch={micro}"])
    folder = read_address("smollm2")
    base = open_base(folder, "cpu")
    scribe = TokenScribe(base, ChatForm("smollm2", folder.digest[:12]))
    env = load_environment("groupqc", config.env.args)
    told = gather_traces(config.sft, env, range(steps * micro), scribe, Playbook(), folder.context, works_of(config))
    rows = rows_of(told.traces)
    module, _ = set_trainable(base.module, config.tune)
    order = SegmentOrder(1, steps, None, Shelf(work), config.tune, 0)
    clock = SegmentClock(order, SegmentParts(lambda *_: None), {}, order.snapshots)
    with quiet():
        trainer = trainer_of(order, base, module, rows, micro, work, clock)
    trainer.current_gradient_accumulation_steps = 1
    taken: dict[str, list[float]] = {name: [] for name in SIDES}
    for at in range(steps):
        batch = trainer.data_collator(rows[at * micro : (at + 1) * micro])
        for name, side in SIDES.items():
            segment.labels_alone = side  # type: ignore[assignment]
            taken[name].append(spent(trainer, batch))
    return taken, rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--micro", type=int, default=2)
    given = parser.parse_args()
    if given.steps < 1 or given.micro < 1:
        parser.error("--steps and --micro: at least 1")
    with tempfile.TemporaryDirectory() as work:
        taken, rows = measure(given.steps + 1, given.micro, Path(work))
    read = sum(len(row["labels"]) for row in rows)
    learnt = sum(label >= 0 for row in rows for label in row["labels"])
    seconds = {name: median(found[1:]) for name, found in taken.items()}  # the first step allocates
    for name, found in seconds.items():
        print(f"{name}: {found:.1f} s of processor time a step")
    few, every = seconds.values()
    print(f"{every / few:.2f} x, where {learnt / read:.1%} of {read} tokens are learnt")


if __name__ == "__main__":
    main()
