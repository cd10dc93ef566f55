"""How much a decoder takes on at once, and the pages that there is memory for."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from whet.errors import WhetError
from whet.models.hf.layout import ModelLayout
from whet.models.hf.paged import token_bytes
from whet.models.hf.pages import PAGE

GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class DecoderLimits:
    """How much a decoder takes on at once."""

    slots: int = 256
    """Replies that are drawn at once; what comes beyond waits for a slot."""
    context: int | None = None
    """Tokens of the longest conversation; None: what the model can, or the pages hold."""
    cache_bytes: int | None = None
    """Memory for keys and values; None: 40 % of what is free on the GPU, elsewhere 2 GiB or one conversation."""
    chunk: int = 4096
    """Tokens that are read in one pass, at most."""
    stride: int = 4
    """Tokens that rows on a GPU draw before the host looks whether they have ended."""
    graphs: bool = True
    """Record passes on a GPU as CUDA graphs."""


def cache_bytes(gib: float | None) -> int | None:
    """The same as a config says it."""
    return None if gib is None else int(gib * GIB)


def page_room(limits: DecoderLimits, layout: ModelLayout) -> tuple[int, int]:
    """How many pages there are, and the longest conversation that fits."""
    if limits.slots < 1 or limits.stride < 1 or limits.chunk < 2 * limits.slots:
        raise WhetError(
            f"slots = {limits.slots}, stride = {limits.stride}, chunk = {limits.chunk}: "
            "give at least 1 of each, and a chunk of at least two tokens for each slot"
        )
    each = PAGE * token_bytes(layout.shapes, layout.dtype)
    asked = limits.context
    longest = min(filter(None, (asked, layout.context)), default=None)
    given = limits.cache_bytes
    if given is None:
        if layout.device.type == "cuda":
            given = int(0.4 * torch.cuda.mem_get_info(layout.device)[0])
        else:  # a page takes memory when it is first written: room for one long conversation costs nothing
            given = max(2 * GIB, each * (-(-(longest or 0) // PAGE) + 2))
    count = given // each
    if longest is not None:  # more than all slots can fill is of no use
        count = min(count, limits.slots * (-(-longest // PAGE) + 1) + 1)
    room = (count - 1) * PAGE
    least = 2 * PAGE if asked is None or longest is None else longest
    if room < least:
        raise WhetError(
            f"{given:,} bytes hold the keys and values of {max(0, room):,} tokens, and one conversation takes "
            f"{least:,}: raise cache_bytes or lower context"
        )
    return count, room if longest is None else min(room, longest)
