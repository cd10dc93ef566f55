"""litellm: a hundred providers behind one library, for those that have no scheme of their own here."""

from __future__ import annotations

from whet.extras import install
from whet.models.base import Model
from whet.models.options import ModelOptions
from whet.models.scheme import scheme


@scheme(
    "litellm", "litellm:PROVIDER/MODEL, keys by litellm's own rules", packages=("litellm",), install=install("litellm")
)
def litellm(address: str, options: ModelOptions) -> Model:
    from whet.models.litellm.model import open_litellm

    return open_litellm(address, options)
