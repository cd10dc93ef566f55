"""A GGUF file of a tiny language model: quantised, with a tokenizer of bytes, as files of real models are laid out."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
import torch

WIDTH, INNER, BLOCKS, HEADS, SHARED, CONTEXT = 64, 128, 2, 4, 2, 128

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)

SPECIALS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")


def write_gguf(file: Path, template: str = TEMPLATE) -> dict[str, torch.Tensor]:
    """Write the file; returns what its tensors are when they are unpacked, by their names in transformers."""
    writer = gguf.GGUFWriter(str(file), "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(BLOCKS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(SHARED)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    tokens = [*SPECIALS, *_letters(), "th"]
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    control, normal = gguf.TokenType.CONTROL, gguf.TokenType.NORMAL
    writer.add_token_types([control if token in SPECIALS else normal for token in tokens])
    writer.add_token_merges(["t h"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_pad_token_id(2)
    if template:
        writer.add_chat_template(template)
    held = _write_tensors(writer, len(tokens))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return held


def _write_tensors(writer: gguf.GGUFWriter, vocabulary: int) -> dict[str, torch.Tensor]:
    random = np.random.default_rng(0)
    shapes = {"token_embd": ("embed_tokens", (vocabulary, WIDTH), 0)}
    for block in range(BLOCKS):
        one, theirs, shared = f"blk.{block}.", f"layers.{block}.", WIDTH * SHARED // HEADS
        shapes |= {
            f"{one}attn_q": (f"{theirs}self_attn.q_proj", (WIDTH, WIDTH), HEADS),
            f"{one}attn_k": (f"{theirs}self_attn.k_proj", (shared, WIDTH), SHARED),
            f"{one}attn_v": (f"{theirs}self_attn.v_proj", (shared, WIDTH), 0),
            f"{one}attn_output": (f"{theirs}self_attn.o_proj", (WIDTH, WIDTH), 0),
            f"{one}ffn_gate": (f"{theirs}mlp.gate_proj", (INNER, WIDTH), 0),
            f"{one}ffn_up": (f"{theirs}mlp.up_proj", (INNER, WIDTH), 0),
            f"{one}ffn_down": (f"{theirs}mlp.down_proj", (WIDTH, INNER), 0),
            f"{one}attn_norm": (f"{theirs}input_layernorm", (WIDTH,), 0),
            f"{one}ffn_norm": (f"{theirs}post_attention_layernorm", (WIDTH,), 0),
        }
    shapes["output_norm"] = ("norm", (WIDTH,), 0)
    held = {}
    for name, (theirs, shape, heads) in shapes.items():
        drawn = random.normal(size=shape).astype(np.float32)
        if len(shape) == 1:
            writer.add_tensor(f"{name}.weight", drawn)
            held[f"model.{theirs}.weight"] = torch.from_numpy(drawn)
            continue
        kind = gguf.GGMLQuantizationType.Q8_0
        packed = gguf.quants.quantize(drawn, kind)
        writer.add_tensor(f"{name}.weight", packed, raw_dtype=kind)
        unpacked = gguf.quants.dequantize(packed, kind)
        held[f"model.{theirs}.weight"] = torch.from_numpy(_in_halves(unpacked, heads) if heads else unpacked)
    return held


def _in_halves(rows: np.ndarray, heads: int) -> np.ndarray:
    """The rows of a head as transformers turns them, first half and second half; a file has them in pairs."""
    pairs = rows.reshape(heads, rows.shape[0] // heads // 2, 2, rows.shape[1])
    return np.ascontiguousarray(pairs.swapaxes(1, 2).reshape(rows.shape))


def _letters() -> list[str]:
    """Each byte as a letter, as tokenizers of bytes write them: those that cannot be seen stand further up."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    unseen = [byte for byte in range(256) if byte not in seen]
    return [chr(byte) for byte in seen] + [chr(256 + at) for at in range(len(unseen))]
