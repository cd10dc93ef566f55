"""What `hf:...` names: a folder, a GGUF file that is converted once, and over either an adapter (`hf:BASE+ADAPTER`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from whet.errors import WhetError
from whet.keys import digest
from whet.models.embedded.gguf import DEFAULT
from whet.models.hf.adapter import adapter_digest, refuse_other_base
from whet.models.hf.folder import Folder, read_folder

PLUS = "+"
"""Stands between a base and an adapter."""


def read_address(identifier: str) -> Folder:
    """The weights that `hf:IDENTIFIER` names, with the digest of all that a reply depends on."""
    base, adapter = split(identifier)
    folder = read_folder(base_folder(base))
    if not adapter:
        return folder
    path = Path(adapter).expanduser().resolve()
    refuse_other_base(path, folder)
    own = digest("hf+", folder.digest, adapter_digest(path))
    return replace(folder, digest=own, adapter=path, under=folder.digest)


def base_folder(base: str) -> str:
    """The folder of a base: itself, or what a GGUF file was converted to; `smollm2` is the default embedded model."""
    path = Path(base).expanduser()
    if path.is_dir() or not (path.suffix == ".gguf" or base == DEFAULT):
        return base
    from whet.models.hf.conversion import converted

    return str(converted(base))


def split(identifier: str) -> tuple[str, str]:
    """Base and adapter of an address; a folder whose name holds a plus is still a folder."""
    if PLUS not in identifier or Path(identifier).expanduser().exists():
        return identifier, ""
    for base, adapter in _cuts(identifier):
        if (Path(adapter).expanduser() / "adapter_config.json").is_file():
            return base, adapter
    base, _, adapter = identifier.rpartition(PLUS)
    raise WhetError(f"hf:{identifier}: {adapter or 'nothing'} is no adapter: it must hold adapter_config.json")


def _cuts(identifier: str) -> Iterator[tuple[str, str]]:
    parts = identifier.split(PLUS)
    for at in range(len(parts) - 1, 0, -1):
        yield PLUS.join(parts[:at]), PLUS.join(parts[at:])
