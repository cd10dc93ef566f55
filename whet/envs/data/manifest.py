"""The manifest of made splits: a JSON file beside the data that says which row is on which side, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from whet.errors import WhetError
from whet.files import write_json
from whet.types import SPLITS, Split

VERSION = 2


@dataclass(frozen=True, slots=True)
class Manifest:
    """Sides by the key of a row: its id where there is an id column, else a digest of what it asks."""

    rule: Mapping[str, Any]
    """How the sides were chosen: fractions, seed, group, and what keys are made of."""
    sides: Mapping[str, Split]
    near: float | None = None
    """The index from which rows counted as near-duplicates and stayed together; None: not all of them could."""


class OtherRule(WhetError):
    """The splits were drawn by another rule than the one asked for."""


def manifest_path(data: Path, given: str) -> Path:
    """Where the manifest of `data` lies unless another place is given."""
    return Path(given) if given else data.with_name(f"{data.name}.splits.json")


def read_manifest(path: Path, rule: Mapping[str, Any]) -> Manifest | None:
    """The manifest at `path`, None where there is none; refused when it was made by another rule."""
    try:
        held = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, orjson.JSONDecodeError) as error:
        raise WhetError(f"{path}: the manifest of the splits cannot be read ({error}); restore or delete it") from None
    try:
        made, sides = held["rule"], {key: side for side in SPLITS for key in held["splits"].get(side, ())}
    except (KeyError, TypeError, AttributeError):
        raise WhetError(f"{path}: is not a manifest of splits; restore or delete it") from None
    changed = next((name for name in rule if made.get(name) != rule[name]), None)
    if changed is not None:
        raise OtherRule(
            f"{path}: the splits were made with {changed} = {made.get(changed)!r}, not {rule[changed]!r}; go back "
            "to it, or delete the file to draw new splits (but then what was trained on may come to be tested)"
        )
    return Manifest(made, sides, _index(held))


def _index(held: Any) -> float | None:
    near = held.get("near")
    found = near.get("threshold") if isinstance(near, dict) else None
    return float(found) if isinstance(found, int | float) else None


def write_manifest(path: Path, manifest: Manifest, data: str) -> None:
    """Write the manifest, whole or not at all."""
    splits: dict[str, list[str]] = {side: [] for side in SPLITS}
    for key, side in manifest.sides.items():
        splits[side].append(key)
    near = {"threshold": manifest.near, "measure": "share of word pairs in common (Jaccard)"}
    held = {"version": VERSION, "rule": dict(manifest.rule), "near": near, "data": data, "splits": splits}
    try:
        write_json(path, held)
    except OSError as error:
        raise WhetError(f"{path}: the splits cannot be kept here ({error.strerror}); set manifest=PATH") from None
