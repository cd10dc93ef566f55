"""A step of GRPO by SmolLM2-135M on a GPU: Whet beside plain TRL, the same model, batch, lengths and settings.

python bench/rl_throughput.py [--out results/throughput.json] [--toy] [--patience SECONDS]

Two batches: plays of one turn (a prompt of 600 tokens, 256 new ones) and plays of six turns (prompts of 900 tokens, 96
new ones a turn, an instant tool in between), 64 plays each, LoRA of rank 8 over all blocks in bfloat16, 32 rows through
the model at once. Nobody can draw the end of a turn, so both sides draw the same number of tokens. TRL plays by its own
tool loop with plain `generate`, as it does where vLLM is not installed. Seconds are of a clock, the median of the steps
after the first; memory is the peak that torch has allocated, the pages of Whet's decoder among it. `--toy` is the same
with a tiny model on any machine, to see that it works. Last, what a token takes where layers are computed apart or
together, by few rows and by many. What is measured is written down batch by batch.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import grpo
import torch
from grpo import SMALL, Sight, StepScale, run_trl, run_whet, weights
from rl_problems import HERE
from rl_records import machine

from whet.models.hf import folded
from whet.models.hf.address import read_address
from whet.models.hf.decoder import Decoder
from whet.models.hf.limits import DecoderLimits
from whet.models.hf.rows import Defaults
from whet.types import Sampling

WORDS = ("time", "year", "people", "way", "day", "man", "thing", "woman", "life", "child", "world", "school", "state")


@dataclass(frozen=True, slots=True)
class Batch:
    """One kind of step: its plays, and how many turns each has."""

    name: str
    turns: int
    scale: StepScale

    @property
    def drawn(self) -> int:
        """Tokens that are drawn in a step."""
        return self.scale.plays * self.turns * self.scale.new


@dataclass(frozen=True, slots=True)
class SideResult:
    """What a side took for a step."""

    seconds: float
    tokens_a_second: float
    peak_gib: float | None
    steps: int


def batches(toy: bool) -> tuple[Batch, ...]:
    if toy:
        small = replace(SMALL, groups=2, draws=4, new=8, micro=8)
        return Batch("one_turn", 1, small), Batch("six_turns", 2, small)
    gpu = StepScale(8, 8, 256, 600, 32, 2048, "cuda")
    return Batch("one_turn", 1, gpu), Batch("six_turns", 6, replace(gpu, new=96, prompt=900))


def said(scale: StepScale) -> Callable[[int], str]:
    """Prompts of about so many tokens: a common word is one."""

    def words(index: int) -> str:
        return " ".join(WORDS[(index * 7 + at * (1 + index % 5)) % len(WORDS)] for at in range(scale.prompt - 40))

    return words


def clock() -> float:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


def timed(run: Callable[..., tuple[float, Any]], folder: Path, batch: Batch, env: Sight, steps: int) -> SideResult:
    """A few steps of one side, with the memory that they took; what the side before held is given back."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    with tempfile.TemporaryDirectory() as work:
        seconds, _ = run(folder, env, steps, Path(work), scale=batch.scale, now=clock)
    peak = torch.cuda.max_memory_allocated() / 2**30 if torch.cuda.is_available() else None
    return SideResult(seconds, batch.drawn / seconds, peak, steps)


def compare(folder: Path, batch: Batch, letters: bool, steps: int) -> dict[str, Any]:
    """Both sides, one after the other; `letters`: by a model that knows nothing else."""
    says = None if letters else said(batch.scale)
    env = Sight(batch.turns, grpo.LETTERS[:8], says)
    sides = {}
    for name, run in (("whet", run_whet), ("trl", run_trl)):
        try:
            sides[name] = asdict(timed(run, folder, batch, env, steps))
        except torch.OutOfMemoryError as error:
            sides[name] = {"problem": f"out of memory: {str(error)[:200]}"}
        print(f"{batch.name} {name}: {sides[name]}", flush=True)
    whole = all("seconds" in side for side in sides.values())
    return {
        "turns": batch.turns,
        **asdict(batch.scale),
        "drawn": batch.drawn,
        "sides": sides,
        "ratio": sides["trl"]["seconds"] / sides["whet"]["seconds"] if whole else None,
    }


