"""llama.cpp in this process, on the weights of a GGUF file."""

from __future__ import annotations

from whet.extras import install
from whet.models.base import Model
from whet.models.options import ModelOptions
from whet.models.scheme import scheme


@scheme(
    "embedded",
    "embedded: or embedded:FILE.gguf, llama.cpp in this process",
    packages=("xllamacpp",),
    install=install("embedded"),
    bare=True,
)
def embedded(address: str, options: ModelOptions) -> Model:
    from whet.models.embedded.model import open_embedded

    return open_embedded(address, options)
