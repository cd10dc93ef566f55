"""A scheme: what stands before the colon of a model's address, and how a model with such an address is opened.

A package adds one by an entry point of the group `whet.models` that points to a `Scheme`. The module it points to is
imported when schemes are listed, so what is heavy is imported inside the function that opens:

    @scheme("mine", "mine:MODEL, my own server", packages=("mine_sdk",), install="pip install mine-sdk")
    def mine(address: str, options: ModelOptions) -> Model:
        from mine_sdk.whet import MyModel

        return MyModel(address, options)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

from whet.errors import WhetError
from whet.models.base import Model
from whet.models.options import ModelOptions

Opener = Callable[[str, ModelOptions], Model]
"""Makes the model at an address, without calling it yet."""


@dataclass(frozen=True, slots=True)
class Scheme:
    """One kind of address: its name, how its addresses look, what must be installed, and who opens them."""

    name: str
    form: str
    """How addresses look, in a line for a person."""
    opener: Opener
    packages: tuple[str, ...] = ()
    """Packages that it cannot do without, as they are imported."""
    install: str = ""
    """The command that installs them."""
    bare: bool = False
    """Whether `name:` alone is an address."""

    def open(self, address: str, options: ModelOptions) -> Model:
        """The model at `address`; `WhetError` where the address names none or a package is not installed."""
        if not self.bare and address == f"{self.name}:":
            raise WhetError(f"{address!r} names no model: write {self.form}.")
        absent = [package for package in self.packages if not _is_there(package)]
        if absent:
            raise WhetError(f"{self.name}: needs {' and '.join(absent)}, not installed here; run: {self.install}")
        return self.opener(address, options)


def _is_there(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # it is inside another that is not there
        return False


def scheme(
    name: str, form: str, *, packages: tuple[str, ...] = (), install: str = "", bare: bool = False
) -> Callable[[Opener], Scheme]:
    """Makes the function below it a scheme."""
    return lambda opener: Scheme(name, form, opener, packages, install, bare)
