"""Layers that read the same input, as one product: queries, keys and values of a block, or its gate and its rise.

On a GPU a token of a small model takes as long as its kernels take to start, so three products that could be one cost
three times as much. Copies of the layers' weights stand one below the other; whoever of them is asked first computes
for all, and the others hand out their part, as long as they are asked with the very same tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn import functional

Forward = Callable[..., torch.Tensor]

TOGETHER = (("q_proj", "k_proj", "v_proj"), ("gate_proj", "up_proj"))
"""Names of layers that read the same input, in the modules that hold them."""
MOST_BYTES = 1 << 30
"""Copies of weights may take so much: more is a model whose kernels are not small."""


class JoinedLayers:
    """Dense layers with adapters beside them, computed as one: `low` has the adapters one below the other, `high` each
    in its own corner."""

    def __init__(self, layers: Sequence[Any], ranks: Sequence[int]) -> None:
        self.layers = list(layers)
        first = layers[0].base_layer.weight
        self._sizes = [layer.base_layer.weight.shape[0] for layer in layers]
        self._ends = [0, *torch.tensor(self._sizes).cumsum(0).tolist()]
        self._ranks = [0, *torch.tensor(list(ranks)).cumsum(0).tolist()]
        self.weight = first.new_empty(self._ends[-1], first.shape[1])
        rank = self._ranks[-1]
        self.low, self.high = first.new_zeros(rank, first.shape[1]), first.new_zeros(rank, self._ends[-1])
        self._read: torch.Tensor | None = None
        self._parts: Sequence[torch.Tensor] = ()

    def rooms(self) -> Iterator[tuple[torch.Tensor, ...]]:
        """Where the copies of each layer go."""
        for at in range(len(self.layers)):
            own = slice(self._ends[at], self._ends[at + 1])
            rows = slice(self._ranks[at], self._ranks[at + 1])
            yield self.low[rows], self.high[rows, own]

    def forwards(self) -> Iterator[Forward]:
        for at in range(len(self.layers)):
            yield partial(self._part, at)

    def take_weights(self) -> None:
        """The layers' own weights."""
        for layer, start, end in zip(self.layers, self._ends, self._ends[1:], strict=False):
            self.weight[start:end].copy_(layer.base_layer.weight)

    def _part(self, at: int, x: torch.Tensor) -> torch.Tensor:
        if self._read is not x:
            self._read, self._parts = x, self._product(x).split(self._sizes, -1)
        part = self._parts[at]
        if at == len(self.layers) - 1:  # the last one asked: nothing is held longer than it is needed
            self._read, self._parts = None, ()
        return part

    def _product(self, x: torch.Tensor) -> torch.Tensor:
        out = functional.linear(x, self.weight)
        flat = out.view(-1, out.shape[-1])
        torch.addmm(flat, x.reshape(-1, x.shape[-1]) @ self.low.T, self.high, out=flat)
        return out


def joined_layers(
    model: nn.Module, layers: Sequence[Any], rank_of: Callable[[Any], int], most: int = MOST_BYTES
) -> list[JoinedLayers]:
    """The layers among these that can be computed together; none where their copies would take too much.

    In float32 an adapter is in the sum of its layer, and models in it run on a processor, which starts nothing.
    """
    known = {id(layer) for layer in layers}
    found = [
        [getattr(holder, name) for name in names]
        for holder in model.modules()
        for names in TOGETHER
        if all(id(getattr(holder, name, None)) in known for name in names)
    ]
    fit = [group for group in found if _alike(group)]
    if sum(layer.base_layer.weight.nbytes for group in fit for layer in group) > most:
        return []
    return [JoinedLayers(group, [rank_of(layer) for layer in group]) for group in fit]


def _alike(group: Sequence[Any]) -> bool:
    """Whether they read inputs of one size, in one type of half numbers and place, and add nothing."""
    bases = [layer.base_layer for layer in group]
    first = bases[0].weight
    return all(
        base.bias is None
        and base.weight.dtype != torch.float32
        and (base.weight.shape[1], base.weight.dtype, base.weight.device) == (first.shape[1], first.dtype, first.device)
        for base in bases
    )
