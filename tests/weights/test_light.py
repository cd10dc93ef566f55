"""Adapters and norms in fewer passes: the same numbers and gradients, fewer bytes; what is not plain is peft's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import LlamaConfig, LlamaForCausalLM

from whet.learn.weights.config import LINEAR
from whet.learn.weights.light import LightLora, LoraProduct, lighten


def model_of(dtype: torch.dtype = torch.float32, dropout: float = 0.0, seed: int = 0) -> Any:
    """A small llama with an adapter that says something, as a base in `dtype` with weights of float32 beside it."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=97,
        hidden_size=96,
        intermediate_size=256,
        num_hidden_layers=3,
        num_attention_heads=6,
        num_key_value_heads=2,
    )
    base = LlamaForCausalLM(config).to(dtype)
    wrapped = get_peft_model(base, LoraConfig(r=4, lora_alpha=8, lora_dropout=dropout, target_modules=list(LINEAR)))
    for name, parameter in wrapped.named_parameters():
        if "lora_" in name:
            parameter.data = torch.randn_like(parameter.data.float()) * 0.05
    return wrapped


def learnt(model: Any, autocast: bool = False) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """A loss and the gradients of all that trains."""
    ids = torch.arange(2 * 40).reshape(2, 40) * 7 % 97
    model.zero_grad()
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        loss = model(input_ids=ids, labels=ids).loss
    loss.backward()
    return loss.detach(), {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


def test_the_product_has_the_gradients_that_it_should() -> None:
    made = torch.Generator().manual_seed(1)
    shapes = ((2, 3, 5), (7, 5), (4, 5), (7, 4))
    x, weight, low, high = (torch.randn(shape, generator=made, dtype=torch.float64) for shape in shapes)
    leaves = [tensor.requires_grad_() for tensor in (x, low, high)]
    assert torch.autograd.gradcheck(lambda x, low, high: LoraProduct.apply(x, weight, low, high, 1.7), leaves)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_model_learns_the_same(seed: int) -> None:
    plain, light = model_of(seed=seed), model_of(seed=seed)
    assert lighten(light) == 3 * 7 + 7
    (loss, gradients), (ours, own) = learnt(plain), learnt(light)
    assert float(loss) == pytest.approx(float(ours), rel=1e-5)
    assert own.keys() == gradients.keys()
    assert len(own) == 2 * 3 * 7
    for name, gradient in gradients.items():
        assert torch.allclose(own[name], gradient, rtol=1e-3, atol=1e-6 + 1e-4 * float(gradient.abs().max())), name


def test_in_half_numbers_it_is_about_as_far_from_the_truth_as_before() -> None:
    _, truth = learnt(model_of().double())
    half, light = model_of(torch.bfloat16), model_of(torch.bfloat16)
    lighten(light)
    _, before = learnt(half, autocast=True)
    _, after = learnt(light, autocast=True)
    assert all(gradient.dtype == torch.float32 for gradient in after.values())
    assert _far(after, truth) <= 1.25 * _far(before, truth)


def _far(found: dict[str, torch.Tensor], truth: dict[str, torch.Tensor]) -> float:
    apart = sum(float((found[name].double() - truth[name]).square().sum()) for name in truth)
    return (apart / sum(float(value.square().sum()) for value in truth.values())) ** 0.5


PRODUCTS = ("mm", "attention")
LOOKS = ("view", "transpose", "detach", ".t.", "expand", "permute", "slice.Tensor", "unsqueeze")


class PassedBytes(TorchDispatchMode):
    """What operations read and write, products of matrices and attention apart. What only looks anew writes nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        name = str(func)
        if not any(word in name for word in (*PRODUCTS, *LOOKS)):
            self.bytes += sum(tensor.nbytes for tensor in _tensors((args, out)))
        return out


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _tensors(part)


def test_less_goes_through_memory() -> None:
    """By the adapters alone: on a processor a norm is several operations in any form."""
    plain, light = model_of(torch.bfloat16), model_of(torch.bfloat16)
    lighten(light)
    passed = []
    for model in (plain, light):
        with PassedBytes() as counted:
            learnt(model, autocast=True)
        passed.append(counted.bytes)
    assert passed[1] < 0.65 * passed[0], passed


def test_what_is_not_plain_is_left_to_peft() -> None:
    light = model_of()
    bare = [light(input_ids=torch.arange(9)[None]).logits]
    lighten(light)
    bare.append(light(input_ids=torch.arange(9)[None]).logits)
    assert torch.allclose(bare[0], bare[1], atol=1e-4)
    with light.disable_adapter():
        off = light(input_ids=torch.arange(9)[None]).logits
    assert not torch.allclose(off, bare[1], atol=1e-3)
    light.merge_adapter()
    assert torch.allclose(light(input_ids=torch.arange(9)[None]).logits, bare[1], atol=1e-4)


def test_dropout_is_drawn_as_peft_draws_it() -> None:
    plain, light = model_of(dropout=0.5), model_of(dropout=0.5)
    lighten(light)
    said = []
    for model in (plain, light):
        model.train()
        torch.manual_seed(3)
        said.append(model(input_ids=torch.arange(9)[None]).logits)
    assert torch.allclose(said[0], said[1], atol=1e-4)


def test_names_and_state_stay(tmp_path: Any) -> None:
    plain, light = model_of(), model_of()
    lighten(light)
    assert list(plain.state_dict()) == list(light.state_dict())
    assert any(isinstance(part, LightLora) for part in light.modules())
    assert lighten(light) == 0  # they are already
    light.save_pretrained(tmp_path)
    assert (tmp_path / "adapter_model.safetensors").exists()
