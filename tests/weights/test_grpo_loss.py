"""TRL's loss against a page of our own, for each preset; a row of weights that are too old is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from small_world import grpo_config

from whet.errors import WhetError
from whet.learn.weights.base import open_base
from whet.learn.weights.checkpoint import Shelf
from whet.learn.weights.grpo import trainer_of
from whet.learn.weights.play_trainer import VERSION, PlayTrainer
from whet.learn.weights.presets import GRPO_PRESETS, PresetName
from whet.learn.weights.reference_loss import advantages, loss
from whet.learn.weights.segment import SegmentClock, SegmentOrder, SegmentParts, quiet
from whet.learn.weights.trainable import set_trainable
from whet.models.hf.folder import read_folder

REWARDS = torch.tensor([1.0, 0.0, 0.0, 1.0, 0.5, 0.0, 1.0, 1.0])
MASK = torch.tensor(
    [
        *([1, 1, 0, 0, 1, 1], [1, 1, 1, 1, 1, 1], [1, 0, 0, 0, 0, 0], [1, 1, 0, 1, 1, 0]),
        *([1, 1, 1, 0, 0, 0], [1, 0, 1, 0, 1, 0], [1, 1, 1, 1, 1, 0], [1, 0, 0, 1, 1, 1]),
    ]
)
"""Zeros in the middle: what the environment said between two turns."""
LENGTHS = torch.tensor([[1] * n + [0] * (6 - n) for n in (6, 6, 1, 5, 3, 5, 5, 6)])


def trainer(base: Path, work: Path, preset: str, rollouts: Any = lambda *_: {}, **grpo: Any) -> PlayTrainer:
    settings = {"preset": preset, "groups": 2, "generations": 4, "scale": "group", **grpo}
    config = grpo_config(base, grpo=settings, tune={"steps": 4, "segment": 4})
    order = SegmentOrder(1, 4, None, Shelf(work), config.tune, 0)
    held = open_base(read_folder(str(base)))
    module, _ = set_trainable(held.module, config.tune)
    with quiet():
        clock = SegmentClock(order, SegmentParts(lambda *_: None), {}, order.snapshots)
        made = trainer_of(config, order, held, module, rollouts, work, clock)
    made.current_gradient_accumulation_steps = 1
    made.model.train()
    return made


def rows(made: PlayTrainer) -> tuple[dict[str, Any], torch.Tensor]:
    """A batch that is off policy, and the log-probabilities that the model gives it."""
    noise = torch.Generator().manual_seed(5)
    prompt = torch.randint(6, 18, (8, 3), generator=noise)
    completion = torch.randint(6, 18, (8, 6), generator=noise)
    ids = torch.cat([prompt, completion], 1)
    attention = torch.cat([torch.ones_like(prompt), LENGTHS], 1)
    with torch.no_grad():
        logits = made.model(input_ids=ids, attention_mask=attention).logits[:, 2:-1]
    logprobs = torch.log_softmax(logits, -1).gather(2, completion[..., None])[..., 0]
    inputs = {
        "prompt_ids": prompt,
        "prompt_mask": torch.ones_like(prompt),
        "completion_ids": completion,
        "completion_mask": LENGTHS,
        "tool_mask": MASK,
        "advantages": advantages(REWARDS, 4),
        "num_items_in_batch": (LENGTHS * MASK).sum(),
        "old_per_token_logps": logprobs + 0.5 * torch.randn(8, 6, generator=noise),
        "ref_per_token_logps": logprobs + torch.randn(8, 6, generator=noise),
        VERSION: torch.zeros(8),
    }
    return inputs, logprobs


@pytest.mark.parametrize("name", list(GRPO_PRESETS))
def test_each_preset_is_the_loss_of_the_page(base: Path, tmp_path: Path, name: PresetName) -> None:
    made = trainer(base, tmp_path, name)
    inputs, logprobs = rows(made)
    found = made.compute_loss(made.model, inputs).detach()
    own = GRPO_PRESETS[name]

    def page(preset: Any) -> float:
        old, reference = inputs["old_per_token_logps"], inputs["ref_per_token_logps"]
        return float(loss(logprobs, old, reference, inputs["advantages"], LENGTHS * MASK, preset))

    assert float(found) == pytest.approx(page(own), abs=1e-5)
    others = [preset for preset in GRPO_PRESETS.values() if replace(preset, dynamic=own.dynamic) != own]
    assert others
    assert all(abs(page(other) - page(own)) > 1e-4 for other in others), "a preset that changes nothing here"


def test_what_others_said_is_not_learnt(base: Path, tmp_path: Path) -> None:
    made = trainer(base, tmp_path, "token_loss")
    inputs, _ = rows(made)
    ignored = {**inputs, "tool_mask": torch.ones_like(MASK)}
    whole = float(made.compute_loss(made.model, inputs).detach())
    shaken = inputs["old_per_token_logps"] + 3.0 * (MASK == 0)
    assert float(made.compute_loss(made.model, {**inputs, "old_per_token_logps": shaken}).detach()) == whole
    assert float(made.compute_loss(made.model, ignored).detach()) != whole


def test_attempts_of_older_weights_are_refused(base: Path, tmp_path: Path) -> None:
    made = trainer(base, tmp_path, "token_loss")
    inputs, _ = rows(made)
    made.state.global_step = 1
    with pytest.raises(WhetError, match=r"step 1 would learn from attempts of the weights at step 0; at most 1 steps"):
        made.compute_loss(made.model, inputs)
    twice = trainer(base, tmp_path, "token_loss", updates=2)
    twice.state.global_step = 1
    twice.compute_loss(twice.model, inputs)


def test_advantages_are_zero_in_a_flat_group() -> None:
    assert advantages(torch.tensor([0.3, 0.3, 0.0, 1.0]), 2)[:2].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(("scale", "dearer"), [("group", 1.0), ("batch", 20.0), ("none", 20.0)])
def test_what_an_error_costs_at_one_task_beside_another_counts_unless_groups_are_scaled_apart(
    base: Path, tmp_path: Path, scale: str, dearer: float
) -> None:
    """Of the first task a wrong verdict loses 20 of what is right, of the second 1."""
    rewards = [1.0, -19.0, 1.0, -19.0, 1.0, 0.0, 1.0, 0.0]
    ids = {"prompt_ids": [[6, 7, 8]] * 8, "completion_ids": [[9, 10]] * 8, "env_mask": [[1, 1]] * 8}
    made = trainer(base, tmp_path, "dynamic", lambda *_: {**ids, "reward": rewards, "logprobs": None}, scale=scale)
    scored = made._generate_and_score_completions([{"prompt": "0"} for _ in rewards])
    costly, cheap = scored["advantages"].abs().view(2, 4).mean(1).tolist()
    assert costly / cheap == pytest.approx(dearer, rel=1e-3)
