"""The attempts at a task read its prompt once, while they are learnt from.

The attempts of a group begin with the same prompt, and that is most of what each of them holds: 900 tokens of 1,100 in
`ordebug`. As rows of a batch they have the model read it eight times, forward and backward. Here the rows of a part
stand in one line: every prompt once, then what followed in each attempt; nothing is padded. A token attends to its own
prompt and to its own attempt; what it finds in both is put together by their sums of exponents, which is what it would
have found in both at once. On the way back each half is told what both came to, and the gradients are those of the
whole. Prompts end one token early and attempts begin with that token: what it leads to differs from one to the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import torch
from torch.nn import functional
from transformers import AttentionInterface

from whet.errors import WhetError
from whet.learn.weights.light import product_type
from whet.learn.weights.sft import IGNORED
from whet.models.hf.paged import refuse_strange

ATTENTION = "whet_shared"
UNMOVED = 1e-3
"""Log-probabilities that are no further apart are the same."""

Told = tuple[torch.Tensor, torch.Tensor | None]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Sequences that lie one after the other: where each begins and the last ends, and the longest of them."""

    edges: torch.Tensor
    longest: int

    @classmethod
    def of(cls, lengths: Sequence[int], device: torch.device) -> Stretch:
        edges = torch.tensor([0, *accumulate(lengths)], dtype=torch.int32, device=device)
        return cls(edges, max(lengths))


@dataclass(frozen=True, slots=True)
class OneLine:
    """Rows in one line: `prompts` tokens of all prompts, then the attempts, those at one prompt side by side."""

    ids: torch.Tensor
    positions: torch.Tensor
    labels: torch.Tensor
    prompts: int
    asked: Stretch
    """The prompts."""
    told: Stretch
    """The attempts."""
    heard: Stretch
    """The attempts at each prompt, together."""
    places: torch.Tensor
    """`[rows, scored]`: where in the line each column of each row is scored; behind its end where none is."""

    def spread(self, said: torch.Tensor) -> torch.Tensor:
        """What was said of the places of the line, in the columns of the rows; 0 where nothing was."""
        return functional.pad(said.flatten(), (0, 1))[self.places]

    def mask(self) -> torch.Tensor:
        """Who attends to whom, written down: `[tokens, tokens]`."""
        count, prompts = self.ids.shape[1], self.prompts
        device = self.ids.device
        place = torch.arange(count, device=device)
        owner, own = place.clone(), place.clone()  # of which prompt, and of which sequence a token is
        owner[:prompts] = own[:prompts] = torch.bucketize(place[:prompts], self.asked.edges[1:], right=True)
        behind = place[prompts:] - prompts
        owner[prompts:] = torch.bucketize(behind, self.heard.edges[1:], right=True)
        own[prompts:] = len(self.asked.edges) + torch.bucketize(behind, self.told.edges[1:], right=True)
        same = (own[:, None] == own) & (place[:, None] >= place)
        across = (owner[:, None] == owner) & (place[:, None] >= prompts) & (place < prompts)
        return same | across


def one_line(ids: torch.Tensor, mask: torch.Tensor, scored: int) -> OneLine | None:
    """Rows with padding on both sides as one line; None where a prompt is too short for it, or nothing is scored."""
    rows, there = ids.cpu().numpy(), mask.cpu().numpy() > 0
    width = rows.shape[1]
    first = there.argmax(1)
    ends = np.where(there.any(1), width - there[:, ::-1].argmax(1), 0)
    begin = width - scored
    if (begin - first < 2).any() or not (ends > begin).any():
        return None
    groups: dict[bytes, list[int]] = {}
    for at, row in enumerate(rows):
        if ends[at] > begin:
            groups.setdefault(row[first[at] : begin].tobytes(), []).append(at)
    prompts = [rows[group[0], first[group[0]] : begin - 1] for group in groups.values()]
    order = [at for group in groups.values() for at in group]
    attempts = [rows[at, begin - 1 : ends[at] - 1] for at in order]
    count, total = sum(map(len, prompts)), sum(map(len, prompts)) + sum(map(len, attempts))
    positions = [np.arange(len(prompt)) for prompt in prompts]
    positions += [np.arange(len(said)) + begin - 1 - first[at] for at, said in zip(order, attempts, strict=True)]
    labels = [np.full(count, IGNORED), *(rows[at, begin : ends[at]] for at in order)]
    places = np.full((len(rows), scored), total)
    start = count
    for at, said in zip(order, attempts, strict=True):
        places[at, : len(said)] = start + np.arange(len(said))
        start += len(said)
    lengths = dict(zip(order, map(len, attempts), strict=True))

    def line(parts: Sequence[Any]) -> torch.Tensor:
        return torch.from_numpy(np.concatenate(parts).astype(np.int64)).to(ids.device)[None]

    return OneLine(
        line([*prompts, *attempts]),
        line(positions),
        line(labels),
        count,
        Stretch.of([len(prompt) for prompt in prompts], ids.device),
        Stretch.of([len(said) for said in attempts], ids.device),
        Stretch.of([sum(lengths[at] for at in group) for group in groups.values()], ids.device),
        torch.from_numpy(places).to(ids.device),
    )


