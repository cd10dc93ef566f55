"""A GGUF file as a folder of weights, converted once and kept: what is trained, and what an adapter is laid over.

Quantised tensors are unpacked to float32. The copy must not say that it is quantised, or it could not be saved again;
its chat template and its end token are checked, because a reply that never ends teaches nothing.
"""

from __future__ import annotations

import copy
import io
import os
import shutil
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

from whet.errors import WhetError
from whet.extras import install
from whet.models.embedded.gguf import find_weights, read_weights
from whet.models.hf.safetensors import save_model

VERSION = "2"
"""Of the conversion: a copy made by another is not used."""


def converted(identifier: str) -> Path:
    """The folder that holds the weights of a GGUF file; made the first time."""
    file = find_weights(identifier)
    place = _shelf() / f"{file.stem}-{read_weights(file).digest[:12]}-{VERSION}"
    if not (place / "config.json").is_file():
        _convert(file, place)
    return place


def _shelf() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "whet" / "weights"


def _convert(file: Path, place: Path) -> None:
    """Written beside and renamed: after a kill there is a whole folder or none."""
    beside = place.with_name(f".{place.name}.{os.getpid()}.part")
    beside.mkdir(parents=True, exist_ok=True)
    try:
        _write(file, beside)
        try:
            beside.replace(place)
        except OSError:
            if not (place / "config.json").is_file():  # another process was as fast, or the place is damaged
                raise
    except OSError as problem:
        raise WhetError(f"{place}: the converted weights cannot be written ({problem.strerror or problem})") from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _write(file: Path, folder: Path) -> None:
    model, tokenizer = _unpacked(file)
    if not tokenizer.chat_template:
        raise WhetError(f"{file} has no chat template: a base model cannot hold a conversation")
    ends = end_of_reply(tokenizer)
    if ends is None or model.generation_config.eos_token_id is None:
        raise WhetError(f"{file}: its chat template ends a reply with no special token: replies would never end")
    # Some versions of transformers read another token off the file than the one that its template writes.
    tokenizer.eos_token = ends
    model.config.eos_token_id = model.generation_config.eos_token_id = tokenizer.eos_token_id
    if model.get_input_embeddings().weight.shape[0] < len(tokenizer):
        raise WhetError(f"{file}: {len(tokenizer)} tokens in its vocabulary, fewer in its weights: a damaged file")
    tokenizer.clean_up_tokenization_spaces = False
    tokenizer.save_pretrained(folder)
    save_model(model, folder)


def _unpacked(file: Path) -> tuple[Any, Any]:
    """Model and tokenizer of a GGUF file, in float32 and with nothing left that says quantised."""
    try:
        import gguf  # noqa: F401 - transformers reads the file with it
        import torch
        import transformers
    except ImportError as missing:
        raise WhetError(f"{file}: converting it needs {missing.name}; run: {install('train')}") from None
    transformers.utils.logging.disable_progress_bar()
    where = {"gguf_file": file.name, "local_files_only": True}
    try:
        with redirect_stderr(io.StringIO()):  # it draws bars of its own
            tokenizer = transformers.AutoTokenizer.from_pretrained(str(file.parent), **where)
            held = transformers.AutoModelForCausalLM.from_pretrained(str(file.parent), dtype=torch.float32, **where)
    except (OSError, ValueError, KeyError, RuntimeError, NotImplementedError) as problem:
        said = " ".join(str(problem).split())[:300]
        raise WhetError(f"transformers {transformers.__version__} cannot read {file}: {said}") from None
    config = copy.deepcopy(held.config)
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    model.load_state_dict(held.state_dict(), strict=True)
    model.generation_config = held.generation_config
    return model, tokenizer


_SAID = "here stood a reply"


def end_of_reply(tokenizer: Any) -> str | None:
    """The token that the chat template writes after a reply; None where it is a piece of text like any other."""
    talk = [{"role": "user", "content": "?"}, {"role": "assistant", "content": _SAID}]
    after = tokenizer.apply_chat_template(talk, tokenize=False).partition(_SAID)[2].lstrip()
    known = {str(token) for token in tokenizer.added_tokens_decoder.values()} | set(tokenizer.all_special_tokens)
    return max((token for token in known if token and after.startswith(token)), key=len, default=None)
