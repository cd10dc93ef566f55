"""Adapters and norms in as few passes over memory as they need, while a model trains on a GPU.

A profile of SmolLM2-135M in training showed a fifth of the GPU's time in products of matrices and more than half in
copies, sums and multiples of what goes in and out of them. As peft writes it, a layer with an adapter turns its input
into float32 (which autocast turns back), multiplies what the adapter says by its scale and adds it to the layer's: six
passes over tensors as large as the layer's own, and as many on the way back. Here the scale goes to the small tensor
between the adapter's two halves, and each sum is part of a product. A norm is one kernel instead of seven.

A layer or norm is taken over only while it is what it is thought to be; what an adapter of another kind, one that is
switched off, or dropout asks for is left to peft. What is computed is the same but for roundings.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from peft.tuners.lora.layer import Linear as LoraLinear
from torch import nn
from torch.nn import functional

from whet.models.hf.norms import is_plain


def lighten(module: nn.Module) -> int:
    """Have the adapters and norms of a model computed like this from now on; how many there are of them.

    Their class is changed and nothing else, so that their weights, names and state stay what they were, and a generator
    that puts something of its own in their place for a while finds them as before.
    """
    count = 0
    for part in list(module.modules()):
        if type(part) is LoraLinear and _dense(part):
            part.__class__ = LightLora
            count += 1
        elif not isinstance(part, LightNorm) and is_plain(part):
            part.__class__ = _light_norm(part.__class__)
            count += 1
    return count


class LightLora(LoraLinear):  # type: ignore[misc]
    """peft's layer with an adapter; where one plain adapter is at work, in four products and nothing besides."""

    def forward(self, x: torch.Tensor, *given: Any, **named: Any) -> torch.Tensor:
        name = self.active_adapters[0] if len(self.active_adapters) == 1 else ""
        if given or named or self.disable_adapters or self.merged or not self._light(name):
            said: torch.Tensor = super().forward(x, *given, **named)
            return said
        low, high = self.lora_A[name].weight, self.lora_B[name].weight
        made: torch.Tensor = LoraProduct.apply(x, self.base_layer.weight, low, high, self.scaling[name])
        return made

    def _light(self, name: str) -> bool:
        plain = name in self.lora_A and name not in self.lora_variant and not self.lora_bias.get(name, False)
        return plain and (not self.training or isinstance(self.lora_dropout[name], nn.Identity))


class LoraProduct(torch.autograd.Function):  # type: ignore[misc]
    """x Wᵀ + s (x Aᵀ) Bᵀ, with gradients to x, A and B. W is frozen."""

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, weight: torch.Tensor, low: torch.Tensor, high: torch.Tensor, scale: float
    ) -> torch.Tensor:
        kind = product_type(x)
        flat, ours = x.reshape(-1, x.shape[-1]).to(kind), weight.to(kind)
        down, up = low.to(kind), high.to(kind)
        between = flat @ down.T
        out = flat @ ours.T
        out.addmm_(between, up.T, alpha=scale)
        ctx.save_for_backward(flat, ours, down, up, between)
        ctx.scale, ctx.shape, ctx.kinds = scale, x.shape, (x.dtype, low.dtype, high.dtype)
        return out.view(*x.shape[:-1], out.shape[-1])

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        flat, ours, down, up, between = ctx.saved_tensors
        told = gradient.reshape(-1, gradient.shape[-1]).to(flat.dtype)
        middle = (told @ up).mul_(ctx.scale)
        read: torch.Tensor | None = None
        if ctx.needs_input_grad[0]:
            read = (told @ ours).addmm_(middle, down).view(ctx.shape).to(ctx.kinds[0])
        low = (middle.T @ flat).to(ctx.kinds[1])
        high = (told.T @ between).to(ctx.kinds[2]).mul_(ctx.scale)
        return read, None, low, high, None


def product_type(x: torch.Tensor) -> torch.dtype:
    """The type that a product is computed in: what autocast says, where it is on."""
    device = x.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else x.dtype


def _dense(layer: LoraLinear) -> bool:
    base = layer.base_layer
    return type(base) is nn.Linear and base.bias is None and not base.weight.requires_grad


class LightNorm(nn.Module):  # type: ignore[misc]
    """A norm as one kernel. Autocast would have it in float32 throughout: it adds up in float32 anyway."""

    weight: torch.Tensor
    variance_epsilon: float

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.autocast(x.device.type, enabled=False):
            return functional.rms_norm(x, (x.shape[-1],), self.weight, self.variance_epsilon)


@cache
def _light_norm(kind: type[nn.Module]) -> type[nn.Module]:
    return type(f"Light{kind.__name__}", (LightNorm, kind), {})
