"""Trained weights as a GGUF file, which the embedded model loads: adapter merged, tokenizer and chat template included.

Where the base was a GGUF file its tokenizer is copied as it stands there; elsewhere it is read from tokenizer.json, and
refused where llama.cpp has no name for the way in which it cuts words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from whet.errors import WhetError
from whet.models.embedded.gguf import DEFAULT, find_weights
from whet.models.hf.address import read_address, split
from whet.models.hf.folder import Folder
from whet.models.hf.model import SCHEME

NumberType = Literal["f32", "f16", "q8_0"]
NUMBER_TYPES: tuple[NumberType, ...] = get_args(NumberType)

Rows = np.ndarray[Any, np.dtype[np.float32]]

_BLOCK = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
_AROUND = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}

_LLAMA3_CUT = r"\p{N}{1,3}"
_QWEN_CUT = r"|\p{N}|"


def write_gguf(address: str, out: Path, kind: NumberType = "f16") -> Path:
    """The weights that `address` names as one file; it is there when it is whole, and never written over another."""
    if out.exists():
        raise WhetError(f"{out} is there already; name another file, or remove it")
    named = address.removeprefix(SCHEME)
    folder = read_address(named)
    source, _ = split(named)
    beside = out.with_name(f".{out.name}.unfinished")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        _write(folder, _source_file(source), beside, kind)
        beside.replace(out)
    except OSError as problem:
        raise WhetError(f"{out}: cannot be written ({problem.strerror or problem})") from None
    finally:
        beside.unlink(missing_ok=True)
    return out


def _source_file(base: str) -> Path | None:
    """The GGUF file that a base was unpacked from; None where it is a folder."""
    path = Path(base).expanduser()
    return find_weights(base) if base == DEFAULT or (path.suffix == ".gguf" and path.is_file()) else None


def _write(folder: Folder, source: Path | None, out: Path, kind: NumberType) -> None:
    import gguf

    from whet.learn.weights.base import open_base
    from whet.models.hf.adapter import laid_over

    base = open_base(folder, "cpu", full=True)
    module = base.module if folder.adapter is None else laid_over(base.module, folder.adapter, whole=True)
    config = module.config
    _refuse_unlike_llama(config, folder.path)
    writer = gguf.GGUFWriter(str(out), "llama")
    writer.add_name(folder.path.name)
    _add_shape(writer, config)
    if source is not None:
        copy_tokenizer(writer, gguf.GGUFReader(str(source)))
    else:
        read_bytes_tokenizer(folder.path, base.tokenizer, config.vocab_size).add_to(writer)
    writer.add_file_type(getattr(gguf.LlamaFileType, {"f32": "ALL_F32", "f16": "MOSTLY_F16"}.get(kind, "MOSTLY_Q8_0")))
    for name, rows in _tensors(module, config):
        _add_tensor(writer, name, rows, kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _refuse_unlike_llama(config: Any, where: Path) -> None:
    """Only what is written here is written: another architecture would load and talk nonsense."""
    rope = (getattr(config, "rope_parameters", None) or {}).get("rope_type", "default")
    unlike = {
        f"its architecture is {config.model_type}": config.model_type != "llama",
        "its layers have biases": getattr(config, "attention_bias", False) or getattr(config, "mlp_bias", False),
        f"its positions are scaled ({rope})": rope != "default",
    }
    why = next((reason for reason, holds in unlike.items() if holds), "")
    if why:
        raise WhetError(
            f"{where} cannot be written as GGUF here: {why}; use whet export merged and llama.cpp's converter"
        )


def _add_shape(writer: Any, config: Any) -> None:
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(float(config.rope_parameters["rope_theta"]))
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_vocab_size(config.vocab_size)


# --------------------------------------------------------------------------------------------- tensors


def _tensors(module: Any, config: Any) -> Iterator[tuple[str, Rows]]:
    """Every tensor under its name in a file; one that has none there is an error, not a loss."""
    heads = {"self_attn.q_proj": config.num_attention_heads, "self_attn.k_proj": config.num_key_value_heads}
    for name, tensor in module.state_dict().items():
        stem = name.removesuffix(".weight")
        if stem == "lm_head" and config.tie_word_embeddings:
            continue
        rows: Rows = tensor.detach().float().numpy()
        if stem in _AROUND:
            yield f"{_AROUND[stem]}.weight", rows
            continue
        number, _, part = stem.removeprefix("model.layers.").partition(".")
        if part not in _BLOCK:
            raise WhetError(f"{name} has no place in a GGUF file of a llama")
        yield f"blk.{number}.{_BLOCK[part]}.weight", _in_pairs(rows, heads[part]) if part in heads else rows


def _in_pairs(rows: Rows, heads: int) -> Rows:
    """The rows of a head as a file has them, turned in pairs; transformers has first and second halves."""
    halves = rows.reshape(heads, 2, rows.shape[0] // heads // 2, *rows.shape[1:])
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(rows.shape))


def _add_tensor(writer: Any, name: str, rows: Rows, kind: NumberType) -> None:
    """Vectors stay in float32, as do rows that do not divide into the blocks of a quantised type."""
    import gguf

    if kind == "f32" or rows.ndim == 1 or (kind == "q8_0" and rows.shape[-1] % 32):
        writer.add_tensor(name, np.ascontiguousarray(rows))
    elif kind == "f16":
        writer.add_tensor(name, rows.astype(np.float16))
    else:
        packed = gguf.GGMLQuantizationType.Q8_0
        writer.add_tensor(name, gguf.quants.quantize(rows, packed), raw_dtype=packed)


# --------------------------------------------------------------------------------------------- the tokenizer


def copy_tokenizer(writer: Any, source: Any) -> None:
    """All that the source says of its tokenizer, the chat template included, value for value."""
    for key, entry in source.fields.items():
        if not key.startswith("tokenizer."):
            continue
        inner = entry.types[1] if len(entry.types) > 1 else None
        writer.add_key_value(key, entry.contents(), entry.types[0], inner)


@dataclass(frozen=True, slots=True)
class BytesTokenizer:
    """A tokenizer of merged bytes in the words of a GGUF file. `cut` is llama.cpp's name for how it cuts words."""

    cut: str
    tokens: tuple[str, ...]
    types: tuple[int, ...]
    merges: tuple[str, ...]
    special: dict[str, int]
    template: str

    def add_to(self, writer: Any) -> None:
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre(self.cut)
        writer.add_token_list(list(self.tokens))
        writer.add_token_types(list(self.types))
        writer.add_token_merges(list(self.merges))
        writer.add_add_space_prefix(False)
        writer.add_add_bos_token(False)  # a chat template writes what a prompt begins with
        for name, token in self.special.items():
            getattr(writer, f"add_{name}_token_id")(token)
        writer.add_chat_template(self.template)


