"""Whether a model folder is fit for training: folders made here, each wrong in one way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from whet.errors import WhetError
from whet.models.embedded.gguf import find_weights
from whet.models.hf.verify import WeightsVerdict, verify

TEMPLATE = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>{% endfor %}{{ tools }}"
TOKENS = [
    {"id": 0, "content": "<|endoftext|>"},
    {"id": 1, "content": "<|im_start|>"},
    {"id": 2, "content": "<|im_end|>"},
]


def safetensors(path: Path, shapes: dict[str, list[int]]) -> None:
    """A whole file: 4 bytes a number."""
    header: dict[str, Any] = {}
    at = 0
    for name, shape in shapes.items():
        size = 4 * shape[0] * shape[1]
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(at))


def model(folder: Path, **changes: Any) -> Path:
    """A sound model folder; a change replaces a file's fields, or takes the file away (None)."""
    files: dict[str, dict[str, Any]] = {
        "config": {"architectures": ["LlamaForCausalLM"], "vocab_size": 3, "eos_token_id": 2},
        "generation_config": {"eos_token_id": [2, 0]},
        "tokenizer_config": {"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "chat_template": TEMPLATE},
        "tokenizer": {"added_tokens": TOKENS},
    }
    folder.mkdir(exist_ok=True)
    for name, fields in files.items():
        change = changes.get(name, {})
        if change is not None:
            (folder / f"{name}.json").write_text(json.dumps({**fields, **change}))
    if changes.get("weights", True):
        safetensors(folder / "model.safetensors", {"model.embed_tokens.weight": [3, 4], "lm_head.weight": [3, 4]})
    return folder


def told(verdict: WeightsVerdict, name: str) -> tuple[str, str]:
    return next((check.status, check.told) for check in verdict.checks if check.name == name)


def test_a_sound_model_is_fit(tmp_path: Path) -> None:
    verdict = verify(model(tmp_path / "m"))
    assert verdict.fit
    assert {check.status for check in verdict.checks} == {"ok"}
    assert told(verdict, "architecture")[1] == "LlamaForCausalLM, native in prime-rl"
    assert told(verdict, "end token")[1] == "<|im_end|>, in all files"


@pytest.mark.parametrize(
    ("changes", "name", "said"),
    [
        ({"config": {"vision_config": {}}}, "architecture", "vision parts (vision_config)"),
        ({"config": {"architectures": ["Qwen3VLForConditionalGeneration"]}}, "architecture", "vision-language"),
        ({"config": {"architectures": ["BertModel"]}}, "architecture", "a causal language model is needed"),
        ({"config": {"architectures": []}}, "architecture", "not named"),
        ({"config": {"quantization_config": {"quant_method": "awq"}}}, "precision", "quantised (awq)"),
        ({"config": {"vocab_size": 5}}, "vocabulary", "says 5 tokens, the weights hold 3"),
        ({"weights": False}, "weights", "no weights"),
        ({"tokenizer": None}, "tokenizer", "no tokenizer"),
        ({"tokenizer_config": {"chat_template": None}}, "chat template", "a base model"),
        ({"tokenizer_config": {"eos_token": "<|endoftext|>"}}, "end token", "tokenizer_config.json says <|endoftext|>"),
        ({"config": {"eos_token_id": 0}}, "end token", "config.json says <|endoftext|>"),
        ({"generation_config": {"eos_token_id": 0}}, "end token", "generation_config.json says <|endoftext|>"),
        ({"generation_config": {"eos_token_id": 77}}, "end token", "generation_config.json says id 77"),
        ({"config": None}, "config", "no config.json"),
    ],
)
def test_what_makes_a_model_unfit_is_named(tmp_path: Path, changes: dict[str, Any], name: str, said: str) -> None:
    verdict = verify(model(tmp_path / "m", **changes))
    status, text = told(verdict, name)
    assert (status, verdict.fit) == ("fail", False)
    assert said in text


@pytest.mark.parametrize(
    ("changes", "name", "said"),
    [
        ({"tokenizer_config": {"pad_token": "<|im_end|>"}}, "pad token", "set pad_token to <|endoftext|>"),
        ({"tokenizer_config": {"pad_token": None}}, "pad token", "none: set pad_token to <|endoftext|>"),
        ({"tokenizer_config": {"chat_template": TEMPLATE.replace("{{ tools }}", "")}}, "chat template", "fenced"),
        ({"config": {"auto_map": {"AutoModel": "x.Y"}}}, "code", "trust_remote_code"),
    ],
)
def test_what_asks_for_care_leaves_a_model_fit(tmp_path: Path, changes: dict[str, Any], name: str, said: str) -> None:
    verdict = verify(model(tmp_path / "m", **changes))
    status, text = told(verdict, name)
    assert (status, verdict.fit) == ("warn", True)
    assert said in text


def test_an_architecture_without_a_native_implementation_runs_through_transformers(tmp_path: Path) -> None:
    verdict = verify(model(tmp_path / "m", config={"architectures": ["Olmo3ForCausalLM"]}))
    assert "through transformers" in told(verdict, "architecture")[1]


def test_a_template_in_a_file_of_its_own_counts(tmp_path: Path) -> None:
    folder = model(tmp_path / "m", tokenizer_config={"chat_template": None})
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    assert verify(folder).fit


def sharded(folder: Path) -> Path:
    model(folder, weights=False)
    safetensors(folder / "a.safetensors", {"model.embed_tokens.weight": [3, 4]})
    safetensors(folder / "b.safetensors", {"lm_head.weight": [3, 4]})
    where = {"model.embed_tokens.weight": "a.safetensors", "lm_head.weight": "b.safetensors"}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": where}))
    return folder


def test_all_shards_are_counted(tmp_path: Path) -> None:
    assert "in 2 files" in told(verify(sharded(tmp_path / "m")), "weights")[1]


def test_a_missing_shard_is_named(tmp_path: Path) -> None:
    folder = sharded(tmp_path / "m")
    (folder / "b.safetensors").unlink()
    assert told(verify(folder), "weights") == ("fail", "1 of 2 files of the index are not there, such as b.safetensors")


def test_a_shard_without_its_tensor_is_named(tmp_path: Path) -> None:
    folder = sharded(tmp_path / "m")
    safetensors(folder / "b.safetensors", {"other.weight": [3, 4]})
    assert "such as lm_head.weight in b.safetensors" in told(verify(folder), "weights")[1]


@pytest.mark.parametrize("cut", [3, 60, -1])
def test_a_file_that_was_cut_off_is_named(tmp_path: Path, cut: int) -> None:
    file = model(tmp_path / "m") / "model.safetensors"
    file.write_bytes(file.read_bytes()[:cut])
    status, text = told(verify(tmp_path / "m"), "weights")
    assert status == "fail"
    assert "download it again" in text


def test_pickled_weights_are_refused(tmp_path: Path) -> None:
    folder = model(tmp_path / "m", weights=False)
    (folder / "pytorch_model.bin").write_bytes(b"x")
    assert "only pickled weights" in told(verify(folder), "weights")[1]


def test_an_adapter_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text('{"base_model_name_or_path": "org/base"}')
    assert told(verify(tmp_path), "config") == (
        "fail",
        "an adapter, not a model: use it over org/base, hf:BASE+ADAPTER",
    )


def test_a_gguf_runs_and_is_unpacked_for_training() -> None:
    verdict = verify(find_weights("smollm2"))
    assert verdict.fit
    assert told(verdict, "weights")[0] == "ok"
    assert told(verdict, "training")[0] == "warn"


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="no such folder"):
        verify(tmp_path / "nowhere")
