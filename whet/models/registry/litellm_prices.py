"""The price table that litellm brings, read as the file it is: importing litellm takes seconds, and it would fetch one.

The table is as old as the installed version of litellm, which is told with a price.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson

from whet.models.base import Price

TABLE = "model_prices_and_context_window_backup.json"
MILLION = 1_000_000

DEAREST = 10_000.0
"""Dollars for a million tokens that no model costs."""


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    """By model, as litellm calls it; empty where it is not installed or its table cannot be read."""
    try:
        spec = find_spec("litellm")
    except (ImportError, ValueError):
        return {}
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        try:
            found = orjson.loads((Path(folder) / TABLE).read_bytes())
        except (OSError, orjson.JSONDecodeError):
            continue
        if isinstance(found, dict):
            return found
    return {}


def table_version() -> str:
    """Which litellm the prices are of, for a person."""
    try:
        return f"litellm {version('litellm')}"
    except PackageNotFoundError:
        return "litellm"


def litellm_price(name: str) -> Price | None:
    """What a model costs by that table; None where it does not say, or says something that is no price."""
    entry = _table().get(name)
    if not isinstance(entry, dict):
        return None
    prompt, completion = _dollars(entry, "input_cost_per_token"), _dollars(entry, "output_cost_per_token")
    if prompt is None or completion is None:
        return None
    cached = _dollars(entry, "cache_read_input_token_cost")
    return Price(prompt, completion, cached if cached is not None and cached <= prompt else None)


def litellm_context(name: str) -> int | None:
    """Context length in tokens by that table."""
    entry = _table().get(name)
    known = entry.get("max_input_tokens") if isinstance(entry, dict) else None
    return known if type(known) is int and 0 < known < 1 << 30 else None


def _dollars(entry: dict[str, Any], field: str) -> float | None:
    """Dollars for a million tokens."""
    value = entry.get(field)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value * MILLION <= DEAREST:
        return None
    return round(value * MILLION, 6)
