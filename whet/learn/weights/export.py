"""Trained weights in forms that others take: an adapter, a whole model; and train tasks as rows for other trainers."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from whet.envs.base import Environment
from whet.errors import WhetError
from whet.files import atomic_file
from whet.models.hf.adapter import BASE, CONFIG, WEIGHTS
from whet.models.hf.address import read_address
from whet.models.hf.folder import Folder
from whet.models.hf.model import SCHEME
from whet.models.hf.safetensors import save_model
from whet.rollout.chat import chat_message
from whet.rollout.placement import place
from whet.types import Ask, Playbook


def write_adapter(address: str, out: Path) -> Path:
    """The adapter of `hf:BASE+ADAPTER` alone, without what a trainer keeps beside it."""
    folder = read_address(address.removeprefix(SCHEME))
    adapter = folder.adapter
    if adapter is None:
        raise WhetError(f"{address} has no adapter: it is a whole model already")

    def fill(beside: Path) -> None:
        for name in (CONFIG, WEIGHTS, BASE):
            if (adapter / name).is_file():
                shutil.copyfile(adapter / name, beside / name)

    return _whole(out, fill)


def write_merged(address: str, out: Path) -> Path:
    """The model with its adapter in its weights: a folder that needs neither base nor peft."""
    folder = read_address(address.removeprefix(SCHEME))
    return _whole(out, lambda beside: _merge(folder, beside))


def write_dataset(env: Environment, tasks: Sequence[int], playbook: Playbook, out: Path) -> int:
    """Train tasks as JSON lines for a trainer of another make; returns how many were written."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(out) as file:
            written = 0
            for row in dataset_rows(env, tasks, playbook):
                file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE, default=str))
                written += 1
    except OSError as problem:
        raise WhetError(f"{out}: cannot be written ({problem.strerror})") from None
    return written


def dataset_rows(env: Environment, tasks: Sequence[int], playbook: Playbook) -> Iterator[dict[str, Any]]:
    """`messages` up to the first reply, what kind of task it is, and the truth that a reward is made from."""
    for index in tasks:
        task = env.task("train", index)
        play = env.play(task)
        first = next(play)
        play.close()
        if not isinstance(first, Ask):
            continue  # begins with a work: there is no prompt without doing it
        yield {
            "messages": [chat_message(message) for message in place(playbook, first.messages)],
            "task": task.id,
            "task_type": task.label.kind,
            "difficulty": task.label.difficulty,
            "group_label": task.truth,
        }


def _merge(folder: Folder, out: Path) -> None:
    from whet.learn.weights.base import open_base
    from whet.models.hf.adapter import laid_over

    base = open_base(folder, "cpu", full=True)
    module = base.module if folder.adapter is None else laid_over(base.module, folder.adapter, whole=True)
    save_model(module, out)
    base.processor.save_pretrained(out)


def _whole(out: Path, fill: Callable[[Path], None]) -> Path:
    """A folder that is there when it is whole, and never written over another."""
    if out.exists():
        raise WhetError(f"{out} is there already; name another folder, or remove it")
    beside = out.with_name(f".{out.name}.{os.getpid()}.unfinished")
    try:
        beside.mkdir(parents=True)
        fill(beside)
        beside.replace(out)
    except OSError as problem:
        raise WhetError(f"{out}: cannot be written ({problem.strerror or problem})") from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return out
