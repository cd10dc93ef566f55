"""An adapter (LoRA) beside a base: which base it belongs to, what stands for its content, how it is laid over it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from whet.errors import WhetError
from whet.extras import install
from whet.files import write_json
from whet.keys import digest
from whet.models.hf.folder import Folder, content_of, read_json

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"

BASE = "base.json"
"""Beside an adapter that was trained here: the digest of the base, so that it is never laid over another."""


def adapter_digest(path: Path) -> str:
    """What stands for the content of an adapter."""
    if not (path / WEIGHTS).is_file():
        raise WhetError(f"{path} holds no adapter weights: there is no {WEIGHTS}")
    return digest("adapter", [(name, content_of(path / name)) for name in (CONFIG, WEIGHTS)])


def name_base(path: Path, base: Folder) -> None:
    """Write beside an adapter which base it belongs to. A path of this machine is no part of its content."""
    write_json(path / BASE, {"base": base.under or base.digest, "name": base.path.name})
    config = read_json(path / CONFIG)
    write_json(path / CONFIG, {**config, "base_model_name_or_path": base.path.name})


def refuse_other_base(path: Path, base: Folder) -> None:
    """An adapter that says which base it was trained on is refused over another."""
    told = read_json(path / BASE)
    if told and told.get("base") != base.digest:
        raise WhetError(
            f"{path} is an adapter for another base ({told.get('name')}, digest {str(told.get('base'))[:12]}); "
            f"{base.path} has the digest {base.digest[:12]}: name the base it was trained on"
        )


def laid_over(model: Any, path: Path, *, whole: bool = False) -> Any:
    """`model` with the adapter: merged in float32, and from there on an ordinary model, as fast as its base.

    In half numbers it stays beside the layers: a sum would be rounded to what the base can say, and what an adapter has
    learnt in small steps would be lost. `whole` merges in any case, for a model that is written out.
    """
    try:
        from peft import PeftModel
    except ImportError:
        raise WhetError(f"{path}: an adapter needs peft, not installed here; run: {install('train')}") from None
    try:
        adapted = PeftModel.from_pretrained(model, str(path))
        return adapted.merge_and_unload() if whole or str(model.dtype) == "torch.float32" else adapted.eval()
    except (RuntimeError, ValueError, KeyError, TypeError) as problem:
        said = " ".join(str(problem).split())[:200]
        base = model.config.name_or_path
        raise WhetError(f"{path} does not fit {base}: an adapter for another base? ({said})") from None
