"""Plays are drawn with the adapter merged; the base is what it was afterwards, to the bit."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from small_world import grpo_config

from whet.learn.weights.adapter_merge import adapter_merged
from whet.learn.weights.base import Base, open_base
from whet.learn.weights.live import LiveGenerator
from whet.learn.weights.trainable import set_trainable
from whet.models.hf.chat_form import ChatForm
from whet.models.hf.folder import read_folder


@pytest.fixture
def adapted(base: Path) -> Base:
    """With an adapter that changes something."""
    opened = open_base(read_folder(str(base)), "cpu")
    torch.manual_seed(0)
    module, _ = set_trainable(opened.module, grpo_config(base).tune)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if "lora_B" in name:
                parameter.normal_(std=0.3)
    return replace(opened, module=module.eval())


def scores(module: Any) -> torch.Tensor:
    with torch.no_grad():
        found: torch.Tensor = module(input_ids=torch.tensor([[5, 7, 9, 11]])).logits
    return found


def test_a_merged_adapter_says_the_same_and_leaves_no_trace(adapted: Base) -> None:
    module = adapted.module
    before = {name: value.clone() for name, value in module.state_dict().items()}
    beside = scores(module)
    with adapter_merged(module):
        layer = module.get_base_model().model.layers[0].self_attn.q_proj
        assert layer.merged
        torch.testing.assert_close(scores(module), beside, atol=1e-4, rtol=1e-4)
    assert not layer.merged
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())
    assert torch.equal(scores(module), beside)


def test_it_is_taken_out_when_plays_end_badly(adapted: Base) -> None:
    beside = scores(adapted.module)
    live = LiveGenerator(adapted, ChatForm("tiny", ""), 1.0, 4)
    with suppress(RuntimeError), live.at("s0001/0"):
        assert adapted.module.get_base_model().model.layers[0].self_attn.q_proj.merged
        raise RuntimeError("a play broke")
    live.close()
    assert torch.equal(scores(adapted.module), beside)


def test_in_bfloat16_it_stays_beside_its_base(adapted: Base) -> None:
    """Merged there, its small changes would be rounded away."""
    adapted.module.to(torch.bfloat16)
    with adapter_merged(adapted.module):
        assert not adapted.module.get_base_model().model.layers[0].self_attn.q_proj.merged
