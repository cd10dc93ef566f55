"""Attempts at one task in a line behind its prompt: what is said, what is learnt and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model
from small_world import Hail, grpo_config
from test_grpo_loss import trainer
from test_rows_by_length import gradient
from transformers import LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM
from trl.trainer.utils import add_fused_lm_head

from whet.learn.weights import shared
from whet.learn.weights.flush import read_causally
from whet.learn.weights.light import lighten
from whet.learn.weights.play_trainer import VERSION, PlayTrainer
from whet.learn.weights.presets import GRPO_PRESETS, PresetName
from whet.learn.weights.rows_by_length import pack
from whet.learn.weights.shared import Found, OneLine, SharedAttention, Stretch, Triple, one_line, reads_lines
from whet.run.api import train

PROMPTS, COMPLETIONS = (5, 8, 5, 8, 5, 8, 8, 5), (12, 3, 1, 5, 4, 12, 3, 2)


def parts(window: int = 4) -> list[dict[str, Any]]:
    """Four attempts at each of two tasks, mixed up as TRL mixes them, in `window` parts."""
    noise = torch.Generator().manual_seed(7)
    asked = {size: torch.randint(6, 18, (size,), generator=noise) for size in (5, 8)}
    prompt = torch.zeros(8, 9, dtype=torch.long)
    for row, size in enumerate(PROMPTS):
        prompt[row, 9 - size :] = asked[size]
    reach = torch.tensor([[1] * n + [0] * (12 - n) for n in COMPLETIONS])
    tools = (torch.rand(8, 12, generator=noise) < 0.7).long()
    tools[:, 0] = 1
    rows = {
        "prompt_ids": prompt,
        "prompt_mask": (prompt > 0).long(),
        "completion_ids": torch.randint(6, 18, (8, 12), generator=noise) * reach,
        "completion_mask": reach,
        "tool_mask": tools * reach,
        "old_per_token_logps": -3 + torch.rand(8, 12, generator=noise),
        "ref_per_token_logps": -3 + torch.rand(8, 12, generator=noise),
        "advantages": torch.randn(8, generator=noise),
        VERSION: torch.zeros(8),
    }
    items, size = (rows["tool_mask"] * reach).sum(), 8 // window
    return [
        {**{name: value[at : at + size] for name, value in rows.items()}, "num_items_in_batch": items}
        for at in range(0, 8, size)
    ]


def line_of(part: dict[str, Any]) -> OneLine:
    ids = torch.cat([part["prompt_ids"], part["completion_ids"]], 1)
    mask = torch.cat([part["prompt_mask"], part["completion_mask"]], 1)
    found = one_line(ids, mask, part["completion_ids"].shape[1])
    assert found is not None
    return found


# ---------------------------------------------------------------------------------------------- what is learnt


@pytest.mark.parametrize("name", list(GRPO_PRESETS))
def test_the_gradient_is_that_of_rows(base: Path, tmp_path: Path, name: PresetName) -> None:
    made = trainer(base, tmp_path, name)
    loss, grad = gradient(made, parts())
    made.lines = True
    for batches in (parts(), pack(parts(), 4, together=True)):
        own_loss, own_grad = gradient(made, batches)
        assert own_loss == pytest.approx(loss, rel=1e-4, abs=1e-6)
        torch.testing.assert_close(own_grad, grad, rtol=1e-3, atol=1e-5)


def test_where_nothing_is_learnt_more_rows_stand_in_a_line(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, part = trainer(base, tmp_path, "token_loss"), parts(1)[0]
    made.lines = True
    ids = torch.cat([part["prompt_ids"], part["completion_ids"]], 1)
    mask = torch.cat([part["prompt_mask"], part["completion_mask"]], 1)
    lines: list[int] = []
    plain = shared.one_line

    def seen(rows: torch.Tensor, *given: Any) -> OneLine | None:
        lines.append(len(rows))
        return plain(rows, *given)

    monkeypatch.setattr(shared, "one_line", seen)
    ask = made._get_per_token_logps_and_entropies
    learnt = ask(made.model, ids, mask, 12, batch_size=2)[0]
    assert lines == [2, 2, 2, 2]
    with torch.no_grad():
        told = ask(made.model, ids, mask, 12, batch_size=2)[0]
    assert lines[4:] == [8]
    torch.testing.assert_close(told, learnt.detach(), rtol=1e-4, atol=1e-5)


def test_a_prompt_is_read_once_and_nothing_is_padding() -> None:
    part = parts(1)[0]
    line = line_of(part)
    assert line.ids.shape[1] == (5 - 1) + (8 - 1) + sum(COMPLETIONS)
    assert line.prompts == 4 + 7
    rows = part["prompt_mask"].sum() + part["completion_mask"].sum()
    assert line.ids.shape[1] < 0.6 * int(rows)
    said = torch.arange(line.ids.shape[1], dtype=torch.float32)
    spread = line.spread(said[None] + 1)
    assert (spread > 0).long().tolist() == part["completion_mask"].tolist()
    labels = line.labels[0][line.places.clamp(max=line.ids.shape[1] - 1)] * part["completion_mask"]
    assert labels.tolist() == part["completion_ids"].tolist()


def test_a_row_of_which_nothing_is_scored_is_left_out() -> None:
    part = parts(1)[0]
    part["completion_mask"][3] = 0
    line = line_of(part)
    assert line.ids.shape[1] == 4 + 7 + sum(COMPLETIONS) - COMPLETIONS[3]
    assert not line.spread(torch.ones_like(line.ids, dtype=torch.float32))[3].any()
    part["completion_mask"][:] = 0
    ids = torch.cat([part["prompt_ids"], part["completion_ids"]], 1)
    assert one_line(ids, torch.cat([part["prompt_mask"], part["completion_mask"]], 1), 12) is None


def test_rows_without_a_prompt_to_share_are_left_as_rows() -> None:
    ids = torch.arange(12).reshape(2, 6)
    assert one_line(ids, torch.ones_like(ids), 5) is None
    assert one_line(ids, torch.ones_like(ids), 4) is not None


def test_a_whole_training_in_lines_learns(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a GPU: in lines and with light adapters, beside the generator that plays by the same weights."""
    made: list[int] = []

    def lightened(module: Any) -> None:
        made.append(lighten(module))
        read_causally(module)

    monkeypatch.setattr(PlayTrainer, "lines", None)
    monkeypatch.setattr("whet.learn.weights.grpo.read_causally", lightened)
    config = grpo_config(
        base,
        train={"test": 0, "select": 8},
        tune={"steps": 6, "segment": 6, "lr": 0.02},
        grpo={"groups": 6, "generations": 8, "refill": 6},
        gate={"name": "none"},
    )
    scored: list[OneLine] = []
    plain = shared.one_line
    monkeypatch.setattr(shared, "one_line", lambda *given: scored.append(plain(*given)) or scored[-1])  # type: ignore[func-returns-value, arg-type]
    result = train(config, env=Hail(), runs=tmp_path, name="lines")
    log = result.training.segments[0].log  # type: ignore[attr-defined]
    assert log[0]["solved"] < 0.1
    assert log[-1]["solved"] > 0.9
    assert made[0] > 0
    assert len(scored) > 6


