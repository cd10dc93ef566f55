"""An adapter merged into its base for as long as plays last, and taken out again without a trace.

An adapter beside its base costs three more products in every layer that has one, at every token. peft takes a merged
adapter out by subtraction, which leaves the base changed in its last bits; here the base's own numbers are put back. It
takes the memory of the layers that have an adapter once more, and it is for float32: in bfloat16 an adapter's small
changes would be rounded away, and replies would come from other weights than those that train.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch


@contextmanager
def adapter_merged(module: Any) -> Iterator[None]:
    """Within this, `module` answers as its base with the adapter merged. One without an adapter is left as it is."""
    from peft.tuners.tuners_utils import BaseTunerLayer

    layers = [part for part in module.modules() if isinstance(part, BaseTunerLayer)]
    held = [(kept, kept.data) for layer in layers for kept in layer.get_base_layer().parameters(recurse=False)]
    if any(numbers.dtype != torch.float32 for _, numbers in held) or any(layer.merged for layer in layers):
        yield
        return
    try:
        for kept, numbers in held:
            kept.data = numbers.clone()
        for layer in layers:
            layer.merge()
        yield
    finally:
        for kept, numbers in held:
            kept.data = numbers
        for layer in layers:
            layer.merged_adapters.clear()
