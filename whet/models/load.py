"""From an address (`scheme:identifier`) to a model. A scheme's code is loaded only when it is asked for."""

from __future__ import annotations

from dataclasses import replace

from whet.errors import WhetError, nearest
from whet.models.base import Model
from whet.models.options import ModelOptions

SCHEMES = {
    "openai": "openai:MODEL, OpenAI or any compatible server at base_url (vLLM, SGLang, llama.cpp)",
    "openrouter": "openrouter:VENDOR/MODEL",
    "azure": "azure:DEPLOYMENT",
    "embedded": "embedded: or embedded:FILE.gguf, llama.cpp in this process",
    "scripted": "scripted:MODULE:FUNCTION or scripted:FILE.py:FUNCTION",
    "anthropic": "anthropic:MODEL, Anthropic's messages API",
    "agent": "agent:codex, agent:claude, or agent:COMMAND with {prompt_file}, {workspace} and {output_file}",
    "hf": "hf:DIR, a folder of weights through transformers",
}
"""The schemes of `load_model`, each with how its addresses look."""


def load_model(address: str, options: ModelOptions = ModelOptions()) -> Model:
    """The model at `address`. Nothing is called yet; a missing key shows at the first call, so a replay needs none."""
    scheme, colon, identifier = address.partition(":")
    if scheme == "baseline":
        raise WhetError(f"{address} is a reference policy of an environment: it can only be used in a run of one.")
    if scheme not in SCHEMES or not colon:
        known = ", ".join(SCHEMES)
        hint = nearest(scheme, SCHEMES) if colon else f" Did you mean 'openai:{address}'?"
        raise WhetError(f"{address!r} is no model: an address begins with one of {known}, and a colon.{hint}")
    if not identifier and scheme != "embedded":
        raise WhetError(f"{address!r} names no model: write {SCHEMES[scheme]}.")
    if scheme == "scripted":
        from whet.models.scripted import open_scripted

        return open_scripted(address)
    if scheme == "embedded":
        from whet.models.embedded import open_embedded

        return open_embedded(address, options)
    if scheme == "hf":
        from whet.models.hf import open_hf

        return open_hf(address, options)
    if scheme == "agent":
        from whet.models.agent_cli import open_agent

        return open_agent(address, options)
    options = _priced(address, options)
    if scheme == "anthropic":
        from whet.models.anthropic import open_anthropic

        return open_anthropic(address, options)
    from whet.models import openai

    opened = {"openai": openai.open_openai, "openrouter": openai.open_openrouter, "azure": openai.open_azure}
    return opened[scheme](address, options)


def _priced(address: str, options: ModelOptions) -> ModelOptions:
    """`options` with the price that the registry knows, unless one is given or the model is served on this machine."""
    from whet.models.endpoint import base, is_loopback
    from whet.models.registry import price_of

    if options.price is not None or (options.base_url and is_loopback(base(options.base_url))):
        return options
    return replace(options, price=price_of(address))
