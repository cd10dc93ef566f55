"""Models: one request in, one reply out. `load_model` opens one by its address; a model knows nothing of tasks."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whet.models.base import FREE, Model, Price, Request
    from whet.models.load import load_model, schemes
    from whet.models.options import ModelOptions
    from whet.models.scripted import Scripted, reference
    from whet.models.secrets import Secret

__all__ = [
    "FREE",
    "Model",
    "ModelOptions",
    "Price",
    "Request",
    "Scripted",
    "Secret",
    "load_model",
    "reference",
    "schemes",
]

_HOMES = {
    "FREE": "base",
    "Model": "base",
    "Price": "base",
    "Request": "base",
    "load_model": "load",
    "schemes": "load",
    "ModelOptions": "options",
    "Scripted": "scripted",
    "reference": "scripted",
    "Secret": "secrets",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
