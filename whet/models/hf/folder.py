"""A folder of weights in the layout of transformers: what it holds, and the digest of its content."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

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
    adapter: Path | None = None
    """Laid over the weights; it is in the digest."""
    under: str = ""
    """With an adapter: the digest of the base alone."""


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


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file; empty where there is none that can be read."""
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def _content(path: Path) -> str:
    """A digest of every file that counts; each is read once for each of its states."""
    files = sorted(file for file in path.iterdir() if file.is_file() and file.suffix in _COUNTED)
    if not any(file.suffix in (".safetensors", ".bin") for file in files):
        raise WhetError(f"{path} holds no weights: there is no .safetensors file")
    return digest("hf", [(file.name, content_of(file)) for file in files])


def content_of(path: Path) -> str:
    """A digest of one file; it is read once for each of its states."""
    state = path.stat()
    return _file(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=256)
def _file(path: Path, size: int, modified: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
