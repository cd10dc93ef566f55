"""Gradients that are no numbers: kept from the weights, and one known source of them shut.

A single step with a NaN makes every weight a NaN, and from then on a training runs to its end drawing nonsense. Such a
step is left out. A few in a row mean that the weights or the settings are broken, and the training ends there; its last
checkpoint is sound.

cuDNN's backward pass of attention gives NaN for some lengths when a mask is passed (pytorch/pytorch#196678). Rows of a
batch have padding, so a mask is always passed; training does without that kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from whet.errors import WhetError

PATIENCE = 3
"""Steps in a row that may be left out."""


class FiniteGuard:
    """Looks at the gradient before each step of the optimizer."""

    def __init__(self) -> None:
        self.left_out: list[int] = []
        self._row = 0

    def look(self, module: Any, step: int) -> None:
        """Take the gradient away where it is not finite: an optimizer passes over a parameter that has none."""
        if finite(parameter.grad for parameter in module.parameters()):
            self._row = 0
            return
        module.zero_grad(set_to_none=True)
        self.left_out.append(step)
        self._row += 1
        if self._row >= PATIENCE:
            raise WhetError(
                f"the gradient was not finite in {PATIENCE} steps in a row, up to step {step}: lower tune.lr, or look "
                "at the rewards and at the weights that the training began with"
            )

    def told(self) -> tuple[str, ...]:
        return tuple(f"step {step}: the gradient was not finite, so the step was left out" for step in self.left_out)


def finite(gradients: Iterable[torch.Tensor | None]) -> bool:
    """Whether all of them are numbers, asked of the device once."""
    known = [gradient for gradient in gradients if gradient is not None]
    if not known:
        return True
    return bool(torch.stack([norm.isfinite() for norm in torch._foreach_norm(known)]).all())


@contextmanager
def steady_attention() -> Iterator[None]:
    """Attention without cuDNN, whose backward pass is the one that fails."""
    before = torch.backends.cuda.cudnn_sdp_enabled()
    torch.backends.cuda.enable_cudnn_sdp(False)
    try:
        yield
    finally:
        torch.backends.cuda.enable_cudnn_sdp(before)
