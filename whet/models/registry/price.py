"""The price of a model where the options give none."""

from __future__ import annotations

from dataclasses import replace

from whet.models.chat.endpoint import base, is_loopback
from whet.models.options import ModelOptions
from whet.models.registry.records import price_of


def priced(address: str, options: ModelOptions) -> ModelOptions:
    """`options` with the price that the registry knows, unless one is given or the model is served on this machine."""
    if options.price is not None or (options.base_url and is_loopback(base(options.base_url))):
        return options
    return replace(options, price=price_of(address))
