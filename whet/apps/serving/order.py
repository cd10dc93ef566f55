"""What is to be served, and the command line that serves it: one function for each server, in its own words."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from whet.errors import WhetError

RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""Ranks of adapters that vLLM takes as its largest."""


@dataclass(frozen=True, slots=True)
class Adapter:
    """A folder with an adapter, and the name under which it answers."""

    name: str
    folder: Path

    @classmethod
    def parse(cls, text: str) -> Adapter:
        """From `NAME=FOLDER`. What is no adapter is refused here, and not after the minutes that a server takes."""
        name, equals, place = text.partition("=")
        folder = Path(place)
        if not equals or not name or not place or any(sign in name for sign in " :,=/"):
            raise WhetError(f"--adapter {text}: give NAME=FOLDER, the name in letters, digits, '-', '_' and '.'")
        if folder.suffix != ".gguf" and not (folder / "adapter_config.json").is_file():
            raise WhetError(f"--adapter {text}: {folder} holds no adapter_config.json; name the folder of an adapter")
        if folder.suffix == ".gguf" and not folder.is_file():
            raise WhetError(f"--adapter {text}: {folder} is not there")
        return cls(name, folder)

    @property
    def rank(self) -> int:
        try:
            told = json.loads((self.folder / "adapter_config.json").read_bytes()).get("r", 16)
            return int(told)
        except (OSError, ValueError, TypeError, AttributeError):
            return 16


@dataclass(frozen=True, slots=True)
class ServeOrder:
    """A model to serve, and how."""

    model: str
    backend: str = "vllm"
    host: str = "127.0.0.1"
    port: int = 8000
    name: str = ""
    """Under which the base model answers; '': as the server calls it."""
    adapters: tuple[Adapter, ...] = ()
    gpus: int = 1
    context: int | None = None
    program: str = ""
    """The server's program, where it is another than the usual one."""
    more: tuple[str, ...] = ()
    """Further arguments, passed as they are."""

    @property
    def url(self) -> str:
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self.host, self.host)
        return f"http://{host}:{self.port}"

    @property
    def base_name(self) -> str:
        return self.name or self.model

    @property
    def names(self) -> tuple[str, ...]:
        """What is served, by the names that requests give: the base model, then its adapters."""
        return (self.base_name, *BACKENDS[self.backend].adapter_names(self))

    def command(self) -> list[str]:
        return [*BACKENDS[self.backend].command(self), *self.more]


@dataclass(frozen=True, slots=True)
class Backend:
    """A server as it is: its program, its words, where it says that it is well."""

    program: str
    install: str
    command: Callable[[ServeOrder], list[str]]
    adapter_names: Callable[[ServeOrder], tuple[str, ...]]
    health: str = "/health"


def _vllm(order: ServeOrder) -> list[str]:
    words = [order.program or "vllm", "serve", order.model, "--host", order.host, "--port", str(order.port)]
    words += ["--served-model-name", order.name] if order.name else []
    words += ["--tensor-parallel-size", str(order.gpus)] if order.gpus > 1 else []
    words += ["--max-model-len", str(order.context)] if order.context else []
    if order.adapters:
        most = max(adapter.rank for adapter in order.adapters)
        rank = next((rank for rank in RANKS if rank >= most), most)
        named = [f"{adapter.name}={adapter.folder}" for adapter in order.adapters]
        words += ["--enable-lora", "--max-loras", str(len(named)), "--max-lora-rank", str(rank), "--lora-modules"]
        words += named
    return words


def _sglang(order: ServeOrder) -> list[str]:
    words = [order.program or "python3", "-m", "sglang.launch_server", "--model-path", order.model]
    words += ["--host", order.host, "--port", str(order.port)]
    words += ["--served-model-name", order.name] if order.name else []
    words += ["--tp", str(order.gpus)] if order.gpus > 1 else []
    words += ["--context-length", str(order.context)] if order.context else []
    if order.adapters:
        most = max(1, len(order.adapters))
        named = [f"{adapter.name}={adapter.folder}" for adapter in order.adapters]
        words += ["--enable-lora", "--max-loras-per-batch", str(most + 1), "--lora-paths", *named]
    return words


def _llama(order: ServeOrder) -> list[str]:
    words = [order.program or "llama-server", "--model", order.model, "--host", order.host, "--port", str(order.port)]
    words += ["--alias", order.name] if order.name else []
    words += ["--ctx-size", str(order.context)] if order.context else []
    words += ["--n-gpu-layers", str(999 if order.gpus else 0)] if order.gpus != 1 else []
    for adapter in order.adapters:
        words += ["--lora", str(adapter.folder)]
    return words


def _own_names(order: ServeOrder) -> tuple[str, ...]:
    return tuple(adapter.name for adapter in order.adapters)


BACKENDS = {
    "vllm": Backend("vllm", "pip install vllm", _vllm, _own_names),
    "sglang": Backend(
        "python3",
        "pip install 'sglang[all]'",
        _sglang,
        lambda order: tuple(f"{order.base_name}:{adapter.name}" for adapter in order.adapters),
    ),
    # llama.cpp answers with all its adapters at once, under the base model's name.
    "llama": Backend("llama-server", "see https://github.com/ggml-org/llama.cpp", _llama, lambda order: ()),
}


def seconds(text: float) -> str:
    return f"{text:.1f} s" if text < 10 else f"{math.ceil(text)} s"
