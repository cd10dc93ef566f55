"""What is known about models, and which of them fit a purpose."""

from __future__ import annotations

from whet.models.registry.records import Baseline, ModelRecord, Registry, price_of, registry

__all__ = ["Baseline", "ModelRecord", "Registry", "price_of", "registry"]
