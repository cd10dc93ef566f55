"""From an address (`scheme:identifier`) to a model. Schemes are found by the entry point group `whet.models`."""

from __future__ import annotations

from whet.errors import WhetError, nearest
from whet.models.base import Model
from whet.models.options import ModelOptions
from whet.models.scheme import Scheme
from whet.plugins import PluginGroup

SCHEMES = PluginGroup("whet.models", "model scheme")


def load_model(address: str, options: ModelOptions = ModelOptions()) -> Model:
    """The model at `address`. Nothing is called yet; a missing key shows at the first call, so a replay needs none."""
    name, colon, _ = address.partition(":")
    if name == "baseline":
        raise WhetError(f"{address} is a reference policy of an environment: it can only be used in a run of one.")
    known = SCHEMES.names()
    if name not in known or not colon:
        hint = nearest(name, known) if colon else f" Did you mean 'openai:{address}'?"
        raise WhetError(
            f"{address!r} is no model: an address begins with one of {', '.join(known)}, and a colon.{hint}"
        )
    return _scheme(name).open(address, options)


def schemes() -> dict[str, Scheme]:
    """Every scheme that is installed, by name. The packages that they need are not imported."""
    return {name: _scheme(name) for name in SCHEMES.names()}


def _scheme(name: str) -> Scheme:
    scheme = SCHEMES.load(name)
    if not isinstance(scheme, Scheme) or scheme.name != name:
        raise SCHEMES.refusal(SCHEMES.entry(name), "points to no Scheme of that name")
    return scheme
