"""Triton kernels for a GPU: attention that reads keys and values in their pages, and the draw of the next tokens.

Both do in one pass over memory what torch would do in many; the plain forms are in `paged.py`, `noise.py` and
`rows.py`, and they agree but for the last bits.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# ruff: noqa: N803 - what is fixed when a kernel is compiled is written in capitals

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import triton
import triton.language as tl

from whet.models.hf.noise import GOLDEN, HIGH, LAST, LOW, OTHER, STEP
from whet.models.hf.pages import PAGE

if TYPE_CHECKING:
    from whet.models.hf.paged import PackedStep

NARROW, WIDE = 16, 64
"""Rows of queries that a program holds: where every sequence brings one token, and where some bring many."""


ENOUGH = 4096
"""Programs that keep a large GPU busy: where rows are few, the pages of each are shared out among several."""


def tile(heads: int, held: int, *, narrow: bool) -> int:
    """How many tokens a program takes at once; the heads that share a key are its further rows."""
    return max(1, (NARROW if narrow else WIDE) // (heads // held))


def attend(
    step: PackedStep, query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, scaling: float
) -> torch.Tensor:
    """Attention of all tokens of a step, `[1, tokens, heads, size]`."""
    assert step.blocks is not None
    _, heads, tokens, size = query.shape
    held, width = keys.shape[1], values.shape[2]
    group = heads // held
    taken = tile(heads, held, narrow=step.narrow)
    found = query.new_empty(1, tokens, heads, width)
    programs = step.blocks.shape[1] * held
    parts = max(1, min(8, ENOUGH // programs)) if step.narrow else 1
    sums = found if parts == 1 else query.new_empty(parts, tokens, heads, width, dtype=torch.float32)
    scales = found if parts == 1 else query.new_empty(2, parts, tokens, heads, dtype=torch.float32)
    _attend[(step.blocks.shape[1], held, parts)](
        sums,
        scales,
        query,
        keys,
        values,
        step.table,
        step.starts,
        step.lengths,
        step.blocks,
        step.blocks.shape[1],
        tokens * heads,
        step.table.stride(0),
        query.stride(1),
        query.stride(2),
        scaling * 1.4426950408889634,
        HEADS=heads,
        HELD=held,
        GROUP=group,
        SIZE=size,
        SIZE_UP=triton.next_power_of_2(size),
        WIDTH=width,
        WIDTH_UP=triton.next_power_of_2(width),
        PAGE=PAGE,
        TAKEN=taken,
        ROWS=max(16, triton.next_power_of_2(taken * group)),
        COLUMNS=64,
        EXACT=keys.dtype == torch.float32,
        PARTS=parts,
        num_warps=4,
    )
    if parts > 1:
        _join[(tokens * heads,)](
            found,
            sums,
            scales,
            tokens * heads,
            WIDTH=width,
            WIDTH_UP=triton.next_power_of_2(width),
            PARTS=parts,
            num_warps=1,
        )
    return found


@triton.jit
def _look(
    best, total, sums, asked, keys, values, place, there, column, reach, scale,
    SIZE: tl.constexpr, SIZE_UP: tl.constexpr, WIDTH: tl.constexpr, WIDTH_UP: tl.constexpr, EXACT: tl.constexpr,
):  # fmt: skip
    """A block of columns: what the queries have found so far, with what they find there."""
    size = tl.arange(0, SIZE_UP)
    width = tl.arange(0, WIDTH_UP)
    key = tl.load(
        keys + place[None, :] * SIZE + size[:, None],
        mask=there[None, :] & (size[:, None] < SIZE),
        other=0.0,
    )
    if EXACT:
        scores = tl.dot(asked.to(key.dtype), key, input_precision="ieee") * scale
    else:
        scores = tl.dot(asked.to(key.dtype), key) * scale
    scores = tl.where(column[None, :] <= reach[:, None], scores, -float("inf"))
    higher = tl.maximum(best, tl.max(scores, 1))
    weight = tl.exp2(scores - higher[:, None])
    shrink = tl.exp2(best - higher)
    total = total * shrink + tl.sum(weight, 1)
    value = tl.load(
        values + place[:, None] * WIDTH + width[None, :],
        mask=there[:, None] & (width[None, :] < WIDTH),
        other=0.0,
    )
    if EXACT:
        sums = sums * shrink[:, None] + tl.dot(weight, value, input_precision="ieee")
    else:
        sums = sums * shrink[:, None] + tl.dot(weight.to(value.dtype), value)
    return higher, total, sums


@triton.jit
def _attend(
    found, scales, query, keys, values, table, starts, lengths, blocks, n_blocks, spots,
    table_stride, head_stride, token_stride, scale,
    HEADS: tl.constexpr, HELD: tl.constexpr, GROUP: tl.constexpr, SIZE: tl.constexpr, SIZE_UP: tl.constexpr,
    WIDTH: tl.constexpr, WIDTH_UP: tl.constexpr, PAGE: tl.constexpr, TAKEN: tl.constexpr, ROWS: tl.constexpr,
    COLUMNS: tl.constexpr, EXACT: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    """A block of queries of one sequence that share a head of keys, over all pages that they may see, or a part."""
    block = tl.program_id(0)
    held = tl.program_id(1)
    part = tl.program_id(2)
    sequence = tl.load(blocks + block)
    if sequence >= 0:
        first = tl.load(blocks + n_blocks + block)
        start = tl.load(starts + sequence)
        new = tl.load(starts + sequence + 1) - start
        length = tl.load(lengths + sequence)
        row = tl.arange(0, ROWS)
        token = first + row // GROUP
        head = held * GROUP + row % GROUP
        alive = (token < new) & (row < TAKEN * GROUP)
        reach = length - new + token
        size = tl.arange(0, SIZE_UP)
        width = tl.arange(0, WIDTH_UP)
        at = (start + token).to(tl.int64)
        asked = tl.load(
            query + at[:, None] * token_stride + head[:, None] * head_stride + size[None, :],
            mask=alive[:, None] & (size[None, :] < SIZE),
            other=0.0,
        )
        best = tl.full([ROWS], -float("inf"), tl.float32)
        total = tl.zeros([ROWS], tl.float32)
        sums = tl.zeros([ROWS, WIDTH_UP], tl.float32)
        end = length - new + tl.minimum(first + TAKEN, new)
        share = tl.cdiv(tl.cdiv(end, PARTS), COLUMNS) * COLUMNS
        end = tl.minimum(end, (part + 1) * share)
        for begin in range(part * share, end, COLUMNS):
            column = begin + tl.arange(0, COLUMNS)
            there = column < end
            page = tl.load(table + sequence.to(tl.int64) * table_stride + column // PAGE, mask=there, other=0)
            place = (page.to(tl.int64) * PAGE + column % PAGE) * HELD + held
            best, total, sums = _look(
                best, total, sums, asked, keys, values, place, there, column, reach, scale,
                SIZE, SIZE_UP, WIDTH, WIDTH_UP, EXACT,
            )  # fmt: skip
        spot = at * HEADS + head
        if PARTS == 1:
            sums = sums / total[:, None]
        else:
            spot += part.to(tl.int64) * spots
            tl.store(scales + spot, best, mask=alive)
            tl.store(scales + PARTS * spots + spot, total, mask=alive)
        tl.store(
            found + spot[:, None] * WIDTH + width[None, :],
            sums.to(found.dtype.element_ty),
            mask=alive[:, None] & (width[None, :] < WIDTH),
        )


@triton.jit
def _join(
    found,
    sums,
    scales,
    spots,
    WIDTH: tl.constexpr,
    WIDTH_UP: tl.constexpr,
    PARTS: tl.constexpr,
):
    """What one query found in each part of its pages, put together."""
    spot = tl.program_id(0).to(tl.int64)
    width = tl.arange(0, WIDTH_UP)
    best = tl.full([], -float("inf"), tl.float32)
    for part in tl.static_range(PARTS):
        best = tl.maximum(best, tl.load(scales + part * spots + spot))
    total = tl.full([], 0.0, tl.float32)
    whole = tl.zeros([WIDTH_UP], tl.float32)
    for part in tl.static_range(PARTS):
        at = part * spots + spot
        weight = tl.exp2(tl.load(scales + at) - best)
        total += weight * tl.load(scales + PARTS * spots + at)
        whole += weight * tl.load(sums + at * WIDTH + width, mask=width < WIDTH, other=0.0)
    tl.store(found + spot * WIDTH + width, (whole / total).to(found.dtype.element_ty), mask=width < WIDTH)


def draw(logits: torch.Tensor, sharpness: torch.Tensor, seeds: torch.Tensor, steps: torch.Tensor) -> Any:
    """The token that each row draws, and its log-probability before temperature. `sharpness` 0 takes the largest."""
    rows, width = logits.shape
    tokens = torch.empty(rows, dtype=torch.int32, device=logits.device)
    logprobs = torch.empty(rows, dtype=torch.float32, device=logits.device)
    _draw[(rows,)](
        tokens,
        logprobs,
        logits,
        logits.stride(0),
        sharpness,
        seeds,
        steps,
        width,
        GOLDEN=GOLDEN,
        LOW=LOW,
        HIGH=HIGH,
        STEP=STEP,
        OTHER=OTHER,
        LAST=LAST,
        COLUMNS=2048,
        num_warps=8,
    )
    return tokens, logprobs


@triton.jit
def _mix(x, LOW: tl.constexpr, HIGH: tl.constexpr):
    x = x ^ (x >> 16)
    x = x * tl.full([], LOW, tl.uint32)
    x = x ^ (x >> 15)
    x = x * tl.full([], HIGH, tl.uint32)
    return x ^ (x >> 16)


@triton.jit
def _draw(
    tokens,
    logprobs,
    logits,
    stride,
    sharpness,
    seeds,
    steps,
    width,
    GOLDEN: tl.constexpr,
    LOW: tl.constexpr,
    HIGH: tl.constexpr,
    STEP: tl.constexpr,
    OTHER: tl.constexpr,
    LAST: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """One row: the largest of its scores after noise, and the sum under its softmax, in one pass."""
    row = tl.program_id(0)
    sharp = tl.load(sharpness + row)
    low = tl.load(seeds + 2 * row).to(tl.uint32, bitcast=True)
    high = tl.load(seeds + 2 * row + 1).to(tl.uint32, bitcast=True)
    step = tl.load(steps + row).to(tl.uint32, bitcast=True)
    base = _mix(low ^ _mix(high ^ tl.full([], GOLDEN, tl.uint32), LOW, HIGH), LOW, HIGH)
    first = _mix(base + step * tl.full([], STEP, tl.uint32), LOW, HIGH)
    inner = _mix(high + step * tl.full([], OTHER, tl.uint32), LOW, HIGH)
    second = _mix((low + tl.full([], STEP, tl.uint32)) ^ inner, LOW, HIGH)
    top = tl.full([], -float("inf"), tl.float32)
    token = tl.full([], 0, tl.int32)
    own = tl.full([], 0.0, tl.float32)
    best = tl.full([], -float("inf"), tl.float32)
    total = tl.full([], 0.0, tl.float32)
    for begin in range(0, width, COLUMNS):
        column = begin + tl.arange(0, COLUMNS)
        score = tl.load(logits + row.to(tl.int64) * stride + column, mask=column < width, other=-float("inf"))
        score = score.to(tl.float32)
        higher = tl.maximum(best, tl.max(score, 0))
        total = total * tl.exp(best - higher) + tl.sum(tl.exp(score - higher), 0)
        best = higher
        bits = _mix(_mix(column.to(tl.uint32), LOW, HIGH) ^ first, LOW, HIGH)
        bits = (bits + second) * tl.full([], LAST, tl.uint32)
        bits = bits ^ (bits >> 16)
        share = ((bits >> 1).to(tl.float32) + 0.5) * 4.656612873077393e-10
        # -log(1 - share), where a small share would be lost in 1 - share.
        wait = tl.where(
            share < 0.01, share * (1 + share * (0.5 + share * (0.33333333 + share * 0.25))), -tl.log(1 - share)
        )
        noisy = tl.where(sharp > 0, score * sharp - tl.log(wait), score)
        largest = tl.max(noisy, 0)
        if largest > top:
            at = tl.argmax(noisy, 0)
            top = largest
            token = begin + at
            own = tl.sum(tl.where(tl.arange(0, COLUMNS) == at, score, 0.0), 0)
    tl.store(tokens + row, tl.minimum(token, width - 1))
    tl.store(logprobs + row, own - best - tl.log(total))
