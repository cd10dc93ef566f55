"""Supervised training: TRL's trainer on conversations that are tokens already, learnt where the model speaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from datasets import Dataset
from transformers import set_seed
from trl import SFTConfig as TrlSftConfig
from trl import SFTTrainer
from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

from whet.envs.base import Environment
from whet.errors import WhetError
from whet.learn.weights.base import Base, open_base
from whet.learn.weights.config import SftConfig
from whet.learn.weights.flush import read_causally
from whet.learn.weights.light import lighten
from whet.learn.weights.segment import (
    SegmentClock,
    SegmentOrder,
    SegmentParts,
    SegmentResult,
    SegmentSteps,
    common_arguments,
    work_off,
)
from whet.learn.weights.traces import TokenScribe, Trace, gather_traces
from whet.learn.weights.trainable import set_trainable
from whet.models.hf.chat_form import ChatForm
from whet.models.hf.folder import Folder
from whet.rollout.session import works_of
from whet.types import Playbook

IGNORED = -100
"""The label of a token that is read and not learnt."""


class ConversationTrainer(SegmentSteps, SFTTrainer):  # type: ignore[misc]
    """TRL's supervised trainer."""


def rows_of(traces: Sequence[Trace]) -> list[dict[str, list[int]]]:
    """A row for each sequence; labels only where the model speaks."""
    return [
        {
            "input_ids": list(sequence.ids),
            "labels": [token if mark else IGNORED for token, mark in zip(sequence.ids, sequence.mask, strict=True)],
        }
        for trace in traces
        for sequence in trace.sequences
    ]


def sft_segment(
    order: SegmentOrder,
    config: SftConfig,
    env: Environment,
    tasks: Sequence[int],
    playbook: Playbook,
    folder: Folder,
    form: ChatForm,
) -> SegmentResult:
    """One segment of supervised training."""
    base = open_base(folder, config.tune.device, full=config.tune.method == "full")
    scribe = TokenScribe(base, form)
    gathered = gather_traces(config.sft, env, tasks, scribe, playbook, folder.context, works_of(config))
    rows = rows_of(gathered.traces)
    batch = config.sft.batch
    if batch % min(order.tune.micro, batch):
        raise WhetError(f"tune.micro = {order.tune.micro} does not divide sft.batch = {batch}")
    set_seed(order.seed)
    module, trains = set_trainable(base.module, config.tune, folder.adapter)

    def build(work: Path, clock: SegmentClock) -> Any:
        return trainer_of(order, base, module, rows, batch, work, clock)

    done = work_off(order, folder, SegmentParts(build))
    return replace(done, trains=str(trains), told=(*done.told, str(gathered)))


def trainer_of(
    order: SegmentOrder,
    base: Base,
    module: Any,
    rows: Sequence[dict[str, list[int]]],
    batch: int,
    work: Path,
    clock: SegmentClock,
) -> ConversationTrainer:
    arguments = TrlSftConfig(
        **common_arguments(order, work, base.device, batch),
        max_length=None,
        packing=False,
        dataset_kwargs={"skip_prepare_dataset": True},
        remove_unused_columns=False,
    )
    read_causally(module)
    if base.device.startswith("cuda"):
        lighten(module)
    return ConversationTrainer(
        model=module,
        args=arguments,
        train_dataset=Dataset.from_list(list(rows)),
        processing_class=base.tokenizer,
        data_collator=DataCollatorForLanguageModeling(pad_token_id=base.tokenizer.pad_token_id),
        callbacks=[clock],
    )
