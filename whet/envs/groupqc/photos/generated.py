"""Photos of generated sites as tasks: drawn when they are asked for, with the truth from the generator."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from typing import Any

from whet.envs.fingerprint import fingerprint
from whet.envs.groupqc.pack.schema import Mission, Pack
from whet.envs.groupqc.photos.environment import NAME, PhotoTasks
from whet.envs.groupqc.records import Photo
from whet.envs.groupqc.render import photo as render
from whet.envs.groupqc.world.world import SiteWorld
from whet.keys import seed_for
from whet.types import Image, Label, Split, Task

KEPT = 256
"""Drawn photos that are kept in memory; others are drawn again when they are asked for."""


class GeneratedPhotos(PhotoTasks):
    """One photo of each generated group as a task; the group's id decides which of its photos."""

    about = "photos of generated sites: describe what one shows in a line of JSON"

    def __init__(self, pack: Pack, missions: Sequence[Mission], seed: int = 0) -> None:
        self.name = NAME
        self.pack = pack
        self._worlds = [SiteWorld(pack, mission, seed=seed) for mission in missions]
        self._where: dict[str, tuple[Split, int]] = {}
        self._made = (pack, tuple(missions), seed)
        self._drawn = functools.lru_cache(maxsize=KEPT)(self._draw)
        names = [mission.name for mission in missions]
        self.fingerprint = fingerprint(NAME, self, arguments=(names, seed), data=pack.digest)

    def __reduce__(self) -> tuple[Any, ...]:
        return GeneratedPhotos, self._made

    def size(self, split: Split) -> int | None:
        return None

    def label(self, split: Split, index: int) -> Label:
        world, photo, _ = self._photo(split, index)
        few = "few" if len(photo.items) <= 2 else "many"
        return Label(world.mission.name, "unrelated" if photo.unrelated else few)

    def task(self, split: Split, index: int) -> Task:
        _, _, truth = self._photo(split, index)
        data = self._drawn(split, index)
        image = Image(hashlib.sha256(data).hexdigest(), "image/jpeg")
        self._where[image.sha256] = (split, index)
        return self.photo_task(split, index, self.label(split, index), image, truth)

    def blob(self, sha256: str) -> bytes:
        return self._drawn(*self._where[sha256])

    def _photo(self, split: Split, index: int) -> tuple[SiteWorld, Photo, str]:
        turn, which = divmod(index, len(self._worlds))
        world = self._worlds[which]
        group = world.group(split, turn)
        at = seed_for(NAME, group.ticket.group_id, turn) % len(group.photos)
        return world, group.photos[at], group.truth.clean[at]

    def _draw(self, split: Split, index: int) -> bytes:
        return render.photo_jpeg(self.pack, self._photo(split, index)[1])
