"""A GGUF file as a folder of weights: unpacked once, in float32, with its chat template and end token in order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import transformers

from whet.errors import WhetError
from whet.models import ModelOptions, load_model
from whet.models.embedded.gguf import find_weights
from whet.models.hf import conversion
from whet.models.hf.address import read_address
from whet.models.hf.verify import verify


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        folder = read_address("smollm2").path
        patch.setattr(conversion, "_convert", lambda *_: pytest.fail("it was unpacked already"))
        assert read_address(str(find_weights("smollm2"))).path == folder
        assert load_model("hf:smollm2", ModelOptions()).context == 8192
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


def test_the_weights_are_those_of_the_file(unpacked: Path) -> None:
    """A sentence that the model knows by heart is likely under the copy."""
    model = transformers.AutoModelForCausalLM.from_pretrained(unpacked, dtype=torch.float32)
    tokenizer = transformers.AutoTokenizer.from_pretrained(unpacked)
    ids = tokenizer("The capital of France is Paris.", return_tensors="pt")["input_ids"]
    with torch.no_grad():
        loss = model(input_ids=ids, labels=ids).loss
    assert float(loss) < 4
