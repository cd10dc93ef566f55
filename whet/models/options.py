"""How a model is reached and paid for: everything about it that its address (`scheme:identifier`) does not say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from whet.models.base import Price
from whet.types import ShapeForm

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Options of `load_model`. A scheme ignores what is not for it; `tools`, `shapes` and `extra` alone change answers.

    A key is named, never given: `key_env` is the name of an environment variable, `key_file` the path of a file,
    `key_command` a command whose output is the key; `key_env=""` says that the server needs none. With none of them
    the scheme's own variable (`OPENAI_API_KEY`, ...) is read, and it is sent to the scheme's own host only.
    """

    base_url: str | None = None
    key_env: str | None = None
    key_file: str | None = None
    key_command: str | None = None
    auth: Literal["bearer", "api-key"] | None = None
    """The header that carries the key; None: the scheme's own."""
    api_version: str | None = None
    price: Price | None = None
    timeout: float = 120.0
    """Seconds for one HTTP attempt."""
    attempts: int = 6
    deadline: float = 900.0
    """Seconds after which a call begins no further attempt."""
    max_reply_bytes: int = 4 * MIB
    tools: Literal["native", "fenced"] = "native"
    """`fenced`: tools are described in the system text and called in ```tool fences, for servers without tool calls."""
    shapes: ShapeForm | None = None
    """How the decoder is held to choices: by a JSON schema, a grammar, or not at all; None: the scheme's own way."""
    seed: bool = True
    """Send the sampling seed; False for a server that refuses one."""
    limit_field: Literal["max_tokens", "max_completion_tokens"] | None = None
    """The body field of the token limit; None: chosen by endpoint and model."""
    grammar_field: Literal["grammar", "structured_outputs"] = "grammar"
    """The body field of a grammar: `grammar` for llama.cpp, `structured_outputs` for vLLM."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Body fields passed through as they are, for what only one server knows."""
    context: int | None = None
    """Context length in tokens; None: the model's own."""
    threads: int = 1
    slots: int = 4
    cache: float | None = None
    """GiB for keys and values, where they are kept here; None: a share of what is free on a GPU."""
    connections: int = 1024
