"""Rows moved flush are read without a mask, and say of every token what they said behind their padding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from test_grpo_loss import trainer
from test_rows_by_length import parts
from trl import GRPOTrainer

from whet.learn.weights.flush import FlushRows, flush


def batch() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Tokens and mask of eight rows with padding on both sides, and which of the scored columns are real."""
    [held] = parts(1)
    ids = torch.cat([held["prompt_ids"], held["completion_ids"]], 1)
    return ids, torch.cat([held["prompt_mask"], held["completion_mask"]], 1), held["completion_mask"].bool()


def masks_seen(made: Any) -> list[torch.Tensor | None]:
    """What the model inside the trainer is given as a mask, call after call."""
    seen: list[torch.Tensor | None] = []
    inner = made.model.get_base_model().model
    inner.register_forward_pre_hook(lambda _, given, named: seen.append(named.get("attention_mask")), with_kwargs=True)
    return seen


def test_the_scores_and_their_gradient_are_those_of_rows_behind_padding(base: Path, tmp_path: Path) -> None:
    made = trainer(base, tmp_path, "baseline")
    made.model.eval()
    ids, mask, real = batch()
    found = []
    for ask in (GRPOTrainer._get_per_token_logps_and_entropies, type(made)._get_per_token_logps_and_entropies):
        made.model.zero_grad()
        logps, entropies, _ = ask(made, made.model, ids, mask, real.shape[1], compute_entropy=True)
        assert logps.shape == entropies.shape == real.shape
        logps[real].sum().backward()
        grads = [tensor.grad.flatten() for tensor in made.model.parameters() if tensor.grad is not None]
        found.append((logps[real].detach(), entropies[real].detach(), torch.cat(grads)))
    for plain, moved in zip(*found, strict=True):
        torch.testing.assert_close(moved, plain, rtol=1e-4, atol=1e-5)


def test_no_mask_reaches_the_model_where_padding_is_behind(base: Path, tmp_path: Path) -> None:
    made = trainer(base, tmp_path, "baseline")
    seen = masks_seen(made)
    ids, mask, real = batch()
    made._get_per_token_logps_and_entropies(made.model, ids, mask, real.shape[1])
    assert seen == [None]
    made.model(input_ids=ids, attention_mask=mask)
    assert torch.equal(seen[1], mask)  # type: ignore[arg-type]


def test_moved_rows_are_as_wide_as_the_longest_and_begin_at_once() -> None:
    ids, mask, real = batch()
    rows = FlushRows(mask, real.shape[1])
    moved = rows.moved_mask(mask)
    assert not flush(mask)
    assert flush(moved)
    assert moved.shape == rows.move(ids).shape == (8, int(mask.sum(1).max()))
    assert torch.equal(moved.sum(1), mask.sum(1))
    for row, held, kept in zip(rows.move(ids), ids, mask.bool(), strict=True):
        assert row[: int(kept.sum())].tolist() == held[kept].tolist()


def test_a_row_whose_end_is_masked_out_does_no_harm() -> None:
    """As with completions that were cut short and shall teach nothing."""
    mask = torch.tensor([[0, 1, 1, 0, 0], [1, 1, 1, 1, 1]])
    rows = FlushRows(mask, 2)
    said = torch.arange(2 * rows.scored).view(2, -1)
    assert rows.back(said).shape == (2, 2)
    assert rows.back(said)[1].tolist() == said[1, -2:].tolist()
