"""Keys and values in pages, and attention that reads them there: what a model of transformers is run with.

Tokens of many sequences stand in one row, one after the other, whether a sequence brings a whole prompt or one token.
At every layer all new keys and values are written before any is read, so a sequence may read in the same pass what
another has just begun with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import torch
from torch.nn import functional
from transformers import AttentionInterface

from whet.errors import WhetError
from whet.models.hf.pages import PAGE

ATTENTION = "whet_paged"


@dataclass(frozen=True, slots=True)
class LayerShape:
    """What one layer keeps of a token."""

    heads: int
    key: int
    value: int


class PagePool:
    """The tensors behind a page table: for each layer the keys and the values of every place."""

    def __init__(self, shapes: Sequence[LayerShape], pages: int, dtype: torch.dtype, device: torch.device) -> None:
        self.pages = pages
        places = pages * PAGE
        self.keys = [_zeros((places, shape.heads, shape.key), dtype, device) for shape in shapes]
        self.values = [_zeros((places, shape.heads, shape.value), dtype, device) for shape in shapes]

    def write(self, layer: int, places: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> None:
        """Keys and values `[1, heads, tokens, size]` of one layer, each token at its place."""
        pool = self.keys[layer]
        pool.index_copy_(0, places, keys[0].transpose(0, 1).to(pool.dtype))
        self.values[layer].index_copy_(0, places, values[0].transpose(0, 1).to(pool.dtype))


def _zeros(shape: tuple[int, int, int], dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Zeros; those of a processor take memory only when they are first written, which torch's own do at once."""
    if device.type != "cpu":
        return torch.zeros(shape, dtype=dtype, device=device)
    return torch.from_numpy(np.zeros(prod(shape) * dtype.itemsize, dtype=np.uint8)).view(dtype).view(shape)


def token_bytes(shapes: Sequence[LayerShape], dtype: torch.dtype) -> int:
    """Bytes that one token takes in all layers together."""
    return sum(shape.heads * (shape.key + shape.value) for shape in shapes) * int(dtype.itemsize)


TOGETHER = 1 << 20
"""Places that the queries of several sequences look at together, at most; a sequence of more is read by itself."""


