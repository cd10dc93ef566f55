"""The registry's sizes against a count: python bench/model_sizes.py [--quick] [--json FILE]. Needs the extra `train`.

Models are built from their published dimensions by transformers, without memory for a weight, and their parameters are
counted. For some the dimensions are the defaults of their class; those of the others stand here.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from rows import Row, arguments, report

from whet.models.registry import registry

WITHIN = 0.01
"""Share by which a size may be rounded."""

DIMENSIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "openai/gpt-oss-120b": ("GptOssConfig", {}),
    "openai/gpt-oss-20b": ("GptOssConfig", {"num_hidden_layers": 24, "num_local_experts": 32}),
    "mistralai/mixtral-8x7b-instruct": ("MixtralConfig", {}),
    "deepseek/deepseek-v3.2": ("DeepseekV3Config", {}),
    "qwen/qwen3-30b-a3b-instruct-2507": (
        "Qwen3MoeConfig",
        {
            "vocab_size": 151936,
            "hidden_size": 2048,
            "num_hidden_layers": 48,
            "num_attention_heads": 32,
            "num_key_value_heads": 4,
            "head_dim": 128,
            "moe_intermediate_size": 768,
            "num_experts": 128,
            "tie_word_embeddings": False,
        },
    ),
    "meta-llama/llama-3.3-70b-instruct": (
        "LlamaConfig",
        {
            "vocab_size": 128256,
            "hidden_size": 8192,
            "intermediate_size": 28672,
            "num_hidden_layers": 80,
            "num_attention_heads": 64,
            "num_key_value_heads": 8,
        },
    ),
    "qwen/qwen-2.5-72b-instruct": (
        "Qwen2Config",
        {
            "vocab_size": 152064,
            "hidden_size": 8192,
            "intermediate_size": 29568,
            "num_hidden_layers": 80,
            "num_attention_heads": 64,
            "num_key_value_heads": 8,
            "tie_word_embeddings": False,
        },
    ),
}


def counted(kind: str, dimensions: dict[str, Any]) -> float:
    """Billions of parameters."""
    import torch
    import transformers

    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(getattr(transformers, kind)(**dimensions))
    return sum(weight.numel() for weight in model.parameters()) / 1e9


def sizes() -> Iterator[Row]:
    for name, (kind, dimensions) in DIMENSIONS.items():
        told = registry().get(name).params
        assert told is not None
        found = counted(kind, dimensions)
        holds = abs(found - told) <= WITHIN * told
        yield Row(f"size_{name}", found, "billion", told, holds, condition=f"registry {told:g}, by {kind}")


if __name__ == "__main__":
    options = arguments(__doc__)
    warnings.filterwarnings("ignore")
    report(sizes(), options.json)
