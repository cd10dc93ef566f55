"""Adapters beside a model's layers, in the form that draws fastest; the weights that train are not touched.

An adapter of peft beside a layer is two products, casts, a scale and a sum. On a GPU, where a small model's token is a
row of kernels that each take longer to start than to run, that is several times the model's own. So after every update
copies are made that drawing runs on. In float32 a layer and its adapters become one sum. In bfloat16 a sum would be
rounded to what the base can say, and changes smaller than half a step of its would be lost: there the adapters stay
beside the layer, all in one, their scale inside and in the layer's own numbers. Layers that read the same input are
computed together (`joined`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from whet.models.hf.joined import Forward, joined_layers


class FoldedAdapters:
    """The adapters of a model's dense layers. What it cannot fold (other layers, other kinds of adapter) it leaves."""

    def __init__(self, model: nn.Module) -> None:
        self._layers: list[Any] = [layer for layer in model.modules() if _dense(layer)]
        self._joined = joined_layers(model, self._layers, _rank)
        self._copies: list[tuple[torch.Tensor, ...]] = []
        self._forwards: list[Forward] = []

    def __len__(self) -> int:
        return len(self._layers)

    @property
    def state(self) -> tuple[object, ...]:
        """Which adapters speak: with others, the copies are others."""
        return tuple((layer.disable_adapters, layer.merged, *layer.active_adapters) for layer in self._layers)

    def fold(self) -> None:
        """Copy anew, to where the copies lie: a recorded pass reads them there."""
        with torch.no_grad():
            if not self._copies:
                self._make_room()
            for joined in self._joined:
                joined.take_weights()
            for layer, copies in zip(self._layers, self._copies, strict=True):
                if len(copies) == 1:
                    copies[0].copy_(_sum(layer))
                else:
                    _place(layer, *copies)

    def _make_room(self) -> None:
        """A place for the copies of each layer, by itself or among those that are computed with it."""
        rooms: dict[int, tuple[torch.Tensor, ...]] = {}
        forwards: dict[int, Forward] = {}
        for joined in self._joined:
            for layer, room, forward in zip(joined.layers, joined.rooms(), joined.forwards(), strict=True):
                rooms[id(layer)], forwards[id(layer)] = room, forward
        self._copies = [rooms.get(id(layer)) or _room(layer) for layer in self._layers]
        self._forwards = [
            forwards.get(id(layer)) or _forward(layer, copies)
            for layer, copies in zip(self._layers, self._copies, strict=True)
        ]

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Within this, the layers compute with the copies."""
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


def _room(layer: Any) -> tuple[torch.Tensor, ...]:
    """Where the copies of a layer go: a sum in float32, else all its adapters side by side."""
    weight = layer.base_layer.weight
    if weight.dtype == torch.float32:
        return (torch.empty_like(weight),)
    rank = _rank(layer)
    return weight.new_zeros(rank, weight.shape[1]), weight.new_zeros(rank, weight.shape[0])


def _rank(layer: Any) -> int:
    return sum(low.weight.shape[0] for low in layer.lora_A.values())


def _forward(layer: Any, copies: tuple[torch.Tensor, ...]) -> Forward:
    base = layer.base_layer
    if len(copies) == 1:
        return partial(functional.linear, weight=copies[0], bias=base.bias)
    return partial(_beside, base, *copies)


def _beside(base: nn.Linear, low: torch.Tensor, high: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """The layer and its adapters: two kernels more than the layer alone."""
    out = functional.linear(x, base.weight, base.bias)
    flat = out.view(-1, out.shape[-1])
    torch.addmm(flat, x.reshape(-1, x.shape[-1]) @ low.T, high, out=flat)
    return out


def _speaking(layer: Any) -> list[str]:
    if layer.disable_adapters or layer.merged:
        return []
    return [name for name in layer.active_adapters if name in layer.lora_A]


def _sum(layer: Any) -> torch.Tensor:
    total: torch.Tensor = layer.base_layer.weight
    for name in _speaking(layer):
        low, high = layer.lora_A[name].weight.float(), layer.lora_B[name].weight.float()
        total = torch.addmm(total, high, low, alpha=layer.scaling[name])
    return total


def _place(layer: Any, lows: torch.Tensor, highs: torch.Tensor) -> None:
    """The adapters one below the other; those that do not speak weigh nothing."""
    speaking, start = _speaking(layer), 0
    for name, low in layer.lora_A.items():
        end = start + low.weight.shape[0]
        lows[start:end].copy_(low.weight)
        if name in speaking:
            highs[start:end].copy_(layer.lora_B[name].weight.T * layer.scaling[name])
        else:
            highs[start:end].zero_()
        start = end