# ---------------------------------------------------------------------------------------------- attention


@dataclass(frozen=True, slots=True)
class Found:
    """What sequences found in others, `[tokens, heads, size]`, and the logarithms of their sums, `[heads, tokens]`."""

    values: torch.Tensor
    sums: torch.Tensor
    drawn: tuple[torch.Tensor, ...] = ()
    """By what dropout was drawn, of which there is none: the way back asks for it."""


Triple = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def flash(tokens: Triple, asks: Stretch, holds: Stretch, causal: bool, scale: float) -> Found:
    """What each of the sequences `asks` finds in that of `holds` which has its number."""
    edges = asks.edges, holds.edges, asks.longest, holds.longest
    found = torch.ops.aten._flash_attention_forward(*tokens, *edges, 0.0, causal, False, scale=scale)
    return Found(found[0], found[1], (found[2], found[3]))


def flash_back(
    gradient: torch.Tensor, tokens: Triple, found: Found, asks: Stretch, holds: Stretch, causal: bool, scale: float
) -> Triple:
    """The gradients of `flash`; where `found` holds what was found elsewhere too, its share of the whole's."""
    edges = asks.edges, holds.edges, asks.longest, holds.longest
    back: Triple = torch.ops.aten._flash_attention_backward(
        gradient, *tokens, found.values, found.sums, *edges, 0.0, causal, *found.drawn, scale=scale
    )
    return back


class SharedAttention(torch.autograd.Function):  # type: ignore[misc]
    """Attention along a line, `[tokens, heads, size]`: of prompts to themselves, of attempts to both."""

    @staticmethod
    def forward(
        ctx: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, line: OneLine, scale: float
    ) -> torch.Tensor:
        cut = line.prompts
        held = key[:cut], value[:cut]
        first = flash((query[:cut], *held), line.asked, line.asked, True, scale)
        inner = flash((query[cut:], key[cut:], value[cut:]), line.told, line.told, True, scale)
        outer = flash((query[cut:], *held), line.heard, line.asked, False, scale)
        sums = torch.logaddexp(inner.sums, outer.sums)
        both = _weighed(inner, sums).add_(_weighed(outer, sums)).to(query.dtype)
        ctx.save_for_backward(query, key, value, first.values, first.sums, both, sums)
        ctx.line, ctx.scale, ctx.drawn = line, scale, (first.drawn, inner.drawn, outer.drawn)
        return torch.cat([first.values, both])

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        query, key, value, *rest = ctx.saved_tensors
        line, scale, cut = ctx.line, ctx.scale, ctx.line.prompts
        told = gradient.to(query.dtype).contiguous()
        held = key[:cut], value[:cut]
        first = Found(rest[0], rest[1], ctx.drawn[0])
        inner, outer = (Found(rest[2], rest[3], drawn) for drawn in ctx.drawn[1:])
        asked = flash_back(told[:cut], (query[:cut], *held), first, line.asked, line.asked, True, scale)
        own = query[cut:], key[cut:], value[cut:]
        inside = flash_back(told[cut:], own, inner, line.told, line.told, True, scale)
        before = flash_back(told[cut:], (query[cut:], *held), outer, line.heard, line.asked, False, scale)
        return (
            torch.cat([asked[0], inside[0] + before[0]]),
            torch.cat([asked[1] + before[1], inside[1]]),
            torch.cat([asked[2] + before[2], inside[2]]),
            None,
            None,
        )


