"""Gumbel noise that is a function of a seed, a step and a token: no state, so a draw knows no company and no device.

Integers are mixed in 32 bits that wrap around, which is the same everywhere; `kernels.py` does the same on a GPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import torch

WORD = 0xFFFFFFFF
GOLDEN, LOW, HIGH, STEP, OTHER = 0x9E3779B9, 0x7FEB352D, 0x846CA68B, 0x85EBCA6B, 0xC2B2AE35
LAST = 0x2C1B3C6D


def gumbel(draws: Sequence[tuple[int, int]], width: int, device: torch.device) -> torch.Tensor:
    """A row of noise for `width` tokens for each seed and step. Added to log-probabilities, the largest is a draw."""
    keys = [[_signed(key) for key in _keys(seed, step)] for seed, step in draws]
    first, second = torch.tensor(keys, dtype=torch.int32, device=device).T[..., None]
    bits = _mixed(_spread(width, device) ^ first)
    bits.add_(second).mul_(_signed(LAST))
    bits ^= (bits >> 16) & 0xFFFF
    share = ((bits >> 1) & 0x7FFFFFFF).float().add_(0.5).mul_(2.0**-31)
    return share.neg_().log1p_().neg_().log_().neg_()


def _keys(seed: int, step: int) -> tuple[int, int]:
    low, high = seed & WORD, (seed >> 32) & WORD
    base = _mix(low ^ _mix(high ^ GOLDEN))
    first = _mix((base + step * STEP) & WORD)
    return first, _mix(((low + STEP) & WORD) ^ _mix((high + step * OTHER) & WORD))


def _mix(x: int) -> int:
    x ^= x >> 16
    x = (x * LOW) & WORD
    x ^= x >> 15
    x = (x * HIGH) & WORD
    return x ^ (x >> 16)


def _mixed(x: torch.Tensor) -> torch.Tensor:
    """The same for a tensor, in place. A shift of a signed number keeps its sign, so what comes in is masked."""
    x ^= (x >> 16) & 0xFFFF
    x *= _signed(LOW)
    x ^= (x >> 15) & 0x1FFFF
    x *= _signed(HIGH)
    x ^= (x >> 16) & 0xFFFF
    return x


@lru_cache(maxsize=8)
def _spread(width: int, device: torch.device) -> torch.Tensor:
    return _mixed(torch.arange(width, dtype=torch.int32, device=device))


def _signed(word: int) -> int:
    return word - (1 << 32) if word >> 31 else word
