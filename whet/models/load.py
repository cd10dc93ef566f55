"""From an address (`scheme:identifier`) to a model. Schemes are found by the entry point group `whet.models`."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

from whet.errors import WhetError, nearest
from whet.models.base import Model
from whet.models.options import ModelOptions
from whet.models.scheme import Scheme

GROUP = "whet.models"


def load_model(address: str, options: ModelOptions = ModelOptions()) -> Model:
    """The model at `address`. Nothing is called yet; a missing key shows at the first call, so a replay needs none."""
    name, colon, _ = address.partition(":")
    if name == "baseline":
        raise WhetError(f"{address} is a reference policy of an environment: it can only be used in a run of one.")
    entries = _entries()
    if name not in entries or not colon:
        known = ", ".join(entries)
        hint = nearest(name, entries) if colon else f" Did you mean 'openai:{address}'?"
        raise WhetError(f"{address!r} is no model: an address begins with one of {known}, and a colon.{hint}")
    return _loaded(entries[name]).open(address, options)


def schemes() -> dict[str, Scheme]:
    """Every scheme that is installed, by name. The packages that they need are not imported."""
    return {name: _loaded(entry) for name, entry in _entries().items()}


def _entries() -> dict[str, EntryPoint]:
    """The entry points in order of their names; two for one name are refused, because either could be meant."""
    found: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        other = found.setdefault(entry.name, entry)
        if other.value != entry.value:
            both = f"{_origin(other)} and {_origin(entry)}"
            raise WhetError(f"the model scheme {entry.name!r} is offered twice, by {both}: uninstall one of them.")
    return found


def _loaded(entry: EntryPoint) -> Scheme:
    try:
        scheme = entry.load()
    except Exception as error:
        why = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        told = f"the model scheme {entry.name!r} of {_origin(entry)} cannot be loaded ({why})"
        raise WhetError(f"{told}: mend or uninstall that package.") from error
    if not isinstance(scheme, Scheme) or scheme.name != entry.name:
        told = f"the model scheme {entry.name!r} of {_origin(entry)} points to no Scheme of that name"
        raise WhetError(f"{told}: mend or uninstall that package.")
    return scheme


def _origin(entry: EntryPoint) -> str:
    package = entry.dist.name if entry.dist is not None else "an unknown package"
    return f"{package} ({entry.value})"
