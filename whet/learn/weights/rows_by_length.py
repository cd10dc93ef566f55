"""Rows of a batch of attempts put together by length, in as few parts as fit.

TRL pads all attempts of a generation to the longest of them, shuffles them and cuts the result into parts of equally
many. Attempts at small and large problems then cost what the largest costs, and a small model takes as long for a part
of few tokens as for one of many. Within one optimizer step the order of rows means nothing, columns of padding mean
nothing, and rows of groups that teach nothing (half of a step, late in a training) are masked throughout. So a part
takes as many rows as are no larger together than a part of the longest would be; parts that are left over hold none.
What a part's rows are of the step's is its `share`: a loss that is a mean over the rows of a part is weighed by it.
Where a loss is normalised by the tokens of a part, rows stay where they are.
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
SHARE = "share"

Part = Mapping[str, Any]


def pack(parts: Sequence[Part], window: int, *, sort: bool = True, together: bool = False) -> list[dict[str, Any]]:
    """The same rows in as many parts; each `window` of them is one optimizer step. Images stay as they are.

    `together`: rows of one prompt come into one part, and the prompt counts once: that is how they will be read.
    """
    if any(_unknown(part) for part in parts):
        return [dict(part) for part in parts]
    packed: list[dict[str, Any]] = []
    for start in range(0, len(parts), window):
        step = parts[start : start + window]
        packed += _by_length(step, together) if sort else [trim(part) for part in step]
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


def _by_length(step: Sequence[Part], together: bool) -> list[dict[str, Any]]:
    """The rows of a step that teach something, the longest first; each part with its share of all rows, per part."""
    joined = {
        name: value if value is None or name in WHOLE else torch.cat([part[name] for part in step])
        for name, value in step[0].items()
    }
    most = step[0]["prompt_ids"].shape[0]
    reach = _reach(joined["completion_mask"])
    lengths = joined["prompt_mask"].sum(1) + reach
    learnt = _learnt(joined).tolist()
    places = _together(joined, lengths.tolist(), learnt, most) if together else []
    if not 0 < len(places) <= len(step):
        places = _parted(lengths.tolist(), reach.tolist(), learnt, most)
    total = len(lengths)
    packed = []
    for at in range(len(step)):
        rows = torch.tensor(places[at] if at < len(places) else [], dtype=torch.long, device=lengths.device)
        part = {name: value if value is None or name in WHOLE else value[rows] for name, value in joined.items()}
        packed.append({**(trim(part) if len(rows) else part), SHARE: len(rows) * len(step) / total})
    return packed


def _parted(lengths: Sequence[int], reach: Sequence[int], learnt: Sequence[bool], most: int) -> list[list[int]]:
    """Which rows go together: as many as have no more places, read or scored, than `most` of the longest.

    A part has at least `most` rows as long as there are any, so there are never more parts than there were. Where none
    teaches anything one is read all the same: a gradient of zeros is not the same to an optimizer as none.
    """
    ranked = sorted(range(len(lengths)), key=lambda at: -lengths[at])
    order = [at for at in ranked if learnt[at]] or ranked[-1:]
    longest, widest = max(lengths, default=0), max(reach, default=0)
    parts: list[list[int]] = []
    wide = 0
    for at in order:
        wide = max(wide, reach[at])
        own = parts[-1] if parts else []
        rows = len(own) + 1
        if not own or (rows > most and (rows * lengths[own[0]] > most * longest or rows * wide > most * widest)):
            parts.append(own := [])
            wide = reach[at]
        own.append(at)
    return parts


def _together(joined: Part, lengths: Sequence[int], learnt: Sequence[bool], most: int) -> list[list[int]]:
    """Which rows go together where those of a prompt read it once: as many tokens as `most` of the longest rows have.

    At most `most` rows of one prompt are kept together; it may come to more parts than there were.
    """
    prompts = joined["prompt_mask"].sum(1).tolist()
    by_prompt: dict[bytes, list[int]] = {}
    for at, row in enumerate(joined["prompt_ids"].cpu().numpy()):
        if learnt[at]:
            by_prompt.setdefault(row.tobytes(), []).append(at)
    groups = [rows[at : at + most] for rows in by_prompt.values() for at in range(0, len(rows), most)]
    room = most * max(lengths, default=0)
    parts: list[list[int]] = []
    filled = room
    for group in groups:
        own = prompts[group[0]] + sum(lengths[at] - prompts[at] for at in group)
        if filled + own > room:
            parts.append([])
            filled = 0
        parts[-1] += group
        filled += own
    return parts


def _learnt(rows: Part) -> torch.Tensor:
    """Which rows have any token that is learnt from."""
    mask, own = rows["completion_mask"], rows.get("tool_mask")
    return (mask if own is None else mask * own).any(1)


def _reach(mask: torch.Tensor) -> torch.Tensor:
    """How far each row goes: a mask may have holes, and what lies between them is read all the same."""
    places = torch.arange(1, mask.shape[1] + 1, device=mask.device)
    return (mask.bool() * places).amax(1) if mask.shape[1] else mask.sum(1)


def _unknown(part: Part) -> bool:
    """Whether there is anything whose rows cannot be moved about, such as pictures."""
    known = {*PROMPT, *COMPLETION, *BY_ROW, *WHOLE}
    return any(value is not None and name not in known for name, value in part.items())
