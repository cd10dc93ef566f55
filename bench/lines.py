"""Attempts in a line behind their prompt against the same as rows, on a GPU: scores, gradients, seconds and memory.

python bench/lines.py [--model hf:DIR] [--groups 8] [--quick] [--json FILE]

Groups of eight attempts of 200 tokens behind prompts of 900, through SmolLM2-135M with an adapter of rank 16 in all
layers, in bfloat16 as in training. The reference is the same model in float32, row by row, without anything of ours:
what rows and lines differ from it by is rounding, or it is wrong. Tests hold the same on a processor, where other
kernels do the work.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from rows import Row, report
from trl.trainer.utils import add_fused_lm_head

from whet.learn.weights.base import open_base
from whet.learn.weights.config import TuneSection
from whet.learn.weights.flush import read_causally
from whet.learn.weights.light import lighten
from whet.learn.weights.shared import _scored, reads_lines, scored_in_line
from whet.learn.weights.trainable import set_trainable
from whet.models.hf.address import read_address

DRAWS, PROMPT, SAID = 8, 900, 200
APART, ALONG = 0.05, 0.99
"""How far scores may be from the reference, on the mean, and how alike gradients must be: rounding in bfloat16."""

Scores = Callable[[Any], Iterator[torch.Tensor]]
"""Of all attempts, some at a time: what one part holds for its gradient is let go of before the next is read."""


def module_of(address: str, kind: torch.dtype, device: str) -> Any:
    base = open_base(read_address(address.removeprefix("hf:")), device)
    module, _ = set_trainable(base.module.to(device, kind), TuneSection(blocks="all", rank=16, alpha=32))
    chance = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, weight in module.named_parameters():
            if "lora_" in name:
                weight.copy_(torch.randn(weight.shape, generator=chance) * (0.02 if "lora_B" in name else 0.05))
    read_causally(module)
    add_fused_lm_head(module.get_base_model(), outputs=("log_probs", "entropy"), temperature=1.0)
    return module


def rows_of(groups: int, size: int, device: str) -> torch.Tensor:
    chance = torch.Generator().manual_seed(0)
    prompts = torch.randint(100, size, (groups, PROMPT), generator=chance).repeat_interleave(DRAWS, 0)
    return torch.cat([prompts, torch.randint(100, size, (groups * DRAWS, SAID), generator=chance)], 1).to(device)


def gradient(module: Any, scores: Scores, weights: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, float]:
    """Scores, the gradient of their weighed sum, and the seconds that both took."""
    module.zero_grad(set_to_none=True)
    began = _clock()
    found: list[torch.Tensor] = []
    for part in scores(module):
        start = sum(map(len, found))
        (part.float() * weights[start : start + len(part)]).sum().backward()
        found.append(part.detach().float())
    took = _clock() - began
    told = torch.cat([p.grad.flatten().float() for p in module.parameters() if p.grad is not None])
    return torch.cat(found), told, took


def _clock() -> float:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


def measured(address: str, groups: int) -> Iterator[Row]:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    exact = module_of(address, torch.float32, device)
    ids = rows_of(groups, exact.get_input_embeddings().weight.shape[0], device)
    weights = torch.randn(ids.shape[0], SAID, generator=torch.Generator().manual_seed(2)).to(device)
    mask = torch.ones_like(ids)

    def by_rows(module: Any) -> Iterator[torch.Tensor]:
        for at in range(0, len(ids), DRAWS):
            yield _scored(module, ids[at : at + DRAWS], SAID)

    def in_lines(module: Any) -> Iterator[torch.Tensor]:
        told = scored_in_line(module, ids, mask, SAID, entropy=False)
        assert told is not None
        yield told[0]

    truth, slope, _ = gradient(exact, by_rows, weights)
    del exact
    kind = torch.bfloat16 if device == "cuda" else torch.float32
    module = module_of(address, kind, device)
    taken: dict[str, float] = {}
    for name, way, light in (("rows", by_rows, False), ("light_rows", by_rows, True), ("lines", in_lines, True)):
        if light:
            lighten(module)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            if way is in_lines:
                able = reads_lines(module)
                yield Row("a_model_reads_lines", float(able), "", 1.0, able)
            gradient(module, way, weights)
            if device == "cuda":
                torch.cuda.reset_peak_memory_stats()
            runs = [gradient(module, way, weights) for _ in range(3)]
        found, own, _ = runs[0]
        taken[name] = min(seconds for *_, seconds in runs)
        apart = float((found - truth).abs().mean())
        alike = float(torch.nn.functional.cosine_similarity(own, slope, dim=0))
        told = f"{len(ids)} attempts"
        if device == "cuda":
            told += f", {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB"
        yield Row(f"{name}_scores_apart", apart, "nats", APART, apart <= APART, condition=told)
        yield Row(f"{name}_gradient_alike", alike, "cosine", ALONG, alike >= ALONG, condition=told)
        first = None if name == "rows" else "rows"
        before = None if first is None else taken["rows"]
        ratio = None if before is None else before / taken[name]
        yield Row(f"{name}_seconds", taken[name], "s", peer=first, peer_value=before, ratio=ratio, condition=told)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="hf:smollm2")
    parser.add_argument("--groups", type=int, default=8)
    parser.add_argument("--quick", action="store_true", help="one group")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    report(measured(given.model, 1 if given.quick else given.groups), given.json)


if __name__ == "__main__":
    main()
