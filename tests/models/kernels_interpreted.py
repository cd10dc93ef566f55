"""Run with TRITON_INTERPRET=1: the kernels on a processor, beside the plain forms. Prints the largest difference."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import torch

from whet.models.hf import kernels
from whet.models.hf.noise import gumbel
from whet.models.hf.paged import LayerShape, PackedStep, PagePool
from whet.models.hf.pages import PAGE


def step_of(counts: list[tuple[int, int]], heads: int, held: int, size: int, *, narrow: bool) -> PackedStep:
    """Sequences with so many new tokens of so many in all, their pages in no order."""
    shape = LayerShape(held, size, size)
    pages = [-(-length // PAGE) for _, length in counts]
    pool = PagePool([shape], sum(pages) + 1, torch.float32, torch.device("cpu"))
    pool.keys[0].normal_()
    pool.values[0].normal_()
    shuffled = iter((torch.randperm(sum(pages)) + 1).tolist())
    table = torch.zeros(len(counts), max(pages), dtype=torch.int32)
    for row, count in enumerate(pages):
        table[row, :count] = torch.tensor([next(shuffled) for _ in range(count)])
    new = [new for new, _ in counts]
    starts = torch.tensor([0, *np.cumsum(new)], dtype=torch.int32)
    lengths = torch.tensor([length for _, length in counts], dtype=torch.int32)
    taken = kernels.tile(heads, held, narrow=narrow)
    blocks = [(row, first) for row, count in enumerate(new) for first in range(0, count, taken)]
    blocks.append((-1, 0))  # one that has nothing to do
    none = torch.empty(0)
    packed = torch.tensor(blocks, dtype=torch.int32).T.contiguous()
    return PackedStep(pool, none, none, none, starts, lengths, table, packed, narrow, counts)


def attention_apart(counts: list[tuple[int, int]], heads: int, held: int, size: int, *, narrow: bool) -> float:
    step = step_of(counts, heads, held, size, narrow=narrow)
    query = torch.randn(1, heads, sum(new for new, _ in counts), size)
    found = step.attend(0, query, size**-0.5)
    step.blocks = None
    return float((found - step.attend(0, query, size**-0.5)).abs().max())


def draws_agree() -> bool:
    logits = torch.randn(4, 4100) * 3
    seeds, steps = [5, 2**40 + 7, 123456789012, 9], [0, 3, 17, 1]
    words = [[seed & 0xFFFFFFFF, seed >> 32] for seed in seeds]
    sharpness = torch.tensor([1.0, 0.0, 2.0, 0.5])
    halves = torch.tensor(words, dtype=torch.int64).to(torch.int32).flatten()
    tokens, logprobs = kernels.draw(logits, sharpness, halves, torch.tensor(steps, dtype=torch.int32))
    noise = gumbel(list(zip(seeds, steps, strict=True)), logits.shape[1], torch.device("cpu"))
    drawn = torch.where(sharpness[:, None] > 0, logits * sharpness[:, None] + noise, logits).argmax(-1)
    expected = torch.log_softmax(logits, -1).gather(1, drawn[:, None])[:, 0]
    return bool((tokens == drawn).all() and torch.allclose(logprobs, expected, atol=1e-5))


def main() -> None:
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    apart = {
        "one token each, parts joined": attention_apart([(1, 150), (1, 1), (1, 40)], 6, 2, 24, narrow=True),
        "prompts and tokens": attention_apart([(70, 90), (1, 33), (5, 5)], 6, 2, 32, narrow=False),
        "a head of keys each": attention_apart([(3, 20), (20, 20)], 2, 2, 16, narrow=False),
    }
    sys.stdout.write("".join(f"{name}: {value:.2e}\n" for name, value in apart.items()))
    sys.stdout.write(f"draws: {draws_agree()}\n")
    sys.exit(int(max(apart.values()) > 1e-5 or not draws_agree()))


if __name__ == "__main__":
    main()
