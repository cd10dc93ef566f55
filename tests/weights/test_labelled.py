"""On a processor the head scores the positions that are learnt, and nothing else changes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from small_world import sft_config
from test_grpo_loss import rows as play_rows
from test_grpo_loss import trainer
from trl.trainer import utils

from whet.learn.weights import segment
from whet.learn.weights.base import open_base
from whet.learn.weights.checkpoint import Shelf
from whet.learn.weights.labelled import CHOICE, labels_alone
from whet.learn.weights.segment import SegmentClock, SegmentOrder, SegmentParts, quiet
from whet.learn.weights.sft import IGNORED, ConversationTrainer, trainer_of
from whet.learn.weights.trainable import set_trainable
from whet.models.hf.folder import read_folder


@dataclass(frozen=True, slots=True)
class Step:
    loss: float
    gradient: torch.Tensor
    scored: int


def imitator(base: Path, work: Path) -> ConversationTrainer:
    config = sft_config(base, sft={"source": "oracle", "batch": 2}, tune={"steps": 4, "segment": 4})
    order = SegmentOrder(1, 4, None, Shelf(work), config.tune, 0)
    held = open_base(read_folder(str(base)))
    module, _ = set_trainable(held.module, config.tune)
    clock = SegmentClock(order, SegmentParts(lambda *_: None), {}, order.snapshots)
    noise = torch.Generator().manual_seed(3)
    for name, weight in module.named_parameters():
        if "lora_B" in name:  # which is zero at first, so that nothing would reach lora_A
            weight.data.normal_(std=0.1, generator=noise)
    with quiet():
        made = trainer_of(order, held, module, [{"input_ids": [7], "labels": [7]}], 2, work, clock)
    made.current_gradient_accumulation_steps = 1
    return made


def conversation(learnt: int, read: int) -> dict[str, torch.Tensor]:
    """Two rows of so many tokens, the last `learnt` of the first learnt and one less of the other."""
    ids = torch.randint(6, 18, (2, read), generator=torch.Generator().manual_seed(learnt))
    labels = torch.full_like(ids, IGNORED)
    for row, own in enumerate((learnt, learnt - 1)):
        labels[row, read - own :] = ids[row, read - own :] if own > 0 else labels[row, read:]
    return {"input_ids": ids, "labels": labels, "attention_mask": torch.ones_like(ids)}


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """At how many positions the vocabulary was scored, call after call."""
    counts: list[int] = []
    plain = utils._ChunkedLogProbFunction.apply

    def apply(hidden: torch.Tensor, *given: Any) -> Any:
        counts.append(len(hidden))
        return plain(hidden, *given)

    monkeypatch.setattr(utils._ChunkedLogProbFunction, "apply", apply)
    return counts


def step(made: Any, inputs: dict[str, Any], seen: list[int]) -> Step:
    seen.clear()
    made.model.zero_grad()
    with quiet():
        loss = made.training_step(made.model, dict(inputs), num_items_in_batch=torch.tensor(5))
    grads = [tensor.grad.flatten() for tensor in made.model.parameters() if tensor.grad is not None]
    return Step(float(loss), torch.cat(grads), sum(seen))


def test_positions_that_are_learnt_are_scored_and_no_others(
    base: Path, tmp_path: Path, seen: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, said = imitator(base, tmp_path), conversation(3, 40)
    few = step(made, said, seen)
    as_trl: Callable[[], AbstractContextManager[None]] = nullcontext
    monkeypatch.setattr(segment, "labels_alone", as_trl)
    all_of_them = step(made, said, seen)
    assert few.scored == 3 + 2
    assert all_of_them.scored == 2 * 39  # if TRL scores fewer by itself one day, this page is not needed
    assert few.loss == pytest.approx(all_of_them.loss, abs=1e-6)
    assert float(few.gradient.abs().max()) > 1e-4
    torch.testing.assert_close(few.gradient, all_of_them.gradient, rtol=1e-4, atol=1e-6)


def test_a_part_in_which_nothing_is_learnt_moves_nothing(base: Path, tmp_path: Path, seen: list[int]) -> None:
    silent = step(imitator(base, tmp_path), conversation(0, 12), seen)
    assert (silent.loss, silent.scored, float(silent.gradient.abs().max())) == (0.0, 0, 0.0)


def test_attempts_are_scored_where_something_was_said(base: Path, tmp_path: Path, seen: list[int]) -> None:
    made = trainer(base, tmp_path, "token_loss")
    inputs, _ = play_rows(made)
    seen.clear()
    with labels_alone():
        made.compute_loss(made.model, inputs)
    assert sum(seen) == int(inputs["completion_mask"].sum())


def test_trl_chooses_for_itself_again_afterwards() -> None:
    before = getattr(utils, CHOICE)
    with labels_alone():
        assert getattr(utils, CHOICE)(torch.device("cpu"))
        assert getattr(utils, CHOICE)(torch.device("meta")) == before(torch.device("meta"))
    assert getattr(utils, CHOICE) is before
    with suppress(KeyError), labels_alone():
        raise KeyError
    assert getattr(utils, CHOICE) is before
