"""What a Stage-A run is made from: where the photos lie, how they are read, and which share of them is its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from whet.config.load import load_config, merge
from whet.config.schema import EnvSection, PolicyConfig, Section
from whet.envs.groupqc.photos.file import MAX_PIXELS
from whet.envs.groupqc.photos.layout import GROUP_ID, MOST_PHOTOS
from whet.errors import WhetError

ShardBy = Literal["group", "image"]


class PhotosSection(Section):
    """The photos of one mission, and the file that their summaries go to."""

    root: str = Field(description="folder with a folder for each mission")
    mission: str
    out: str = Field(description="the Stage-A file to write, F.jsonl")
    packs: tuple[str, ...] = Field(default=(), description="packs to look the mission up in; default: all of Whet's")
    keys: Literal["pack", "图片_", "image_"] = Field(default="pack", description="how the keys of summaries begin")
    check: Literal["text", "form", "words"] = Field(
        default="form",
        description="what a summary must be: any text; a summary object; one with no word that the pack lacks",
    )
    group_id: str = Field(default=GROUP_ID, description="the shape of a group id at the start of a photo's name")
    most_photos: int = Field(default=MOST_PHOTOS, ge=1, description="a group with more is refused")
    refuse_gaps: bool = Field(default=False, description="refuse a group whose numbered photos lack a number")
    whole_groups: bool = Field(default=False, description="refuse a group with a photo that cannot be used")
    max_pixels: int | None = Field(default=MAX_PIXELS, ge=1024, description="larger photos are made smaller")
    pass_groups: int | None = Field(default=None, ge=0, description="at most this many approved groups, drawn by seed")
    fail_groups: int | None = Field(default=None, ge=0)
    sample_seed: int = 0
    shard: str = Field(default="0/1", pattern=r"^\d+/\d+$", description="i/n: the i-th of n shares, counted from 0")
    shard_by: ShardBy = "group"
    draws: int = Field(default=1, ge=1, le=16, description="how often a photo may be asked until its answer is usable")

    @property
    def share(self) -> tuple[int, int]:
        at, of = (int(part) for part in self.shard.split("/"))
        if at >= of:
            raise WhetError(f"photos.shard = {self.shard!r}: shares are counted from 0 to one below their number")
        return at, of

    @property
    def files(self) -> StageAFiles:
        return StageAFiles(Path(self.out))


class StageAFiles:
    """The files of a Stage-A run: the one that the user names, and those beside it."""

    def __init__(self, out: Path) -> None:
        stem = out.with_suffix("") if out.suffix == ".jsonl" else out
        self.out = out
        self.errors = stem.with_name(f"{stem.name}.errors.jsonl")
        self.photos = stem.with_name(f"{stem.name}.photos.jsonl")
        self.copies = stem.with_name(f"{stem.name}.copies.jsonl")
        self.manifest = stem.with_name(f"{stem.name}.manifest.json")
        self.run = stem.with_name(f"{stem.name}.run")


class StageAConfig(PolicyConfig):
    """A Stage-A run: one model, the photos of one mission."""

    env: EnvSection = EnvSection(name="groupqc/photo")
    photos: PhotosSection


def stage_a_config(
    root: str | Path,
    mission: str,
    model: str,
    out: str | Path,
    *,
    base: Mapping[str, Any] | None = None,
    overrides: Sequence[str] = (),
) -> StageAConfig:
    """A config from what was typed; `base` holds further options by section, `overrides` are `a.b=c` texts."""
    given: dict[str, Any] = {
        "photos": {"root": str(root), "mission": mission, "out": str(out)},
        "target": {"model": model},
    }
    merge(given, base or {})
    return load_config(StageAConfig, None, given, overrides)
