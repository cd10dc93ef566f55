"""Folders of weights in the layout of transformers: run in this process, and looked at before training."""

from __future__ import annotations

from whet.extras import install
from whet.models.base import Model
from whet.models.options import ModelOptions
from whet.models.scheme import scheme


@scheme(
    "hf",
    "hf:DIR[+ADAPTER] or hf:FILE.gguf[+ADAPTER], weights through transformers",
    packages=("torch", "transformers"),
    install=install("train"),
)
def hf(address: str, options: ModelOptions) -> Model:
    from whet.models.hf.model import open_hf

    return open_hf(address, options)
