"""A gradient that is no number never reaches the weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from small_world import Hail, grpo_config
from test_segments import LOG, SETTINGS, trained
from trl import GRPOTrainer

from whet.errors import WhetError
from whet.learn.weights.finite import FiniteGuard, finite, steady_attention
from whet.models.hf.adapter import WEIGHTS
from whet.run.api import train


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """Steps whose gradient is no number, though their loss is one: what a faulty kernel does."""
    steps: set[int] = set()
    sound = GRPOTrainer._compute_loss

    def loss(self: Any, model: Any, inputs: Any) -> Any:
        value = sound(self, model, inputs)
        if self.state.global_step + 1 in steps:
            value.register_hook(lambda gradient: gradient * torch.nan)
        return value

    monkeypatch.setattr(GRPOTrainer, "_compute_loss", loss)
    return steps


def test_such_a_step_is_left_out_and_told(base: Path, tmp_path: Path, broken: set[int]) -> None:
    broken.add(2)
    news: list[str] = []
    config = grpo_config(base, **SETTINGS["grpo"], train={"test": 0}, gate={"name": "none"})
    result = train(config, env=Hail(), runs=tmp_path, name="run", watch=lambda course: news.extend(course.news()))
    rows = [json.loads(line) for line in (result.folder / LOG).read_text().splitlines()]
    assert len(rows) > 2
    assert rows[1]["grad_norm"] is None
    assert all(row["grad_norm"] is not None for row in rows[2:] if row["signal"])
    for place in sorted((result.folder / "checkpoints").glob("s*")):
        assert all(tensor.isfinite().all() for tensor in load_file(place / WEIGHTS).values())
    assert "  step 2: the gradient was not finite, so the step was left out" in news


def test_three_in_a_row_end_the_training(base: Path, tmp_path: Path, broken: set[int]) -> None:
    broken.update(range(1, 100))
    with pytest.raises(WhetError, match=r"not finite in 3 steps in a row, up to step 3: lower tune.lr"):
        trained(base, tmp_path)


def test_one_sound_step_begins_the_count_anew() -> None:
    guard, module = FiniteGuard(), torch.nn.Linear(2, 2)
    for step in range(1, 9):
        gradient = torch.full((2, 2), float("inf") if step % 3 else 1.0)
        module.weight.grad = gradient
        guard.look(module, step)
        assert (module.weight.grad is None) == bool(step % 3)
    assert guard.left_out == [1, 2, 4, 5, 7, 8]


def test_what_has_no_gradient_is_no_fault() -> None:
    assert finite([])
    assert finite([None, torch.ones(3)])
    assert not finite([torch.ones(3), torch.tensor([1.0, float("nan")])])


def test_training_does_without_the_kernel_that_fails_and_others_get_it_back() -> None:
    before = torch.backends.cuda.cudnn_sdp_enabled()
    with steady_attention():
        assert not torch.backends.cuda.cudnn_sdp_enabled()
    assert torch.backends.cuda.cudnn_sdp_enabled() == before
