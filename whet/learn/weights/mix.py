"""Imitation beside reinforcement: a few conversations with each step, whose loss is added by a weight.

A policy that is rewarded for one thing alone forgets the rest, or collapses to a single answer; what it is shown
meanwhile holds it. Which conversations come with which step follows from the seed.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from whet.keys import seed_for
from whet.learn.weights.sft import IGNORED


@dataclass(frozen=True, slots=True)
class SftMix:
    """Rows to imitate, `batch` of them a step, and what their loss weighs beside GRPO's."""

    rows: Sequence[dict[str, list[int]]]
    weight: float
    batch: int
    pad: int
    seed: int

    def rows_of(self, step: int) -> list[dict[str, list[int]]]:
        """The conversations of a step: all come before any comes again."""
        chosen = []
        for place in range(step * self.batch, (step + 1) * self.batch):
            turn, at = divmod(place, len(self.rows))
            order = list(range(len(self.rows)))
            random.Random(seed_for("mix", self.seed, turn)).shuffle(order)
            chosen.append(self.rows[order[at]])
        return chosen

    def loss(self, model: Any, step: int) -> torch.Tensor:
        """The mean over all tokens that the model speaks in the conversations of a step."""
        rows = self.rows_of(step)
        width = max(len(row["input_ids"]) for row in rows)

        def padded(name: str, value: int) -> torch.Tensor:
            filled = [row[name] + [value] * (width - len(row[name])) for row in rows]
            return torch.tensor(filled, device=model.device)

        ids, labels = padded("input_ids", self.pad), padded("labels", IGNORED)
        lengths = torch.tensor([len(row["input_ids"]) for row in rows], device=model.device)
        mask = (torch.arange(width, device=model.device)[None] < lengths[:, None]).long()
        logits = model(input_ids=ids, attention_mask=mask).logits[:, :-1].float()
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels[:, 1:].flatten(), ignore_index=IGNORED)