# ---------------------------------------------------------------------------------------------- attention


def math(tokens: Triple, asks: Stretch, holds: Stretch, causal: bool, scale: float) -> Found:
    """`flash` as a page of algebra."""
    scores, values = _scores(tokens, asks, holds, causal, scale)
    sums = torch.logsumexp(scores, -1)
    return Found(torch.einsum("hqk,khd->qhd", (scores - sums[..., None]).exp(), values), sums)


def math_back(
    told: torch.Tensor, tokens: Triple, found: Found, asks: Stretch, holds: Stretch, causal: bool, scale: float
) -> Triple:
    scores, values = _scores(tokens, asks, holds, causal, scale)
    query, key, _ = tokens
    share = (scores - found.sums[..., None]).exp()
    moved = torch.einsum("qhd,khd->hqk", told, values)
    moved = share * (moved - (told * found.values).sum(-1).T[..., None])
    group = query.shape[1] // key.shape[1]
    keys = torch.einsum("hqk,qhd->khd", moved, query) * scale
    worth = torch.einsum("hqk,qhd->khd", share, told)
    asked = torch.einsum("hqk,khd->qhd", moved, key.repeat_interleave(group, 1)) * scale
    return asked, *(part.unflatten(1, (-1, group)).sum(2) for part in (keys, worth))  # type: ignore[return-value]


