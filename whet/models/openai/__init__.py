"""Chat completions: OpenAI, OpenRouter, Azure, and every server that speaks their format."""

from __future__ import annotations

from whet.models.base import Model
from whet.models.options import ModelOptions
from whet.models.scheme import scheme


@scheme("openai", "openai:MODEL, OpenAI or any compatible server at base_url (vLLM, SGLang, llama.cpp)")
def openai(address: str, options: ModelOptions) -> Model:
    from whet.models.openai.model import open_openai

    return open_openai(address, options)


@scheme("openrouter", "openrouter:VENDOR/MODEL")
def openrouter(address: str, options: ModelOptions) -> Model:
    from whet.models.openai.model import open_openrouter

    return open_openrouter(address, options)


@scheme("azure", "azure:DEPLOYMENT")
def azure(address: str, options: ModelOptions) -> Model:
    from whet.models.openai.model import open_azure

    return open_azure(address, options)
