"""A GGUF file as a folder of weights: unpacked once, in float32, with its chat template and end token in order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import transformers
from tiny_gguf import TEMPLATE, write_gguf

from whet.errors import WhetError
from whet.models import ModelOptions, load_model
from whet.models.hf import conversion
from whet.models.hf.address import read_address
from whet.models.hf.verify import verify


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, torch.Tensor]]:
    """A quantised file, and the tensors that it stands for."""
    file = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    return file, write_gguf(file)


@pytest.fixture(scope="module")
def unpacked(held: tuple[Path, dict[str, torch.Tensor]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    file, _ = held
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        folder = read_address(str(file)).path
        patch.setattr(conversion, "_convert", lambda *_: pytest.fail("it was unpacked already"))
        assert read_address(str(file)).path == folder
        assert load_model(f"hf:{file}", ModelOptions()).context == 128
    return folder


def test_the_copy_is_fit_for_training(unpacked: Path) -> None:
    config = json.loads((unpacked / "config.json").read_text())
    assert "quantization_config" not in config
    assert config["dtype"] == "float32"
    checks = {check.name: check.status for check in verify(unpacked).checks}
    assert (checks["weights"], checks["end token"], checks["architecture"]) == ("ok", "ok", "ok")
    tokenizer = transformers.AutoTokenizer.from_pretrained(unpacked)
    assert tokenizer.eos_token == "<|im_end|>"
    assert tokenizer.decode(tokenizer("it 's , isn't it ?")["input_ids"]) == "it 's , isn't it ?"


def test_nothing_that_is_not_a_model_is_left_behind(unpacked: Path, tmp_path: Path) -> None:
    assert [place.name for place in unpacked.parent.iterdir()] == [unpacked.name]
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(64))
    with pytest.raises(WhetError):
        read_address(str(broken))


@pytest.mark.parametrize(
    ("template", "said"),
    [("", "has no chat template"), (TEMPLATE.replace("<|im_end|>", "<end>"), "ends a reply with no special token")],
)
def test_a_file_that_cannot_hold_a_conversation_is_refused(
    template: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_gguf(tmp_path / "odd.gguf", template)
    with pytest.raises(WhetError, match=said):
        read_address(str(tmp_path / "odd.gguf"))
    assert list((tmp_path / "cache" / "whet" / "weights").iterdir()) == []


def test_the_weights_are_those_of_the_file(unpacked: Path, held: tuple[Path, dict[str, torch.Tensor]]) -> None:
    found = transformers.AutoModelForCausalLM.from_pretrained(unpacked, dtype=torch.float32).state_dict()
    for name, wanted in held[1].items():
        torch.testing.assert_close(found[name], wanted, rtol=0, atol=1e-6)
