"""What trains: an adapter on the last blocks of the language model, or their weights; everything else is frozen.

The names of the layers are taken from the model itself, and what came of it is asserted parameter by parameter: a
pattern that misses, or one that also hits a vision tower, would go unnoticed in a loss curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from whet.errors import WhetError
from whet.learn.weights.config import TuneSection


@dataclass(frozen=True, slots=True)
class TrainableSet:
    """What trains in a model, in numbers and names."""

    method: str
    blocks: tuple[int, ...]
    of: int
    """Blocks that the language model has."""
    layers: tuple[str, ...]
    """Layers with an adapter; the parameters themselves where these train."""
    parameters: int
    total: int
    frozen: tuple[str, ...]
    """Parts of the model in which nothing trains."""

    def __str__(self) -> str:
        first, last = self.blocks[0], self.blocks[-1]
        share = f"{100 * self.parameters / self.total:.2f} % of {self.total:,}"
        what = f"adapters on {len(self.layers)} layers" if self.method == "lora" else f"{len(self.layers)} tensors"
        return (
            f"trains: {what} of blocks {first} to {last} of {self.of}, {self.parameters:,} parameters ({share})\n"
            f"frozen: {', '.join(self.frozen) or 'nothing else'}"
        )


def decoder_blocks(module: Any) -> tuple[str, Any]:
    """The blocks of the language model, and the name under which they stand in the whole model."""
    decoder = module.get_decoder()
    depth = module.config.get_text_config().num_hidden_layers
    for name, part in module.named_modules():
        inside = part in (decoder, *getattr(decoder, "_modules", {}).values())
        if inside and isinstance(getattr(part, "layers", None), torch.nn.ModuleList) and len(part.layers) == depth:
            return f"{name}.layers".lstrip("."), part.layers
    raise WhetError(f"{type(module).__name__}: its blocks cannot be told apart (no list of {depth} layers)")


def set_trainable(module: Any, tune: TuneSection, adapter: Path | None = None) -> tuple[Any, TrainableSet]:
    """The module with exactly what `tune` names trainable, and what that is; with `adapter`, that one goes on."""
    place, blocks = decoder_blocks(module)
    depth = len(blocks)
    wanted = depth if tune.blocks == "all" else int(tune.blocks)
    if wanted > depth:
        raise WhetError(f"tune.blocks = {wanted}: the model has {depth}; give at most that, or 'all'")
    chosen = tuple(range(depth - wanted, depth))
    if tune.method == "full":
        if adapter is not None:
            raise WhetError(
                "tune.method = 'full' over an adapter: merge it first (whet export merged), or train with method 'lora'"
            )
        return _full(module, place, chosen, depth)
    if adapter is not None:
        return _continued(module, adapter, place, depth)
    return _lora(module, tune, place, chosen, depth)


def _lora(module: Any, tune: TuneSection, place: str, chosen: Sequence[int], depth: int) -> tuple[Any, TrainableSet]:
    from peft import LoraConfig, get_peft_model

    layers = [
        f"{place}.{number}.{name}"
        for number in chosen
        for name, part in module.get_submodule(f"{place}.{number}").named_modules()
        if isinstance(part, torch.nn.Linear) and name.rpartition(".")[2] in tune.targets
    ]
    found = {layer.rpartition(".")[2] for layer in layers}
    if found != set(tune.targets):
        known = sorted(
            name.rpartition(".")[2]
            for name, part in module.get_submodule(f"{place}.{chosen[0]}").named_modules()
            if isinstance(part, torch.nn.Linear)
        )
        absent = ", ".join(sorted(set(tune.targets) - found))
        raise WhetError(f"tune.targets: a block of this model has no {absent}; it has {', '.join(known)}")
    config = LoraConfig(
        r=tune.rank,
        lora_alpha=tune.alpha,
        lora_dropout=tune.dropout,
        target_modules=layers,
        bias="none",
        task_type="CAUSAL_LM",
    )
    frozen = parts(module)
    wrapped = get_peft_model(module, config)
    return wrapped, assert_exactly(wrapped, layers, chosen, depth, frozen)


def _continued(module: Any, adapter: Path, place: str, depth: int) -> tuple[Any, TrainableSet]:
    """An adapter that was trained before goes on: its own rank and layers hold."""
    from peft import PeftModel

    frozen = parts(module)
    try:
        wrapped = PeftModel.from_pretrained(module, str(adapter), is_trainable=True)
    except (RuntimeError, ValueError, KeyError, TypeError) as problem:
        said = " ".join(str(problem).split())[:200]
        raise WhetError(f"{adapter} does not fit the base: an adapter for another one? ({said})") from None
    layers = sorted({name.partition(".lora_")[0].removeprefix("base_model.model.") for name in _trained(wrapped)})
    numbers = [layer.removeprefix(f"{place}.").split(".")[0] for layer in layers if layer.startswith(f"{place}.")]
    if len(numbers) != len(layers):
        raise WhetError(f"{adapter} changes layers outside the blocks of the language model; it cannot be trained on")
    return wrapped, assert_exactly(wrapped, layers, tuple(sorted(set(map(int, numbers)))), depth, frozen)


def _full(module: Any, place: str, chosen: Sequence[int], depth: int) -> tuple[Any, TrainableSet]:
    """The chosen blocks; with all of them, also what stands around them in the language model."""
    whole = len(chosen) == depth
    around = place.rpartition(".")[0]
    prefixes = tuple(f"{place}.{number}." for number in chosen) + ((f"{around}.", "lm_head.") if whole else ())
    names = []
    for name, parameter in module.named_parameters():
        parameter.requires_grad_(name.startswith(prefixes))
        if parameter.requires_grad:
            names.append(name)
    trained = sum(p.numel() for p in module.parameters() if p.requires_grad)
    total = sum(p.numel() for p in module.parameters())
    frozen = tuple(part for part in parts(module) if not any(name.startswith(f"{part}.") for name in names))
    return module, TrainableSet("full", tuple(chosen), depth, tuple(names), trained, total, frozen)


def assert_exactly(
    wrapped: Any, layers: Sequence[str], chosen: Sequence[int], depth: int, frozen: Sequence[str]
) -> TrainableSet:
    """Refuses unless the adapters of `layers` train, all of them, and nothing else does."""
    expected = {f"base_model.model.{layer}.lora_{side}.default.weight" for layer in layers for side in "AB"}
    trained = set(_trained(wrapped))
    if trained != expected:
        wrong = sorted(trained ^ expected)[0]
        raise WhetError(f"what trains is not what was named: {wrong} {'trains' if wrong in trained else 'does not'}")
    parameters = sum(p.numel() for p in wrapped.parameters() if p.requires_grad)
    total = sum(p.numel() for p in wrapped.parameters())
    return TrainableSet("lora", tuple(chosen), depth, tuple(layers), parameters, total, tuple(frozen))


def _trained(module: Any) -> list[str]:
    return [name for name, parameter in module.named_parameters() if parameter.requires_grad]


def parts(module: Any) -> tuple[str, ...]:
    """The large parts of a model by name: embeddings, vision tower, aligner, blocks and head."""
    inner = getattr(module, "model", None)
    named = [f"model.{name}" for name, _ in inner.named_children()] if inner is not None else []
    named += [name for name, _ in module.named_children() if name != "model"]
    return tuple(name for name in named if any(True for _ in module.get_submodule(name).parameters()))