def _scores(
    tokens: Triple, asks: Stretch, holds: Stretch, causal: bool, scale: float
) -> tuple[torch.Tensor, torch.Tensor]:
    query, key, value = tokens
    group = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(group, 1), value.repeat_interleave(group, 1)
    scores = torch.einsum("qhd,khd->hqk", query, key) * scale
    mine = torch.bucketize(torch.arange(len(query)), asks.edges[1:], right=True)
    theirs = torch.bucketize(torch.arange(len(key)), holds.edges[1:], right=True)
    seen = mine[:, None] == theirs
    if causal:
        seen &= torch.arange(len(query))[:, None] >= torch.arange(len(key))
    return scores.masked_fill(~seen, -torch.inf), value


def test_two_halves_are_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """With grouped heads; forward and backward, beside attention with everything written down."""
    monkeypatch.setattr(shared, "flash", math)
    monkeypatch.setattr(shared, "flash_back", math_back)
    line = line_of(parts(1)[0])
    count = line.ids.shape[1]
    made = torch.Generator().manual_seed(3)
    tokens = [torch.randn(count, heads, 8, generator=made, dtype=torch.float64) for heads in (6, 2, 2)]
    weight = torch.randn(count, 6, 8, generator=made, dtype=torch.float64)
    found = []
    for whole in (True, False):
        own = [part.clone().requires_grad_() for part in tokens]
        if whole:
            turned = [part.transpose(0, 1)[None] for part in own]
            said = torch.nn.functional.scaled_dot_product_attention(
                *turned, attn_mask=line.mask(), scale=0.3, enable_gqa=True
            )[0].transpose(0, 1)
        else:
            said = SharedAttention.apply(*own, line, 0.3)
        (said * weight).sum().backward()
        found.append([said.detach(), *(part.grad for part in own)])
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs)


# ---------------------------------------------------------------------------------------------- which models


def talking(kind: Any, config: Any) -> Any:
    torch.manual_seed(0)
    model = get_peft_model(kind(config), LoraConfig(r=4, target_modules=["q_proj", "v_proj"]))
    add_fused_lm_head(model.get_base_model(), outputs=("log_probs", "entropy"))
    return model


SIZES = {"vocab_size": 60, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}


def test_a_model_is_tried_before_it_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    llama = talking(LlamaForCausalLM, LlamaConfig(**SIZES, num_key_value_heads=2, initializer_range=0.5))
    assert reads_lines(llama)
    assert llama.config._attn_implementation == "sdpa"
    sliding = talking(MistralForCausalLM, MistralConfig(**SIZES, num_key_value_heads=2, sliding_window=4))
    assert not reads_lines(sliding)
    # What looks at its neighbours in another way than attention says something else in a line.
    layer = llama.get_base_model().model.layers[0].mlp
    monkeypatch.setattr(layer, "forward", lambda x, plain=layer.forward: plain(x + x.roll(1, 1)))
    assert not reads_lines(llama)


def test_trying_draws_nothing_of_the_trainings_chance() -> None:
    llama = talking(LlamaForCausalLM, LlamaConfig(**SIZES, num_key_value_heads=2))
    before = torch.get_rng_state()
    reads_lines(llama)
    assert torch.equal(before, torch.get_rng_state())


# ---------------------------------------------------------------------------------------------- parts


def test_rows_of_one_prompt_come_into_one_part() -> None:
    packed = pack(parts(), 4, together=True)
    held = [set(part["prompt_mask"].sum(1).tolist()) for part in packed]
    assert sorted(len(part["advantages"]) for part in packed) == [0, 0, 4, 4]
    assert all(len(sizes) <= 1 for sizes in held)


def test_where_that_makes_more_parts_rows_go_by_length() -> None:
    """Three long attempts at each of four tasks, two rows a part: each task needs two parts, and there are six."""
    rows = {
        "prompt_ids": torch.arange(4).repeat_interleave(3)[:, None].expand(12, 2).contiguous() + 6,
        "prompt_mask": torch.ones(12, 2, dtype=torch.long),
        "completion_ids": torch.full((12, 20), 7),
        "completion_mask": torch.ones(12, 20, dtype=torch.long),
        "tool_mask": torch.ones(12, 20, dtype=torch.long),
        "advantages": torch.arange(12.0),
        VERSION: torch.zeros(12),
    }
    batches = [{name: value[at : at + 2] for name, value in rows.items()} for at in range(0, 12, 2)]
    packed = pack(batches, 6, together=True)
    assert len(packed) == 6
    assert sorted(value for part in packed for value in part["advantages"].tolist()) == list(range(12))
