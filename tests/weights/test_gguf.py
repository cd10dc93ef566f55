"""Trained weights as a GGUF file: llama.cpp says what transformers says, word for word."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_gguf import write_gguf as write_tiny

from whet.config.load import validate
from whet.errors import WhetError
from whet.learn.weights.base import open_base
from whet.learn.weights.config import TuneSection
from whet.learn.weights.export import write_merged
from whet.learn.weights.gguf_export import read_bytes_tokenizer, write_gguf
from whet.learn.weights.trainable import set_trainable
from whet.models import ModelOptions, load_model
from whet.models.base import Request
from whet.models.hf.adapter import name_base
from whet.models.hf.address import read_address
from whet.models.hf.folder import read_folder
from whet.types import Sampling, user

SAID = ("the 3 things", "other", "a b c 17")
TUNE = validate(TuneSection, {"blocks": 1, "rank": 4}, "test")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tiny base that was a GGUF file, with an adapter that changes what it says."""
    folder = tmp_path_factory.mktemp("gguf")
    write_tiny(folder / "tiny.gguf")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
        held = read_address(str(folder / "tiny.gguf"))
    torch.manual_seed(1)
    module, _ = set_trainable(open_base(held).module, TUNE)
    for name, parameter in module.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.5)
    module.save_pretrained(folder / "adapter")
    name_base(folder / "adapter", held)
    return f"hf:{folder / 'tiny.gguf'}+{folder / 'adapter'}"


@pytest.fixture(autouse=True)
def _cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))


def said(address: str) -> list[str]:
    """Replies at temperature 0. Bytes of a letter that the limit cut off are told by one and held back by the other."""
    extra: dict[str, Any] = {"dtype": "float32"} if address.startswith("hf:") else {}
    model = load_model(address, ModelOptions(context=128, extra=extra))

    async def all_of_it() -> list[str]:
        asked = [Request((user(text),), Sampling(temperature=0.0, max_tokens=8)) for text in SAID]
        replies = [(await model.complete(request)).text.rstrip("\ufffd") for request in asked]
        await model.close()
        return replies

    return asyncio.run(all_of_it())


def test_llama_cpp_says_what_transformers_says(trained: str, tmp_path: Path) -> None:
    file = write_gguf(trained, tmp_path / "out.gguf", "f32")
    assert said(f"embedded:{file}") == said(trained)
    assert said(trained) != said(trained.partition("+")[0])
    assert [place.name for place in tmp_path.iterdir()] == ["out.gguf"]


def test_a_folder_brings_its_own_tokenizer(trained: str, tmp_path: Path) -> None:
    merged = write_merged(trained, tmp_path / "merged")
    file = write_gguf(f"hf:{merged}", tmp_path / "out.gguf", "f32")
    assert said(f"embedded:{file}") == said(trained)


@pytest.mark.parametrize("kind", ["f16", "q8_0"])
def test_smaller_number_types_are_the_weights_rounded(trained: str, tmp_path: Path, kind: Any) -> None:
    file = write_gguf(trained, tmp_path / "out.gguf", kind)
    whole = open_base(read_folder(str(write_merged(trained, tmp_path / "merged")))).module.state_dict()
    back = open_base(read_address(str(file))).module.state_dict()
    assert set(back) == set(whole)
    for name, tensor in whole.items():
        assert (back[name] - tensor).abs().max() <= 0.01 * tensor.abs().max(), name


def test_the_command_finds_the_best_weights_and_names_what_is_wrong(
    trained: str, base: Path, tmp_path: Path, whet: Any
) -> None:
    told = whet("export", "gguf", trained, "-o", tmp_path / "a.gguf", "--type", "q8_0")
    assert told.code == 0, told.err
    assert "embedded:" in told.out
    assert "is there already" in whet("export", "gguf", trained, "-o", tmp_path / "a.gguf").err
    assert "no number type 'q4_0'" in whet("export", "gguf", trained, "-o", tmp_path / "b.gguf", "--type", "q4_0").err
    assert "say which file" in whet("export", "gguf", trained).err
    odd = whet("export", "gguf", base)  # a tokenizer of words
    assert odd.code == 2
    assert "cuts words in a way that has no name here" in odd.err


def test_a_model_that_would_load_and_talk_nonsense_is_refused(trained: str, tmp_path: Path) -> None:
    merged = write_merged(trained, tmp_path / "merged")
    config = json.loads((merged / "config.json").read_text())
    config["rope_parameters"] |= {"rope_type": "linear", "factor": 2.0}
    (merged / "config.json").write_text(json.dumps(config))
    with pytest.raises(WhetError, match=r"its positions are scaled \(linear\); use whet export merged"):
        write_gguf(f"hf:{merged}", tmp_path / "out.gguf")
    assert [place.name for place in tmp_path.iterdir()] == ["merged"]


def test_tokens_that_only_the_weights_have_are_filled_up(trained: str) -> None:
    folder = read_address(trained.removeprefix("hf:").partition("+")[0])
    tokenizer = open_base(folder).tokenizer
    made = read_bytes_tokenizer(folder.path, tokenizer, len(tokenizer) + 2)
    assert made.tokens[-2:] == (f"[PAD{len(tokenizer)}]", f"[PAD{len(tokenizer) + 1}]")
    assert made.special["eos"] == tokenizer.eos_token_id
