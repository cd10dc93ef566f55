"""Anthropic's messages API."""

from __future__ import annotations

from whet.models.base import Model
from whet.models.options import ModelOptions
from whet.models.scheme import scheme


@scheme("anthropic", "anthropic:MODEL, Anthropic's messages API")
def anthropic(address: str, options: ModelOptions) -> Model:
    from whet.models.anthropic.model import open_anthropic

    return open_anthropic(address, options)
