"""Group quality control: from the photos of a site visit to one verdict with a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whet.envs.groupqc.environment import FAMILY, GroupQc

__all__ = ["FAMILY", "GroupQc"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from whet.envs.groupqc import environment

    return getattr(environment, name)
