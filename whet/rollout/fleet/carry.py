"""Objects that travel to another process, with those left out that are made there from their name."""

from __future__ import annotations

import io
import pickle
from typing import Any

from whet.errors import WhetError

NAMED = "the environment of the config"


def carried(what: str, value: Any, *, without: Any = None) -> bytes:
    """`value` as bytes; wherever it holds the very object `without`, a name stands instead."""
    stream = io.BytesIO()
    pickler = _pickler()(stream, protocol=5)
    pickler.persistent_id = lambda held: NAMED if without is not None and held is without else None
    try:
        pickler.dump(value)
    except Exception as error:  # noqa: BLE001 - an object of a caller's: its own code says what it is
        told = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        raise WhetError(
            f"{what} was handed over as an object that cannot be sent to another process ({told}); "
            "name it by an address, or set control.engine = 'local'"
        ) from None
    return stream.getvalue()


def received(data: bytes, *, named: Any = None) -> Any:
    """What was sent, with `named` in place of what was left out."""
    unpickler = pickle.Unpickler(io.BytesIO(data))
    unpickler.persistent_load = lambda _: named  # type: ignore[method-assign]
    return unpickler.load()


def _pickler() -> Any:
    """The one of Ray takes functions and classes that no module holds; without Ray there is the plain one."""
    base: Any = pickle.Pickler
    try:
        from ray.cloudpickle import CloudPickler

        base = CloudPickler
    except ImportError:
        pass
    return type("CarryPickler", (base,), {})  # a class of its own, whose objects take `persistent_id`
