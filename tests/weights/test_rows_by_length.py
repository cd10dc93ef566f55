"""Rows put together by length cost less and teach the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from test_grpo_loss import trainer

from whet.learn.weights.mix import SftMix
from whet.learn.weights.play_trainer import VERSION, PlayTrainer
from whet.learn.weights.presets import GRPO_PRESETS, PresetName
from whet.learn.weights.rows_by_length import _parted, pack, trim

PROMPTS, COMPLETIONS = (2, 9, 3, 8, 2, 9, 4, 8), (12, 3, 2, 5, 4, 12, 3, 2)


def parts(window: int = 4) -> list[dict[str, Any]]:
    """Eight rows of very different lengths in `window` parts, padded as TRL pads them."""
    noise = torch.Generator().manual_seed(7)
    prompt = torch.tensor([[0] * (9 - n) + [1] * n for n in PROMPTS])
    reach = torch.tensor([[1] * n + [0] * (12 - n) for n in COMPLETIONS])
    rows = {
        "prompt_ids": torch.randint(6, 18, (8, 9), generator=noise) * prompt,
        "prompt_mask": prompt,
        "completion_ids": torch.randint(6, 18, (8, 12), generator=noise) * reach,
        "completion_mask": reach,
        "tool_mask": (torch.rand(8, 12, generator=noise) < 0.7).long() * reach,
        "old_per_token_logps": -3 + torch.rand(8, 12, generator=noise),
        "ref_per_token_logps": -3 + torch.rand(8, 12, generator=noise),
        "advantages": torch.randn(8, generator=noise),
        VERSION: torch.zeros(8),
    }
    items = (rows["tool_mask"] * reach).sum()
    size = 8 // window
    return [
        {**{name: value[at : at + size] for name, value in rows.items()}, "num_items_in_batch": items}
        for at in range(0, 8, size)
    ]


def gradient(made: PlayTrainer, batches: list[dict[str, Any]]) -> tuple[float, torch.Tensor]:
    made.model.zero_grad()
    made.current_gradient_accumulation_steps = made.args.steps_per_generation = len(batches)
    made.args.gradient_accumulation_steps = len(batches)
    total = 0.0
    for made._step, batch in enumerate(batches):
        loss = made.compute_loss(made.model, batch)
        loss.backward()
        total += float(loss.detach())
    grads = [tensor.grad.flatten() for tensor in made.model.parameters() if tensor.grad is not None]
    return total, torch.cat(grads)


def columns(batches: list[dict[str, Any]]) -> int:
    return sum(part["prompt_ids"].numel() + part["completion_ids"].numel() for part in batches)


@pytest.mark.parametrize("name", list(GRPO_PRESETS))
def test_the_gradient_is_the_same_and_the_padding_is_gone(base: Path, tmp_path: Path, name: PresetName) -> None:
    made = trainer(base, tmp_path, name)
    loose, tight = parts(), pack(parts(), 4)
    assert columns(tight) < 0.7 * columns(loose)
    loss, grad = gradient(made, loose)
    packed_loss, packed_grad = gradient(made, tight)
    assert packed_loss == pytest.approx(loss, rel=1e-4, abs=1e-6)
    torch.testing.assert_close(packed_grad, grad, rtol=1e-3, atol=1e-5)


def test_rows_stay_within_their_optimizer_step() -> None:
    whole = parts()
    packed = pack(whole, 2)
    for start in (0, 2):
        before = sorted(value for part in whole[start : start + 2] for value in part["advantages"].tolist())
        after = sorted(value for part in packed[start : start + 2] for value in part["advantages"].tolist())
        assert before == after


def test_without_sorting_every_row_stays_where_it_is() -> None:
    for before, after in zip(parts(), pack(parts(), 4, sort=False), strict=True):
        assert before["advantages"].tolist() == after["advantages"].tolist()
        assert after["completion_ids"].shape[1] == int(before["completion_mask"].sum(1).max())


def test_a_row_with_a_hole_in_its_mask_is_read_to_its_end() -> None:
    part = parts(1)[0]
    part["completion_mask"] = torch.tensor([[1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]] * 8)
    assert trim(part)["completion_ids"].shape[1] == 3


def test_pictures_are_left_alone() -> None:
    whole = [{**part, "pixel_values": torch.zeros(3, 4)} for part in parts()]
    assert [sorted(part) for part in pack(whole, 4)] == [sorted(part) for part in whole]
    assert pack(whole, 4)[0]["prompt_ids"].shape == whole[0]["prompt_ids"].shape


def test_training_goes_through_packed_parts(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = trainer(base, tmp_path, "token_loss")
    made.args.gradient_accumulation_steps = made.args.steps_per_generation = 4
    whole = {name: torch.cat([part[name] for part in parts()]) for name in parts()[0] if name != "num_items_in_batch"}
    monkeypatch.setattr(
        made, "_generate_and_score_completions", lambda _: {**whole, "num_items_in_batch": torch.tensor(30)}
    )
    widths = []
    for step in range(4):
        made._step = step
        part = made._prepare_inputs([{}])
        widths.append((part["prompt_ids"].shape[1] + part["completion_ids"].shape[1]) * len(part["prompt_ids"]))
    assert widths == [2 * 21, 3 * 14, 3 * 8, 0]


@pytest.mark.parametrize("name", ["dynamic", "token_loss"])
def test_rows_that_teach_nothing_are_not_read_and_count_all_the_same(
    base: Path, tmp_path: Path, name: PresetName
) -> None:
    """A silent row has an empty mask; a mean over rows still divides by it."""
    made = trainer(base, tmp_path, name)

    def hushed() -> list[dict[str, Any]]:
        return [
            {**part, "tool_mask": part["tool_mask"] * torch.tensor([[1], [number % 2]])}
            for number, part in enumerate(parts())
        ]

    packed = pack(hushed(), 4)
    assert sum(len(part["advantages"]) for part in packed) == 6
    assert len(packed) == 4
    loss, grad = gradient(made, hushed())
    packed_loss, packed_grad = gradient(made, packed)
    assert packed_loss == pytest.approx(loss, rel=1e-4, abs=1e-6)
    torch.testing.assert_close(packed_grad, grad, rtol=1e-3, atol=1e-5)


def test_a_step_of_which_nothing_teaches_has_no_gradient(base: Path, tmp_path: Path) -> None:
    made = trainer(base, tmp_path, "dynamic")
    silent = [{**part, "tool_mask": torch.zeros_like(part["tool_mask"])} for part in parts()]
    loss, grad = gradient(made, pack(silent, 4))
    assert loss == 0.0
    assert not grad.any()


@pytest.mark.parametrize("seed", range(20))
def test_no_part_takes_more_memory_than_one_of_the_longest_rows(seed: int) -> None:
    chance = torch.Generator().manual_seed(seed)
    reach = torch.randint(1, 300, (64,), generator=chance)
    lengths = reach + torch.randint(1, 900, (64,), generator=chance)
    learnt = (torch.rand(64, generator=chance) < 0.6).tolist()
    parted = _parted(lengths.tolist(), reach.tolist(), learnt, 4)
    assert sorted(at for part in parted for at in part) == [at for at in range(64) if learnt[at]]
    assert len(parted) <= 16
    for part in parted:
        assert len(part) * max(lengths[part]) <= 4 * max(lengths)
        assert len(part) * max(reach[part]) <= 4 * max(reach)
    assert len(parted) <= -(-sum(learnt) // 4)


def test_short_rows_share_parts() -> None:
    """A step with a few long attempts and many short ones: a fifth of the parts that equally many rows would make."""
    lengths = [2000] * 16 + [400] * 240
    parted = _parted(lengths, [length // 4 for length in lengths], [True] * 256, 16)
    assert [len(part) for part in parted] == [16, 80, 80, 80]


def test_what_is_imitated_beside_them_counts_once_in_a_step(base: Path, tmp_path: Path) -> None:
    made = trainer(base, tmp_path, "dynamic")
    plain, _ = gradient(made, pack(parts(), 4))
    rows = [{"input_ids": [7, 8, 9, 10], "labels": [-100, 8, 9, 10]}] * 2
    made.mix = SftMix(rows, 0.5, 2, 0, 0)
    with torch.no_grad():
        imitated = float(made.mix.loss(made.model, 0))
    assert gradient(made, pack(parts(), 4))[0] == pytest.approx(plain + 0.5 * imitated, rel=1e-4)
