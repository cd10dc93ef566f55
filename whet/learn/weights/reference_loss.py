"""GRPO and DAPO on a page: what the trainer's loss is tested against. Nothing trains with it.

Departures from the papers: none for `grpo` (Shao et al. 2024, eq. 3) and `dapo` (Yu et al. 2025, eq. 8) with the clip
`[1 - epsilon, 1 + epsilon_high]`; the KL is the estimator of GRPO's eq. 4. Advantages are the same for all tokens of an
attempt: its reward less the mean of its group, over the group's standard deviation plus 1e-4.
"""

from __future__ import annotations

import torch

from whet.learn.weights.presets import GrpoPreset


def advantages(rewards: torch.Tensor, generations: int) -> torch.Tensor:
    """Rewards in groups of `generations`, one group after the other."""
    groups = rewards.view(-1, generations)
    centred = groups - groups.mean(1, keepdim=True)
    return (centred / (groups.std(1, keepdim=True) + 1e-4)).flatten()


def loss(
    logprobs: torch.Tensor,
    old: torch.Tensor,
    reference: torch.Tensor,
    advantage: torch.Tensor,
    mask: torch.Tensor,
    preset: GrpoPreset,
) -> torch.Tensor:
    """Of a batch (attempts by tokens). `mask` is 1 where the policy drew the token: what others said is not learnt."""
    ratio = torch.exp(logprobs - old)
    clipped = ratio.clamp(1 - preset.epsilon, 1 + preset.epsilon_high)
    gain = torch.minimum(ratio * advantage[:, None], clipped * advantage[:, None])
    apart = reference - logprobs
    kl = torch.exp(apart) - apart - 1
    tokens = -gain + preset.beta * kl
    if preset.loss == "dapo":
        return (tokens * mask).sum() / mask.sum()
    return ((tokens * mask).sum(1) / mask.sum(1).clamp(min=1)).mean()
