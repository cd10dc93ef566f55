"""Rows of a batch of attempts put together by length, so that little of what goes through the model is padding.

TRL pads all attempts of a generation to the longest of them, shuffles them and cuts the result into parts. Attempts at
small and large problems then cost what the largest costs. Within one optimizer step the order of rows means nothing,
and columns that hold padding alone mean nothing: neither changes the gradient, except under a loss that is normalised
part by part (`bnpo`), whose rows stay where they are. Rows of groups that teach nothing (half of a step, late in a
training) are masked throughout, so what they say need not be read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

PROMPT = ("prompt_ids", "prompt_mask")
COMPLETION = (
    *("completion_ids", "completion_mask", "tool_mask", "old_per_token_logps", "ref_per_token_logps"),
    *("sampling_per_token_logps", "importance_sampling_ratio"),
)
BY_ROW = ("advantages", "policy_version")
WHOLE = ("num_items_in_batch",)

Part = Mapping[str, Any]


def pack(parts: Sequence[Part], window: int, *, sort: bool = True) -> list[dict[str, Any]]:
    """The same rows in as many parts; each `window` of them is one optimizer step. Images stay as they are."""
    if any(_unknown(part) for part in parts):
        return [dict(part) for part in parts]
    parts = [_hushed(part) for part in parts]
    packed: list[dict[str, Any]] = []
    for start in range(0, len(parts), window):
        step = parts[start : start + window]
        packed += [trim(part) for part in (_by_length(step) if sort else step)]
    return packed


def trim(part: Part) -> dict[str, Any]:
    """Without the columns that are padding in every row: prompts have theirs on the left, completions on the right."""
    prompt = int(part["prompt_mask"].sum(1).max())
    completion = max(1, int(_reach(part["completion_mask"]).max()))
    left = part["prompt_ids"].shape[1] - max(1, prompt)
    cut: dict[str, Any] = {}
    for name, value in part.items():
        if value is None or name in BY_ROW or name in WHOLE:
            cut[name] = value
        elif name in PROMPT:
            cut[name] = value[:, left:]
        else:
            cut[name] = value[:, :completion]
    return cut


def _hushed(part: Part) -> Part:
    """Rows that nothing is learnt from, as short as a row can be: they fill their places in a step."""
    learnt = part.get("tool_mask")
    if learnt is None:
        return part
    silent = (part["completion_mask"] * learnt).sum(1, keepdim=True) == 0
    prompt, completion = torch.zeros_like(part["prompt_mask"]), torch.zeros_like(part["completion_mask"])
    prompt[:, -1:] = 1
    completion[:, :1] = 1
    return {
        **part,
        "prompt_mask": torch.where(silent, prompt, part["prompt_mask"]),
        "completion_mask": torch.where(silent, completion, part["completion_mask"]),
    }


def _by_length(step: Sequence[Part]) -> list[dict[str, Any]]:
    sizes = [part["prompt_ids"].shape[0] for part in step]
    joined = {
        name: value if value is None or name in WHOLE else torch.cat([part[name] for part in step])
        for name, value in step[0].items()
    }
    lengths = joined["prompt_mask"].sum(1) + _reach(joined["completion_mask"])
    order = torch.argsort(lengths, stable=True)
    rows = {
        name: [value] * len(sizes) if value is None or name in WHOLE else value[order].split(sizes)
        for name, value in joined.items()
    }
    return [{name: values[at] for name, values in rows.items()} for at in range(len(sizes))]


def _reach(mask: torch.Tensor) -> torch.Tensor:
    """How far each row goes: a mask may have holes, and what lies between them is read all the same."""
    places = torch.arange(1, mask.shape[1] + 1, device=mask.device)
    return (mask.bool() * places).amax(1) if mask.shape[1] else mask.sum(1)


def _unknown(part: Part) -> bool:
    """Whether there is anything whose rows cannot be moved about, such as pictures."""
    known = {*PROMPT, *COMPLETION, *BY_ROW, *WHOLE}
    return any(value is not None and name not in known for name, value in part.items())
