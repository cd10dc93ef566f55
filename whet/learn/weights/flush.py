"""Rows that begin together: padding stands behind them, where a causal model needs no mask for it.

What stands behind a token is not read by it. So a batch whose padding is all on the right gives every real token the
same scores without a mask as with one, and without one attention runs in the kernels that know causality alone: on a
GPU those that never write the scores of all pairs down. With a mask, training a small model on conversations of 1,500
tokens spent most of its time and nearly all of its memory there.

TRL pads prompts on the left. Their rows are moved flush here, and what comes back is moved to where TRL expects it.
"""

from __future__ import annotations

from typing import Any

import torch


def read_causally(module: Any) -> None:
    """From here on the module reads batches whose padding is all on the right without a mask."""
    if not hasattr(module.config, "vision_config"):
        module.register_forward_pre_hook(_without_mask, with_kwargs=True)


def _without_mask(module: Any, given: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    mask = named.get("attention_mask")
    if mask is not None and mask.ndim == 2 and named.get("past_key_values") is None and flush(mask):
        named = {**named, "attention_mask": None}
    return given, named


def flush(mask: torch.Tensor) -> bool:
    """Whether every row begins at the first column and has no holes."""
    return bool((mask[:, 0] > 0).all() & (mask[:, 1:] <= mask[:, :-1]).all())


class FlushRows:
    """Rows moved so that each begins at the first column, and the way back for what is said about their ends."""

    def __init__(self, mask: torch.Tensor, scored: int) -> None:
        """`scored`: columns at the end, of which something will be said; each row has begun before them."""
        width = mask.shape[1]
        columns = torch.arange(width, device=mask.device)
        self._left = (mask.cumsum(1) == 0).sum(1)
        reach = (mask.bool() * (columns + 1)).amax(1)
        self._width = max(2, int((reach - self._left).max()))
        self._scored = scored
        self._begins = width - scored - self._left
        first = max(1, int(self._begins.min()))
        self.scored = max(1, self._width - first)
        """Columns at the end of the moved rows in which all that is asked for lies."""
        self._first = self._width - self.scored

    def move(self, rows: torch.Tensor) -> torch.Tensor:
        places = torch.arange(self._width, device=rows.device) + self._left[:, None]
        return rows.gather(1, places.clamp(max=rows.shape[1] - 1))

    def moved_mask(self, mask: torch.Tensor) -> torch.Tensor:
        """The mask of the moved rows, without holes: what stands in one is read by those behind it, as it was said."""
        reach = (mask.bool() * torch.arange(1, mask.shape[1] + 1, device=mask.device)).amax(1) - self._left
        return (torch.arange(self._width, device=mask.device) < reach[:, None]).to(mask.dtype)

    def back(self, said: torch.Tensor) -> torch.Tensor:
        """What was said of the last `self.scored` columns of moved rows, in the columns that were asked about."""
        places = torch.arange(self._scored, device=said.device) + (self._begins - self._first)[:, None]
        return said.gather(1, places.clamp(min=0, max=said.shape[1] - 1))