# ---------------------------------------------------------------------------------------------- drawing alone


def drawing(folder: Path, toy: bool) -> dict[str, Any]:
    """Milliseconds of a token, by weights with adapters: layers apart, together, and with norms in one kernel.

    Few rows are what a step ends with: the longest plays, whose tokens come one after the other.
    """
    device, new = ("cpu", 6) if toy else ("cuda", 256)
    config = grpo.config_of(folder, 1, dynamic=False, scale=StepScale(context=2048, device=device))
    module = grpo.opened(folder, config).module
    with torch.no_grad():
        for name, weight in module.named_parameters():
            if "lora_B" in name:
                weight.normal_(std=0.02)
    found: dict[str, Any] = {}
    for name in ("apart", "together", "together, norms in one kernel"):
        decoder = _decoder(module.eval(), name)
        told = {}
        for rows in (4, 128):
            asked = [[5 + at % 12 for at in range(40 if toy else 400)]] * (2 if toy else rows)
            spent = [_drawn(decoder, asked, new, seed) for seed in range(3)]
            told[str(rows)] = 1000 * min(spent[1:]) / new
        decoder.close()
        found[name] = told
        print(
            f"drawing, layers {name}: " + ", ".join(f"{rows} rows {ms:.2f} ms a token" for rows, ms in told.items()),
            flush=True,
        )
    return found


def _decoder(module: Any, name: str) -> Decoder:
    before = folded.joined_layers
    if name == "apart":
        folded.joined_layers = lambda *_: []
    try:
        made = Decoder(module, Defaults(1.0, 1.0, frozenset()), str, DecoderLimits(slots=128, context=2048))
    finally:
        folded.joined_layers = before
    if not name.endswith("kernel"):
        made._norms = None
    return made


def _drawn(decoder: Decoder, asked: list[list[int]], new: int, seed: int) -> float:
    began = clock()
    for at, ids in enumerate(asked):
        decoder.submit(ids, Sampling(1.0, max_tokens=new, seed=1000 * seed + at))
    while decoder.busy:
        decoder.step()
    return clock() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "throughput.json")
    parser.add_argument("--toy", action="store_true", help="a few short plays, on any machine")
    parser.add_argument("--model", default="", help="what hf: takes; default: smollm2, or a tiny one with --toy")
    parser.add_argument("--steps", type=int, default=4, help="of each side; the first is not counted")
    parser.add_argument("--patience", type=float, default=500.0, help="seconds after which the process ends itself")
    given = parser.parse_args()
    grpo.TOOL_SECONDS = 0.0
    watch = threading.Timer(given.patience, lambda: os._exit(3))
    watch.daemon = True
    watch.start()
    found: dict[str, Any] = {"batches": {}}
    with tempfile.TemporaryDirectory() as place:
        letters = given.toy and not given.model
        folder = weights(Path(place) / "base") if letters else read_address(given.model or "smollm2").path

        def keep() -> None:
            told = {"model": given.model or "smollm2", "toy": given.toy, **found, **machine()}
            given.out.parent.mkdir(parents=True, exist_ok=True)
            given.out.write_text(json.dumps(told, indent=1) + "\n")

        for batch in batches(given.toy):
            found["batches"][batch.name] = compare(folder, batch, letters, given.steps)
            keep()
        found["drawing"] = drawing(folder, given.toy)
        keep()
    print(f"{given.out}: " + ", ".join(f"{name} {told['ratio'] or 0:.1f} x" for name, told in found["batches"].items()))


if __name__ == "__main__":
    main()
