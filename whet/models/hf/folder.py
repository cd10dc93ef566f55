"""A folder of weights in the layout of transformers: what it holds, and the digest of its content."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from whet.errors import WhetError
from whet.keys import digest

_COUNTED = (".json", ".jinja", ".txt", ".model", ".safetensors", ".bin")
"""Files that a reply may depend on: config, vocabulary, chat template and weights."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A model folder: whether it sees images, how long its context is, and what stands for its content."""

    path: Path
    digest: str
    sees: bool
    context: int | None


def require_transformers() -> None:
    """Refuse early, in one line, where the libraries are absent."""
    if find_spec("torch") is None or find_spec("transformers") is None:
        raise WhetError("local weights need torch and transformers; run: pip install 'whet[train]'")


def read_folder(identifier: str) -> Folder:
    """What `hf:IDENTIFIER` names: a folder on this machine, never a name on a hub."""
    path = Path(identifier).expanduser()
    if not (path / "config.json").is_file():
        raise WhetError(f"hf:{identifier} is no model folder: it must hold config.json, a tokenizer and weights")
    try:
        config = json.loads((path / "config.json").read_bytes())
    except ValueError as problem:
        raise WhetError(f"{path / 'config.json'} cannot be read: {problem}") from None
    text = config.get("text_config", config)
    context = text.get("max_position_embeddings", config.get("max_position_embeddings"))
    sees = "vision_config" in config
    return Folder(path.resolve(), _content(path), sees, context if isinstance(context, int) else None)


def _content(path: Path) -> str:
    """A digest of every file that counts; each is read once for each of its states."""
    files = sorted(one for one in path.iterdir() if one.is_file() and one.suffix in _COUNTED)
    if not any(one.suffix in (".safetensors", ".bin") for one in files):
        raise WhetError(f"{path} holds no weights: there is no .safetensors file")
    states = [(one, one.stat()) for one in files]
    return digest("hf", [(one.name, _file(one, state.st_size, state.st_mtime_ns)) for one, state in states])


@lru_cache(maxsize=256)
def _file(path: Path, size: int, modified: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
