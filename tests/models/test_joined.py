"""Layers computed as one product, norms as one kernel: the same numbers, whoever is asked first; nothing is held."""

from __future__ import annotations

from typing import Any

import torch
from models.test_decoder import by_generate, model_of, prompts
from models.test_folded import adapted, shaken
from torch import nn

from whet.models.hf.folded import FoldedAdapters
from whet.models.hf.joined import joined_layers
from whet.models.hf.norms import FusedNorms


def dense(model: Any) -> list[Any]:
    return [layer for layer in model.modules() if hasattr(layer, "lora_A")]


def test_each_layer_gets_its_own_part_in_any_order_also_after_an_update() -> None:
    model = adapted().to(torch.bfloat16).eval()
    folded = FoldedAdapters(model)
    assert len(folded._joined) == 4
    chance = torch.Generator().manual_seed(2)
    for seed in (1, 2):
        shaken(model, seed)
        folded.fold()
        for group in folded._joined:
            width = group.layers[0].base_layer.weight.shape[1]
            x, y = (torch.randn(1, 3, width, generator=chance).to(torch.bfloat16) for _ in range(2))
            with torch.no_grad():
                wanted = {id(given): [layer(given) for layer in group.layers] for given in (x, y)}
                with folded.in_place():
                    for given in (x, y, x):
                        for at in (*range(len(group.layers)), 0):
                            heard = group.layers[at](given)
                            torch.testing.assert_close(heard, wanted[id(given)][at], rtol=0.05, atol=0.2)
                    group.layers[-1](x)
            assert group._read is None
            assert group._parts == ()


def test_layers_are_joined_only_where_that_is_cheap_and_right() -> None:
    model = adapted().to(torch.bfloat16)
    layers = dense(model)
    assert len(joined_layers(model, layers, lambda _: 4)) == 4
    assert joined_layers(model, layers, lambda _: 4, most=1000) == []
    whole = adapted()
    assert joined_layers(whole, dense(whole), lambda _: 4) == []
    assert joined_layers(model, layers[1:], lambda _: 4)[0].layers[0] is not layers[0]
    layers[0].base_layer.bias = nn.Parameter(torch.zeros(layers[0].base_layer.out_features))
    assert len(joined_layers(model, layers, lambda _: 4)) == 3


def test_drawing_takes_fewer_operations_than_with_layers_apart() -> None:
    """What a GPU starts one by one: the products of a pass."""
    model = adapted().to(torch.bfloat16).eval()
    ids = torch.tensor([prompts(1)[0]])

    def products() -> int:
        with torch.no_grad(), torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as seen:
            model(input_ids=ids)
        return sum(event.name in ("aten::mm", "aten::addmm") for event in seen.events())

    apart = FoldedAdapters(model)
    apart._joined = []
    joined = FoldedAdapters(model)
    counts = []
    for folded in (apart, joined):
        folded.fold()
        with folded.in_place():
            counts.append(products())
    assert counts[0] - counts[1] == 2 * 9  # two blocks, in each 3 + 3 + 2 + 2 products less 1 + 1 + 1 + 1, thrice


class RaisedNorm(nn.Module):
    """A norm that adds 1 to its weights."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight, self.variance_epsilon = nn.Parameter(torch.zeros(size)), 1e-6

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.variance_epsilon) * (1 + self.weight)


def test_a_norm_in_one_kernel_says_what_it_says_in_seven() -> None:
    model = model_of().eval()
    norms = FusedNorms(model)
    assert len(norms) == 5
    plain = by_generate(model, prompts(1)[0], 12)
    with norms.in_place():
        assert by_generate(model, prompts(1)[0], 12) == plain
    assert not any("forward" in module.__dict__ for module in model.modules())
    assert len(FusedNorms(model.to(torch.bfloat16))) == 5


def test_a_norm_of_another_kind_is_left_as_it_is() -> None:
    assert len(FusedNorms(nn.Sequential(RaisedNorm(8), nn.LayerNorm(8)))) == 0
