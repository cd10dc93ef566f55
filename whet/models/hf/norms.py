"""Norms of a model as one kernel each, while it draws.

As transformers writes it, a norm is seven small operations, and a model of thirty layers has sixty-one: a quarter of
the kernels of a token. torch has one for all of it. A norm is taken over only if it says the same on numbers drawn for
it: some models add 1 to its weights, or norm in another way.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn import functional


class FusedNorms:
    """The norms of a model that one kernel can compute."""

    def __init__(self, model: nn.Module) -> None:
        self._norms: list[Any] = [norm for norm in model.modules() if is_plain(norm)]

    def __len__(self) -> int:
        return len(self._norms)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Within this, the norms are computed by one kernel each."""
        for norm in self._norms:
            norm.__dict__["forward"] = partial(_normed, norm)
        try:
            yield
        finally:
            for norm in self._norms:
                norm.__dict__.pop("forward", None)


def _normed(norm: Any, x: torch.Tensor) -> torch.Tensor:
    return functional.rms_norm(x, (x.shape[-1],), norm.weight, norm.variance_epsilon)


def is_plain(norm: Any) -> bool:
    weight, known = getattr(norm, "weight", None), isinstance(getattr(norm, "variance_epsilon", None), float)
    if not known or not isinstance(weight, torch.Tensor) or weight.dim() != 1 or "forward" in norm.__dict__:
        return False
    chance = torch.Generator().manual_seed(0)
    x = torch.randn(4, len(weight), generator=chance).to(weight.device, weight.dtype) * 3
    with torch.no_grad():
        said, fused = norm(x), _normed(norm, x)
    if said.shape != fused.shape or said.dtype != fused.dtype:
        return False
    step = torch.finfo(weight.dtype).eps  # one rounding more or less
    return bool(torch.allclose(said.float(), fused.float(), rtol=4 * step, atol=4 * step))
