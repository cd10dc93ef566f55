"""Whether a folder of weights is fit for training, found out without loading it: a check for each thing looked at."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from whet.errors import WhetError
from whet.models.embedded.gguf import read_weights
from whet.models.hf.folder import read_json
from whet.models.hf.safetensors import DamagedWeights, Tensors, read_tensors
from whet.models.hf.tokenizer import Tokenizer, read_tokenizer

Status = Literal["ok", "warn", "fail"]

NATIVE = ("Afmoe", "Glm4Moe", "Llama", "Qwen3Moe")
"""Architectures with an optimised implementation in prime-rl; others run through transformers."""

_VISION = ("vision_config", "vision_tower", "image_token_id", "image_token_index", "mm_vision_tower", "visual")
_END_OF_TURN = ("<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|eot|>", "<|end|>", "<|return|>", "</s>")


@dataclass(frozen=True, slots=True)
class WeightsCheck:
    """One thing looked at. `fail`: training would not work, or would teach the wrong thing."""

    name: str
    status: Status
    told: str


@dataclass(frozen=True, slots=True)
class WeightsVerdict:
    """All checks of one folder, and what it holds in a few words."""

    folder: Path
    checks: tuple[WeightsCheck, ...]

    @property
    def fit(self) -> bool:
        return not any(check.status == "fail" for check in self.checks)


def verify_source(source: str) -> WeightsVerdict:
    """A folder, a file, or a name of the Hub: of that only what is looked at is fetched, no weights."""
    from whet.models.hf.hub import fetch_outline, is_hub_name

    if not is_hub_name(source):
        return verify(Path(source))
    with tempfile.TemporaryDirectory(prefix="whet-hub-") as place:
        try:
            fetch_outline(source, Path(place))
        except DamagedWeights as damaged:
            return WeightsVerdict(Path(source), (WeightsCheck("weights", "fail", str(damaged)),))
        return WeightsVerdict(Path(source), verify(Path(place)).checks)


def verify(folder: Path) -> WeightsVerdict:
    """Open a model folder, or a GGUF file, and say whether it is fit for training and why not."""
    if not folder.exists():
        raise WhetError(f"{folder}: no such folder; give the folder that holds config.json")
    if folder.is_file() or (not (folder / "config.json").is_file() and any(folder.glob("*.gguf"))):
        return WeightsVerdict(
            folder, tuple(_gguf(folder if folder.is_file() else next(iter(sorted(folder.glob("*.gguf"))))))
        )
    if (folder / "adapter_config.json").is_file() and not (folder / "config.json").is_file():
        base = read_json(folder / "adapter_config.json").get("base_model_name_or_path", "its base model")
        return WeightsVerdict(
            folder, (WeightsCheck("config", "fail", f"an adapter, not a model: use it over {base}, hf:BASE+ADAPTER"),)
        )
    config = read_json(folder / "config.json")
    if not config:
        return WeightsVerdict(
            folder, (WeightsCheck("config", "fail", "no config.json that can be read: is this a model's folder?"),)
        )
    tensors = _tensors(folder)
    tokenizer = read_tokenizer(folder)
    checks = (
        *_architecture(config),
        *_weights(folder, tensors, config),
        *_chat(tokenizer),
        *_ends(config, read_json(folder / "generation_config.json"), tokenizer),
    )
    return WeightsVerdict(folder, checks)


def _gguf(path: Path) -> Iterator[WeightsCheck]:
    if path.suffix != ".gguf":
        raise WhetError(f"{path} is no folder and no GGUF file")
    weights = read_weights(path)
    tools = "its chat template knows tools" if weights.knows_tools else "its chat template knows no tools"
    yield WeightsCheck("weights", "ok", f"GGUF, context {weights.context}, {tools}: runs as embedded:{path}")
    told = f"through hf:{path}, which unpacks it once; the safetensors of the same model train more exactly"
    yield WeightsCheck("training", "warn", told)


def _architecture(config: dict[str, Any]) -> Iterator[WeightsCheck]:
    named = config.get("architectures") or []
    name = str(named[0]) if named else ""
    seen = [key for key in _VISION if key in config]
    if seen or "VL" in name or name.endswith("ForConditionalGeneration"):
        why = f"{name or 'it'} has vision parts ({', '.join(seen) or 'by its architecture'})"
        yield WeightsCheck(
            "architecture", "fail", f"{why}: vision-language models cannot be trained here; take the text model"
        )
    elif not name.endswith("ForCausalLM"):
        told = f"architecture {name or 'not named'}: a causal language model is needed (...ForCausalLM)"
        yield WeightsCheck("architecture", "fail", told)
    else:
        family = name.removesuffix("ForCausalLM")
        how = "native in prime-rl" if family in NATIVE else "through transformers (impl = hf)"
        yield WeightsCheck("architecture", "ok", f"{name}, {how}")
    if config.get("auto_map"):
        yield WeightsCheck(
            "code", "warn", "brings code of its own (auto_map): read it before you allow trust_remote_code"
        )
    if quantised := config.get("quantization_config"):
        method = quantised.get("quant_method", "unknown") if isinstance(quantised, dict) else "unknown"
        yield WeightsCheck("precision", "fail", f"quantised ({method}): train the weights that it was made from")


def _tensors(folder: Path) -> Tensors | DamagedWeights | None:
    try:
        return read_tensors(folder)
    except DamagedWeights as damaged:
        return damaged


def _weights(folder: Path, tensors: Tensors | DamagedWeights | None, config: dict[str, Any]) -> Iterator[WeightsCheck]:
    if isinstance(tensors, DamagedWeights):
        yield WeightsCheck("weights", "fail", str(tensors))
        return
    if tensors is None:
        pickled = any(folder.glob("pytorch_model*.bin"))
        told = (
            "only pickled weights (.bin): convert them to safetensors" if pickled else "no weights (model.safetensors)"
        )
        yield WeightsCheck("weights", "fail", told)
        return
    billions = tensors.parameters / 1e9
    size = f"{billions:.2f}B" if billions >= 0.1 else f"{tensors.parameters / 1e6:.0f}M"
    memory = f"about {16 * billions:.1f} GB to train in full, {2.5 * billions:.1f} GB with LoRA"
    told = f"{size} parameters as {', '.join(tensors.types)} in {tensors.files} files; {memory}, activations apart"
    yield WeightsCheck("weights", "ok", told)
    rows = next((shape[0] for name, shape in tensors.shapes.items() if name.endswith("embed_tokens.weight")), None)
    vocabulary = config.get("vocab_size")
    if rows is not None and isinstance(vocabulary, int) and rows != vocabulary:
        told = f"config.json says {vocabulary} tokens, the weights hold {rows}: one of them is of another model"
        yield WeightsCheck("vocabulary", "fail", told)


def _chat(tokenizer: Tokenizer | None) -> Iterator[WeightsCheck]:
    if tokenizer is None:
        yield WeightsCheck("tokenizer", "fail", "no tokenizer (tokenizer.json with tokenizer_config.json)")
    elif not tokenizer.template:
        told = "no chat template: a base model. Take the instruct model, or add chat_template.jinja"
        yield WeightsCheck("chat template", "fail", told)
    elif "tools" in tokenizer.template:
        yield WeightsCheck("chat template", "ok", "knows tools")
    else:
        yield WeightsCheck("chat template", "warn", "knows no tools: calls must be fenced (tools = 'fenced')")


def _ends(config: dict[str, Any], generation: dict[str, Any], tokenizer: Tokenizer | None) -> Iterator[WeightsCheck]:
    """A reply must end where the chat template ends a turn, for whoever generates; padding must be something else."""
    if tokenizer is None or not tokenizer.template:
        return
    turn = tokenizer.eos
    if turn not in tokenizer.template:
        turn = next((token for token in _END_OF_TURN if token in tokenizer.template), turn)
    told = {
        "tokenizer_config.json": {tokenizer.eos},
        "config.json": tokenizer.named(config.get("eos_token_id")),
        "generation_config.json": tokenizer.named(generation.get("eos_token_id")),
    }
    wrong = [
        f"{file} says {' or '.join(sorted(ends))}" for file, ends in told.items() if ends - {""} and turn not in ends
    ]
    if not turn:
        yield WeightsCheck("end token", "fail", "no end token is named: replies would never end; set eos_token")
    elif wrong:
        yield WeightsCheck("end token", "fail", f"turns end with {turn}, but {', '.join(wrong)}: set {turn} there")
    else:
        yield WeightsCheck("end token", "ok", f"{turn}, in all files")
    if not tokenizer.pad:
        yield WeightsCheck(
            "pad token", "warn", f"none: set pad_token to {tokenizer.spare(turn)}, which no turn ends with"
        )
    elif tokenizer.pad == turn:
        told_pad = f"{turn} is both end and padding: where padding is masked, the end is never learnt"
        yield WeightsCheck("pad token", "warn", f"{told_pad}; set pad_token to {tokenizer.spare(turn)}")
    else:
        yield WeightsCheck("pad token", "ok", tokenizer.pad)