@dataclass(frozen=True, slots=True)
class AlikeSequences:
    """Sequences of one pass that bring equally many tokens: where these stand, their pages, what each may read.

    It is the same for every layer, so it is made once for a pass.
    """

    tokens: torch.Tensor | None
    """Their places in the pass, one sequence after the other; None where they are all of it, in order."""
    rows: int
    new: int
    longest: int
    pages: torch.Tensor
    """All pages, one sequence after the other."""
    mask: torch.Tensor
    """`[rows, new, longest]`: 0 where a query may read, else minus infinity."""

    def attend(self, query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, scaling: float) -> torch.Tensor:
        """What the queries `[heads, tokens, size]` of the whole pass find, those of these sequences alone."""
        rows, new = self.rows, self.new
        held, size = keys.shape[1], keys.shape[2]
        heads = query.shape[0]
        own = query if self.tokens is None else query[:, self.tokens]
        # The heads that share a key stand as further queries, so no key is copied for them.
        asked = own.reshape(held, heads // held, rows, new, size).permute(2, 0, 1, 3, 4).reshape(rows, held, -1, size)
        mask = self.mask[:, None, None].expand(rows, 1, heads // held, new, self.longest).flatten(2, 3)
        past = self._held(keys), self._held(values)
        found = functional.scaled_dot_product_attention(asked, *past, attn_mask=mask, scale=scaling)
        found = found.view(rows, held, heads // held, new, -1).permute(0, 3, 1, 2, 4)
        return found.reshape(rows * new, heads, -1)

    def _held(self, pool: torch.Tensor) -> torch.Tensor:
        """What the sequences have in a pool, `[rows, heads, longest, size]`; whole pages are copied as they lie."""
        taken = pool.view(-1, PAGE * pool.shape[1] * pool.shape[2]).index_select(0, self.pages)
        return taken.view(self.rows, -1, *pool.shape[1:])[:, : self.longest].transpose(1, 2)


@dataclass(slots=True)
class PackedStep:
    """One pass over tokens of many sequences, each with its new tokens side by side.

    Sequence s brings the tokens from `starts[s]` to `starts[s + 1]`; with them it has `lengths[s]`, and its pages stand
    in row s of `table`. `places` says where each token's key and value go.
    """

    pool: PagePool
    ids: torch.Tensor
    positions: torch.Tensor
    places: torch.Tensor
    starts: torch.Tensor
    lengths: torch.Tensor
    table: torch.Tensor
    blocks: torch.Tensor | None = None
    """For the kernel: which sequence each of its programs works for, and at which of its tokens it begins."""
    narrow: bool = False
    """Whether every sequence brings one token, which the kernel does in smaller blocks."""
    counts: Sequence[tuple[int, int]] = ()
    """For everything else: new tokens and all tokens of each sequence, as plain numbers."""
    _alike: list[AlikeSequences] = field(default_factory=list, init=False)

    def attend(self, layer: int, query: torch.Tensor, scaling: float) -> torch.Tensor:
        """What the queries `[1, heads, tokens, size]` find, as `[1, tokens, heads, size]`."""
        keys, values = self.pool.keys[layer], self.pool.values[layer]
        if self.blocks is not None:
            from whet.models.hf.kernels import attend

            return attend(self, query, keys, values, scaling)
        self._alike = self._alike or list(self._parts())
        if self._alike[0].tokens is None:
            return self._alike[0].attend(query[0], keys, values, scaling)[None]
        found = query.new_empty((query.shape[2], query.shape[1], values.shape[2]))
        for part in self._alike:
            found[part.tokens] = part.attend(query[0], keys, values, scaling)
        return found[None]

    def _parts(self) -> Iterator[AlikeSequences]:
        """The sequences by how many tokens they bring, as many together as `TOGETHER` allows."""
        by_new: dict[int, list[int]] = {}
        for number, (new, _) in enumerate(self.counts):
            by_new.setdefault(new, []).append(number)
        starts = np.cumsum([0, *(new for new, _ in self.counts)])
        for new, numbers in by_new.items():
            longest = max(self.counts[number][1] for number in numbers)
            most = len(numbers) if new == 1 else max(1, TOGETHER // (new * longest))
            for at in range(0, len(numbers), most):
                yield self._part(new, numbers[at : at + most], starts)

    def _part(self, new: int, numbers: Sequence[int], starts: np.ndarray[Any, Any]) -> AlikeSequences:
        device = self.table.device
        lengths = [self.counts[number][1] for number in numbers]
        longest = max(lengths)
        ends = torch.tensor(lengths, device=device)
        reach = ends[:, None] - new + torch.arange(new, device=device)  # the last place that a query may read
        seen = torch.arange(longest, device=device) <= reach[..., None]
        table, tokens = self.table, None
        if len(numbers) < len(self.counts):
            table = self.table[numbers]
            tokens = torch.from_numpy((starts[numbers][:, None] + np.arange(new)).ravel()).to(device)
        pages = table[:, : -(-longest // PAGE)].flatten().long()
        mask = torch.zeros(seen.shape, dtype=self.pool.keys[0].dtype, device=device).masked_fill_(~seen, -torch.inf)
        return AlikeSequences(tokens, len(numbers), new, longest, pages, mask)


def refuse_strange(given: Mapping[str, Any], who: str) -> None:
    """An attention that is more than causal would be computed wrongly."""
    strange = [name for name in ("sliding_window", "softcap", "s_aux") if given.get(name) is not None]
    if strange:
        raise WhetError(f"its attention has a {strange[0]}, which {who} not know")


def paged_attention(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    *,
    packed: PackedStep,
    scaling: float | None = None,
    **other: Any,
) -> tuple[torch.Tensor, None]:
    """The attention that transformers calls at every layer, under the name of `ATTENTION`."""
    refuse_strange(other, "pages do")
    packed.pool.write(module.layer_idx, packed.places, key, value)
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    return packed.attend(module.layer_idx, query, scale), None


AttentionInterface.register(ATTENTION, paged_attention)


@contextmanager
def paged(model: Any) -> Iterator[None]:
    """Within this, the model reads pages, drops nothing out and keeps no gradients; then it is as it was."""
    before, trains = model.config._attn_implementation, model.training
    model.config._attn_implementation = ATTENTION
    if trains:
        model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.config._attn_implementation = before
        if trains:
            model.train()


def logits_of(model: Any, step: PackedStep, last: torch.Tensor) -> torch.Tensor:
    """The scores after the tokens at `last`, as `[len(last), vocabulary]`."""
    out = model(
        input_ids=step.ids[None],
        position_ids=step.positions[None],
        use_cache=False,
        logits_to_keep=last,
        packed=step,
    )
    logits: torch.Tensor = out.logits[0]
    return logits
