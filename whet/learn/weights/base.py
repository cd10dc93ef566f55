"""The base that is trained: its module and tokenizer in memory, checked for what would spoil a training silently."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import transformers

from whet.errors import WhetError
from whet.models.hf.folder import Folder


@dataclass(frozen=True, slots=True)
class Base:
    """A loaded model that can be trained, and what turns its conversations into tokens."""

    folder: Folder
    module: Any
    processor: Any
    device: str

    @property
    def tokenizer(self) -> Any:
        return getattr(self.processor, "tokenizer", self.processor)

    @property
    def ends(self) -> frozenset[int]:
        """The tokens that end a reply."""
        told = self.module.generation_config.eos_token_id
        listed = told if isinstance(told, list) else [told]
        return frozenset(token for token in [*listed, self.tokenizer.eos_token_id] if token is not None)


def open_base(folder: Folder, device: str = "", *, full: bool = False) -> Base:
    """Load a folder for training: bfloat16 on a GPU where an adapter trains, float32 elsewhere.

    Weights that train themselves stay in float32: in bfloat16 small steps would be rounded away.
    """
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    dtype = torch.bfloat16 if device.startswith("cuda") and not full else torch.float32
    where, offline = str(folder.path), {"local_files_only": True, "trust_remote_code": False}
    kind = transformers.AutoModelForImageTextToText if folder.sees else transformers.AutoModelForCausalLM
    reader = transformers.AutoProcessor if folder.sees else transformers.AutoTokenizer
    transformers.utils.logging.disable_progress_bar()
    try:
        processor = reader.from_pretrained(where, **offline)
        module = kind.from_pretrained(where, dtype=dtype, **offline)
    except (OSError, ValueError, KeyError, ImportError, RuntimeError) as problem:
        said = " ".join(str(problem).split())[:300]
        raise WhetError(f"{where} cannot be loaded for training: {said}") from None
    base = Base(folder, module, processor, device)
    _refuse_unfit(base)
    module.config.use_cache = True
    base.tokenizer.padding_side = "left"
    base.tokenizer.clean_up_tokenization_spaces = False
    _give_padding(base)
    return base


def _refuse_unfit(base: Base) -> None:
    where, tokenizer = base.folder.path, base.tokenizer
    if not (getattr(base.processor, "chat_template", None) or tokenizer.chat_template):
        raise WhetError(
            f"{where} has no chat template: a base model cannot hold a conversation; take the instruct model, or add "
            "chat_template.jinja"
        )
    rows = base.module.get_input_embeddings().weight.shape[0]
    if len(tokenizer) > rows:
        raise WhetError(
            f"{where}: its tokenizer knows {len(tokenizer)} tokens, its weights hold {rows}: the vocabulary is of "
            "another model; take tokenizer and weights from one place"
        )
    if getattr(base.module.config, "quantization_config", None) is not None:
        raise WhetError(f"{where} is quantised: train the weights that it was made from")
    if not base.ends:
        raise WhetError(f"{where} names no end token, so no reply would ever end: set eos_token in its tokenizer")


def _give_padding(base: Base) -> None:
    """Something to pad with; where padding is the end of a turn, another token stands for it in memory."""
    tokenizer = base.tokenizer
    if tokenizer.pad_token_id is None or tokenizer.pad_token_id in base.ends:
        spare = tokenizer.unk_token_id
        usable = spare is not None and spare not in base.ends
        tokenizer.pad_token_id = spare if usable else tokenizer.eos_token_id
    base.module.config.get_text_config().pad_token_id = tokenizer.pad_token_id
    base.module.generation_config.pad_token_id = tokenizer.pad_token_id
