"""Adapters in training, folded into weights of their own for as long as replies are drawn.

An adapter beside a layer is two more products, casts and a sum: on a GPU, where a small model's token is a row of
kernels that each take longer to start than to run, that is several times the model's own. So each layer's weights and
its adapters are summed once after every update, and drawing runs on the sum. The weights that train are not touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn import functional


class FoldedAdapters:
    """The adapters of a model's dense layers. What it cannot fold (other layers, other kinds of adapter) it leaves."""

    def __init__(self, model: nn.Module) -> None:
        self._layers: list[Any] = [layer for layer in model.modules() if _dense(layer)]
        self._sums: list[torch.Tensor] = []
        self._forwards: list[Callable[..., torch.Tensor]] = []

    def __len__(self) -> int:
        return len(self._layers)

    @property
    def state(self) -> tuple[object, ...]:
        """Which adapters speak: with others, the sums are others."""
        return tuple((layer.disable_adapters, layer.merged, *layer.active_adapters) for layer in self._layers)

    def fold(self) -> None:
        """Sum anew, at the places where the sums lie: a recorded pass reads them there."""
        with torch.no_grad():
            if not self._sums:
                self._sums = [torch.empty_like(layer.base_layer.weight) for layer in self._layers]
                self._forwards = [
                    partial(functional.linear, weight=total, bias=layer.base_layer.bias)
                    for layer, total in zip(self._layers, self._sums, strict=True)
                ]
            for layer, total in zip(self._layers, self._sums, strict=True):
                total.copy_(_sum(layer))

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Within this, the layers compute with the sums."""
        for layer, forward in zip(self._layers, self._forwards, strict=True):
            layer.__dict__["forward"] = forward
        try:
            yield
        finally:
            for layer in self._layers:
                layer.__dict__.pop("forward", None)


def _dense(layer: Any) -> bool:
    """Whether this is a plain linear layer with plain low-rank adapters of peft beside it."""
    base: Any = getattr(layer, "base_layer", None)
    if type(base) is not nn.Linear or not hasattr(layer, "lora_A") or getattr(layer, "fan_in_fan_out", False):
        return False
    strange = getattr(layer, "lora_variant", None) or any((getattr(layer, "lora_bias", None) or {}).values())
    return not strange and bool(base.weight.is_floating_point())


def _sum(layer: Any) -> torch.Tensor:
    total: torch.Tensor = layer.base_layer.weight.float()
    if layer.disable_adapters or layer.merged:
        return total
    for name in layer.active_adapters:
        if name in layer.lora_A:
            low, high = layer.lora_A[name].weight.float(), layer.lora_B[name].weight.float()
            total = torch.addmm(total, high, low, alpha=layer.scaling[name])
    return total
