"""Folders of tiny random weights, made from configs: a language model, and one that also sees images."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers.models.llava_next.image_processing_pil_llava_next import LlavaNextImageProcessorPil

SPECIALS = ("<pad>", "<|end|>", "<image>", "<|system|>", "<|user|>", "<|assistant|>")

SEEING = (
    "{% for m in messages %}<|{{ m.role }}|>{% for p in m.content %}"
    "{% if p.type == 'image' %}<image>{% else %}{{ p.text }}{% endif %}{% endfor %}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
READING = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
    "{% if enable_thinking is defined and not enable_thinking %}<|system|>{% endif %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
LETTERS = "abcdefgh\n"
MERGES = [("a", "b"), ("c", "d"), ("ab", "cd"), ("e", "e")]
"""Tokens that are also spelt by others: what was drawn as a, b may come out as ab when it is tokenised again."""

GRID = [[32, 32], [32, 64], [64, 32]]
"""An image takes more or fewer tokens by its shape."""


def seeing_weights(
    folder: Path, *, width: int = 32, layers: int = 2, context: int = 512, template: str = SEEING, begins: bool = False
) -> Path:
    """A model for images and text, whose tokenizer pads on the right as saved."""
    torch.manual_seed(0)
    tokenizer = _tokenizer(begins)
    images = LlavaNextImageProcessorPil(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}, image_grid_pinpoints=GRID
    )
    processor = transformers.LlavaNextProcessor(
        images,
        tokenizer,
        patch_size=16,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=template,
    )
    vision = transformers.CLIPVisionConfig(
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        image_size=32,
        patch_size=16,
        projection_dim=32,
    )
    config = transformers.LlavaNextConfig(
        vision_config=vision,
        text_config=_text_config(len(tokenizer), width, layers, context),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        image_grid_pinpoints=GRID,
        vision_feature_layer=-1,
    )
    _save(folder, transformers.LlavaNextForConditionalGeneration(config), processor)
    return folder


def reading_weights(folder: Path, *, template: str | None = READING) -> Path:
    """A language model."""
    torch.manual_seed(0)
    tokenizer = _tokenizer()
    tokenizer.chat_template = template
    _save(folder, transformers.LlamaForCausalLM(_text_config(len(tokenizer), 32, 2)), tokenizer)
    return folder


def talking_weights(folder: Path, template: str, *, begins: bool = False) -> Path:
    """A language model of few letters, which ends replies often; with `begins`, its tokenizer adds a first token."""
    torch.manual_seed(0)
    pieces = [*SPECIALS, *LETTERS, *("".join(pair) for pair in MERGES)]
    bpe = Tokenizer(models.BPE(vocab={piece: at for at, piece in enumerate(pieces)}, merges=MERGES))
    bpe.decoder = decoders.Fuse()
    tokenizer = _fast(bpe, begins)
    tokenizer.chat_template = template
    _save(folder, transformers.LlamaForCausalLM(_text_config(len(tokenizer), 32, 2, 4096)), tokenizer)
    return folder


def _save(folder: Path, model: Any, processor: Any) -> None:
    transformers.utils.logging.disable_progress_bar()
    model.save_pretrained(folder)
    processor.save_pretrained(folder)


def _text_config(vocabulary: int, width: int, layers: int, context: int = 512) -> Any:
    return transformers.LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=width,
        intermediate_size=2 * width,
        num_hidden_layers=layers,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=context,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=None,
    )


def _tokenizer(begins: bool = False) -> Any:
    """A token for every byte, and the marks of a conversation."""
    pieces = [*SPECIALS, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    tokenizer = Tokenizer(models.BPE(vocab={piece: at for at, piece in enumerate(pieces)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return _fast(tokenizer, begins)


def _fast(tokenizer: Tokenizer, begins: bool) -> Any:
    """With `begins`, the system mark serves as the first token that the tokenizer adds to a text by itself."""
    first = {"bos_token": "<|system|>"} if begins else {}
    if begins:
        mark = ("<|system|>", SPECIALS.index("<|system|>"))
        tokenizer.add_special_tokens(list(SPECIALS))
        tokenizer.post_processor = processors.TemplateProcessing(single="<|system|> $A", special_tokens=[mark])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        eos_token="<|end|>",
        additional_special_tokens=list(SPECIALS[2:]),
        padding_side="right",
        **first,
    )