def _weighed(found: Found, sums: torch.Tensor) -> torch.Tensor:
    return found.values.float() * (found.sums - sums).exp().T[..., None]


def shared_attention(
    module: Any, *read: Any, line: OneLine, scaling: float | None = None, **other: Any
) -> tuple[torch.Tensor, None]:
    """The attention that transformers calls at every layer, under the name of `ATTENTION`; `read` ends with a mask."""
    refuse_strange(other, "a line does")
    query, key, value = read[:3]
    kind, size = product_type(query), query.shape[-1]
    scale = size**-0.5 if scaling is None else scaling
    if query.is_cuda and kind in (torch.bfloat16, torch.float16) and size % 8 == 0 and size <= 256:
        tokens = (part.to(kind)[0].transpose(0, 1) for part in (query, key, value))
        return SharedAttention.apply(*tokens, line, scale)[None], None
    found = functional.scaled_dot_product_attention(
        query, key, value, attn_mask=line.mask(), scale=scale, enable_gqa=True
    )
    return found.transpose(1, 2), None


AttentionInterface.register(ATTENTION, shared_attention)


@contextmanager
def in_line(model: Any) -> Iterator[None]:
    """Within this, the model reads lines; then it is as it was."""
    before = model.config._attn_implementation
    model.config._attn_implementation = ATTENTION
    try:
        yield
    finally:
        model.config._attn_implementation = before


# ---------------------------------------------------------------------------------------------- scores


def scored_in_line(model: Any, ids: torch.Tensor, mask: torch.Tensor, scored: int, *, entropy: bool) -> Told | None:
    """Log-probabilities of the last `scored` columns of rows, and entropies; None where rows cannot stand in a line.

    The model has TRL's head, which says these of labels instead of scores of all tokens.
    """
    line = one_line(ids, mask, scored)
    if line is None:
        return None
    with in_line(model):
        out = model(
            input_ids=line.ids,
            position_ids=line.positions,
            shift_labels=line.labels,
            fused_lm_head=True,
            use_cache=False,
            line=line,
        )
    return line.spread(out.log_probs), line.spread(out.entropy) if entropy else None


def reads_lines(model: Any) -> bool:
    """Whether a model with TRL's head says of rows in a line what it says of them as rows.

    Some layers look at their neighbours by other ways than attention, or attend in another way. So it is tried, on
    tokens drawn for it: what one attempt says, or another prompt, must not matter to those beside it, and its own
    prompt must matter three times as much as the line does, which in half numbers matters a little.
    """
    weight = model.get_input_embeddings().weight
    chance = torch.Generator().manual_seed(0)
    prompts, said = (torch.randint(len(weight), size, generator=chance) for size in ((3, 24), (5, 9)))

    def rows(asked: Sequence[int], answers: Sequence[int]) -> torch.Tensor:
        return torch.cat([prompts[list(asked)], said[list(answers)]], 1).to(weight.device)

    def lined(asked: Sequence[int], answers: Sequence[int]) -> torch.Tensor:
        tokens = rows(asked, answers)
        found = scored_in_line(model, tokens, torch.ones_like(tokens), said.shape[1], entropy=False)
        assert found is not None
        return found[0]

    own, first = (0, 1, 0, 1), (0, 1, 2, 3)
    with torch.no_grad():
        plain, other = (_scored(model, rows(asked, first), said.shape[1]) for asked in (own, (1, 0, 1, 0)))
        try:
            found = lined(own, first)
            beside = lined(own, (4, 1, 2, 3))[1:] - found[1:], (lined((0, 2, 0, 2), first) - found)[::2]
        except (WhetError, TypeError, ValueError, RuntimeError):
            return False
    alone = all(float(apart.abs().max()) < UNMOVED for apart in beside)
    return alone and bool(3 * (found - plain).abs().mean() <= (other - plain).abs().mean())


def _scored(model: Any, rows: torch.Tensor, scored: int) -> torch.Tensor:
    labels = rows.clone()
    labels[:, :-scored] = IGNORED
    out = model(input_ids=rows, attention_mask=torch.ones_like(rows), labels=labels, fused_lm_head=True)
    found: torch.Tensor = out.log_probs[:, -scored:]
    return found