def read_bytes_tokenizer(folder: Path, tokenizer: Any, rows: int) -> BytesTokenizer:
    """The tokenizer of a model folder; `rows` are the tokens that its weights hold."""
    from gguf import TokenType

    try:
        whole = json.loads((folder / "tokenizer.json").read_bytes())
    except (OSError, ValueError):
        raise WhetError(f"{folder} has no tokenizer.json, which the tokenizer of a GGUF file is made from") from None
    cut = _cut_name(whole, folder)
    model = whole["model"]
    added = {entry["id"]: entry for entry in whole.get("added_tokens") or ()}
    named = {number: token for token, number in model["vocab"].items()}
    named |= {number: entry["content"] for number, entry in added.items()}
    tokens, types = [], []
    for number in range(rows):
        token = named.get(number)
        control = added.get(number, {}).get("special", False)
        own = TokenType.CONTROL if control else TokenType.USER_DEFINED if number in added else TokenType.NORMAL
        tokens.append(f"[PAD{number}]" if token is None else token)
        types.append(int(TokenType.UNUSED if token is None else own))
    merges = tuple(merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"])
    asked = {name: getattr(tokenizer, f"{name}_token_id") for name in ("bos", "eos", "unk", "pad")}
    special = {name: number for name, number in asked.items() if number is not None}
    return BytesTokenizer(cut, tuple(tokens), tuple(types), merges, special, tokenizer.chat_template)


def _cut_name(whole: dict[str, Any], folder: Path) -> str:
    """What llama.cpp calls the way in which a tokenizer cuts a text before it merges bytes."""
    before = whole.get("pre_tokenizer") or {}
    steps = before.get("pretokenizers", [before])
    kinds = [step.get("type") for step in steps]
    patterns = [str((step.get("pattern") or {}).get("Regex", "")) for step in steps]
    if (whole.get("model") or {}).get("type") == "BPE" and not whole.get("normalizer"):
        if kinds == ["ByteLevel"] and steps[0].get("use_regex", True):
            return "gpt-2"
        if kinds == ["Digits", "ByteLevel"] and steps[0].get("individual_digits"):
            return "smollm"
        if kinds == ["Split", "ByteLevel"] and _LLAMA3_CUT in patterns[0]:
            return "llama-bpe"
        if kinds == ["Split", "ByteLevel"] and _QWEN_CUT in patterns[0]:
            return "qwen2"
    raise WhetError(
        f"{folder}: its tokenizer cuts words in a way that has no name here ({', '.join(map(str, kinds))}); use whet "
        "export merged and llama.cpp's converter"
    )
