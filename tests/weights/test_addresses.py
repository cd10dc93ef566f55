"""`hf:BASE+ADAPTER` in place of any model: which base an adapter belongs to is not left to luck."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError
from small_world import tiny
from tiny_weights import READING, reading_weights, talking_weights

from whet.config.load import validate
from whet.errors import WhetError
from whet.learn.weights.base import open_base
from whet.learn.weights.config import TuneSection
from whet.learn.weights.export import write_merged
from whet.learn.weights.trainable import set_trainable
from whet.models import ModelOptions, load_model
from whet.models.base import Request
from whet.models.hf.adapter import name_base
from whet.models.hf.address import split
from whet.models.hf.folder import read_folder
from whet.types import Sampling, user

TUNE = validate(TuneSection, {"blocks": 1, "rank": 4}, "test")


@pytest.fixture(scope="module")
def adapter(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An adapter that changes what the base says."""
    module, _ = set_trainable(open_base(read_folder(str(base))).module, TUNE)
    torch.manual_seed(1)
    for name, parameter in module.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.5)
    place = tmp_path_factory.mktemp("adapter+plus") / "a"
    module.save_pretrained(place)
    name_base(place, read_folder(str(base)))
    return place


def said(address: str) -> tuple[int, ...]:
    model = load_model(address, ModelOptions(extra={"dtype": "float32"}))
    request = Request((user("abc"),), Sampling(temperature=0.0, max_tokens=8))

    async def once() -> tuple[int, ...]:
        reply = await model.complete(request)
        await model.close()
        return reply.completion_ids

    return asyncio.run(once())


def test_an_adapter_is_laid_over_its_base(base: Path, adapter: Path) -> None:
    held = open_base(read_folder(str(base)))
    from peft import PeftModel

    module = PeftModel.from_pretrained(held.module, str(adapter)).eval()
    prompt = held.tokenizer("<|user|>abc<|end|><|assistant|>", return_tensors="pt", add_special_tokens=False)
    drawn = module.generate(**prompt, max_new_tokens=8, do_sample=False)[0, prompt["input_ids"].shape[1] :]
    assert said(f"hf:{base}+{adapter}") == tuple(drawn.tolist())
    assert said(f"hf:{base}+{adapter}") != said(f"hf:{base}")


def test_base_and_adapter_both_count(base: Path, adapter: Path, tmp_path: Path) -> None:
    plain, over = (load_model(address, ModelOptions()) for address in (f"hf:{base}", f"hf:{base}+{adapter}"))
    moved = tmp_path / "moved"
    shutil.copytree(adapter, moved)
    assert plain.fingerprint != over.fingerprint
    assert load_model(f"hf:{base}+{moved}", ModelOptions()).fingerprint == over.fingerprint


def test_an_adapter_for_another_base_is_refused(adapter: Path, base: Path, tmp_path: Path) -> None:
    other = tiny(tmp_path / "other", 3.0)
    with pytest.raises(WhetError, match=r"is an adapter for another base \(base, digest"):
        load_model(f"hf:{other}+{adapter}", ModelOptions())
    stray = tmp_path / "stray"
    shutil.copytree(adapter, stray)
    (stray / "base.json").unlink()
    wide = reading_weights(tmp_path / "wide")
    (wide / "config.json").write_text((wide / "config.json").read_text())
    with pytest.raises(WhetError, match="is no adapter: it must hold adapter_config"):
        load_model(f"hf:{base}+{tmp_path}", ModelOptions())


def test_a_plus_in_the_name_of_a_folder_is_part_of_it(tmp_path: Path, adapter: Path) -> None:
    folder = talking_weights(tmp_path / "a+b", READING)
    assert split(str(folder)) == (str(folder), "")
    assert split(f"{folder}+{adapter}") == (str(folder), str(adapter))


def test_an_export_that_does_not_fit_is_one_line_and_leaves_nothing(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise SafetensorError("Error while serializing: No space left on device")

    monkeypatch.setattr("transformers.PreTrainedModel.save_pretrained", full)
    with pytest.raises(WhetError, match=r"merged: cannot be written \(.*No space left on device\)"):
        write_merged(f"hf:{base}", tmp_path / "merged")
    assert not [*tmp_path.iterdir()]


def test_a_base_that_cannot_hold_a_conversation_is_named(tmp_path: Path, base: Path) -> None:
    with pytest.raises(WhetError, match="has no chat template: a base model cannot hold a conversation"):
        open_base(read_folder(str(reading_weights(tmp_path / "bare", template=None))))
    torn = tmp_path / "torn"
    shutil.copytree(base, torn)
    shutil.copy(reading_weights(tmp_path / "large") / "tokenizer.json", torn / "tokenizer.json")
    with pytest.raises(WhetError, match=r"its tokenizer knows \d+ tokens, its weights hold 19: the vocabulary is of"):
        open_base(read_folder(str(torn)))
