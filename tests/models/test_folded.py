"""Adapters folded for drawing: the same tokens as beside the layers, also after an update, and nothing is touched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import peft
import torch
from models.test_decoder import answers, by_generate, decoder_of, model_of, prompts

from whet.models.hf.adapter import laid_over
from whet.models.hf.folded import FoldedAdapters
from whet.types import Sampling

ASKED = [(prompt, Sampling(0.0, max_tokens=12)) for prompt in prompts(3, seed=5)]


def adapted(**more: Any) -> Any:
    """A model with adapters that say something, on every dense layer of its blocks."""
    model = peft.get_peft_model(
        model_of(), peft.LoraConfig(r=4, lora_alpha=16, target_modules="all-linear", lora_dropout=0.5, **more)
    )
    shaken(model, 0)
    return model


def shaken(model: Any, seed: int) -> None:
    """Weights of the adapters drawn anew, in place: an update."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "lora_B" in name:
                weight.normal_(std=0.3)


def replies(decoder: Any) -> list[list[int]]:
    return [list(row.completion_ids) for row in answers(decoder, ASKED)]


def expected(model: Any) -> list[list[int]]:
    model.eval()
    return [by_generate(model, prompt, sampling.max_tokens) for prompt, sampling in ASKED]


def test_folded_adapters_say_what_they_say_beside_the_layers_also_after_an_update() -> None:
    model = adapted()
    decoder = decoder_of(model)
    first = replies(decoder)
    assert first == expected(model)
    shaken(model, 1)
    second = replies(decoder)
    assert second == expected(model)
    assert second != first


def test_an_adapter_that_is_switched_off_is_not_in_the_sums() -> None:
    model = adapted()
    decoder = decoder_of(model)
    spoken = replies(decoder)
    with model.disable_adapter():
        silent = replies(decoder)
        assert silent == expected(model)
    assert silent != spoken
    assert replies(decoder) == spoken


def test_drawing_leaves_the_layers_and_their_weights_as_they_were() -> None:
    model = adapted()
    model.train()
    before = {name: weight.clone() for name, weight in model.named_parameters()}
    replies(decoder_of(model))
    assert all(torch.equal(weight, before[name]) for name, weight in model.named_parameters())
    assert not any("forward" in layer.__dict__ for layer in model.modules())
    model(input_ids=torch.tensor([prompts(1)[0]])).logits.sum().backward()
    assert all(weight.grad is not None for name, weight in model.named_parameters() if "lora_" in name)


def test_what_is_no_plain_adapter_is_left_beside_its_layer() -> None:
    model = adapted(use_dora=True)
    assert len(FoldedAdapters(model)) == 0
    assert replies(decoder_of(model)) == expected(model)
    assert len(FoldedAdapters(adapted())) == 14


def test_in_half_numbers_adapters_stay_beside_the_layer_and_small_changes_are_kept() -> None:
    """A change too small for the base's numbers is lost in a sum; beside the layer it is there."""
    model = adapted().to(torch.bfloat16).eval()
    for name, weight in model.named_parameters():
        if "lora_" in name:
            weight.data = weight.data.float()
    folded = FoldedAdapters(model)
    layer = model.base_model.model.model.layers[0].self_attn.q_proj
    base = layer.base_layer.weight
    chance = torch.Generator().manual_seed(3)
    with torch.no_grad():
        layer.lora_B["default"].weight.mul_(1e-6)
        small = layer.scaling["default"] * layer.lora_B["default"].weight @ layer.lora_A["default"].weight
        assert torch.equal((base.float() + small).to(torch.bfloat16), base)
        base.zero_()
        folded.fold()
        x = torch.randn(5, layer.in_features, generator=chance)
        with folded.in_place():
            heard = layer(x.to(torch.bfloat16)).float()
            torch.testing.assert_close(heard, x @ small.T, rtol=0.05, atol=float(small.abs().max()) / 10)
            with model.disable_adapter():
                folded.fold()
                assert not layer(x.to(torch.bfloat16)).any()


def test_an_adapter_over_half_numbers_stays_beside_them_unless_a_whole_model_is_wanted(tmp_path: Path) -> None:
    adapted().save_pretrained(tmp_path)
    beside = laid_over(model_of().to(torch.bfloat16), tmp_path)
    assert len(FoldedAdapters(beside)) == 14
    assert all(replies(decoder_of(beside)))
    for merged in (
        laid_over(model_of().to(torch.bfloat16), tmp_path, whole=True),
        laid_over(model_of(), tmp_path),
    ):
        assert len(FoldedAdapters(merged)) == 0
    assert replies(decoder_of(merged)) == expected(adapted())
