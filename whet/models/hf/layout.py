"""What a decoder must know of a model before it runs it by pages, and whether it can: found out by trying.

A model is run on a few tokens as transformers runs it and by pages, and its scores are compared. So a model whose
attention is not the plain one is refused at the start, and does not answer wrongly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from whet.errors import WhetError
from whet.models.hf.paged import LayerShape, PackedStep, PagePool, logits_of, paged
from whet.models.hf.pages import PAGE

TRIAL = 2 * PAGE + 3
"""Tokens of the trial: more than two pages."""


class UnpagedModelError(WhetError):
    """This model cannot be run by pages."""


@dataclass(frozen=True, slots=True)
class ModelLayout:
    """What the layers keep of a token, in which numbers and where; heads of queries, and the model's own context."""

    shapes: tuple[LayerShape, ...]
    dtype: torch.dtype
    device: torch.device
    heads: int
    context: int | None


def inner_model(module: Any) -> Any:
    """The model of transformers inside a wrapper of peft, whose layers it has been given."""
    if getattr(getattr(module, "active_peft_config", None), "is_prompt_learning", False):
        raise UnpagedModelError("an adapter that learns a prompt changes what is read, which pages do not know")
    return module.get_base_model() if hasattr(module, "get_base_model") else module


def read_layout(model: Any) -> ModelLayout:
    """The layout of a model that pages can serve; `UnpagedModelError` says why one cannot."""
    name = type(model).__name__
    config = model.config
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    if getattr(config, "is_encoder_decoder", False) or hasattr(config, "vision_config"):
        raise UnpagedModelError(f"{name} is no plain causal language model")
    if isinstance(rope, dict) and rope.get("rope_type", "default") in ("dynamic", "longrope"):
        raise UnpagedModelError(f"{name} turns its positions by the longest of a batch: company would change a reply")
    try:
        return _tried(model, name)
    except UnpagedModelError:
        raise
    except (TypeError, AttributeError, ValueError, RuntimeError, IndexError, WhetError) as problem:
        if isinstance(problem, torch.OutOfMemoryError):
            raise
        said = " ".join(str(problem).split())[:200]
        raise UnpagedModelError(f"{name} cannot be run by pages: {said}") from problem


def _tried(model: Any, name: str) -> ModelLayout:
    device = model.get_input_embeddings().weight.device
    config = model.config
    ids = (torch.arange(TRIAL, device=device) * 7 + 3) % config.vocab_size
    trains = model.training
    model.eval()
    try:
        with torch.no_grad():
            plain = model(input_ids=ids[None], use_cache=True)
        layers = plain.past_key_values.layers
        if any(getattr(layer, "is_sliding", False) or not hasattr(layer, "keys") for layer in layers):
            raise UnpagedModelError(f"{name} has layers that do not keep all keys and values")
        shapes = tuple(LayerShape(layer.keys.shape[1], layer.keys.shape[3], layer.values.shape[3]) for layer in layers)
        dtype = layers[0].keys.dtype
        pool = PagePool(shapes, 1 + -(-TRIAL // PAGE), dtype, device)
        found = _by_pages(model, pool, ids)
        if not all(bool(keys.any()) for keys in pool.keys):
            raise UnpagedModelError(f"{name} has an attention of its own, which does not read pages")
    finally:
        model.train(trains)
    wanted = plain.logits[0, [PAGE, TRIAL - 1]].float()
    gap = float((found.float() - wanted).abs().max() / wanted.abs().max().clamp_min(1e-6))
    if not gap <= (1e-4 if dtype == torch.float32 else 0.1):
        raise UnpagedModelError(f"{name} says something else by pages (scores differ by {gap:.2g} of the largest)")
    context = getattr(config, "max_position_embeddings", None)
    return ModelLayout(shapes, dtype, device, config.num_attention_heads, context if isinstance(context, int) else None)


def _by_pages(model: Any, pool: PagePool, ids: torch.Tensor) -> torch.Tensor:
    """The scores after the first page and a token, and at the end, read in two passes."""
    spots = torch.arange(TRIAL, device=ids.device)
    table = torch.arange(1, pool.pages, device=ids.device)[None].flip(1)
    scores = []
    with paged(model):
        for start, end in ((0, PAGE + 1), (PAGE + 1, TRIAL)):
            spot = spots[start:end]
            places = table[0, spot // PAGE] * PAGE + spot % PAGE
            none = torch.empty(0)
            step = PackedStep(pool, ids[start:end], spot, places, none, none, table, counts=[(end - start, end)])
            scores.append(logits_of(model, step, torch.tensor([end - start - 1], device=ids.device)))
    return torch.cat(scores)
