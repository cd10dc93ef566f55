"""Writes generated groups as a tree of photos, as Stage-A finds them, with the truth beside it.

    ROOT/MISSION/{审核通过|审核不通过}/GROUP_ID/GROUP_ID_1.jpg …
    ROOT/MISSION.truth.jsonl

On request some groups are spoiled the way real archives are; what was planted stands in the truth.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.envs.groupqc.pack.schema import Pack
from whet.envs.groupqc.records import GeneratedGroup
from whet.envs.groupqc.render.photo import photo_jpeg, upside_down
from whet.errors import WhetError
from whet.keys import seed_for


@dataclass(frozen=True, slots=True)
class ArchiveDamage:
    """Damage that is planted in a tree of photos: for each kind, the share of groups that get it."""

    malformed: float = 0.0
    """One file is not an image."""
    missing: float = 0.0
    """One file is not there; the numbers have a gap."""
    empty: float = 0.0
    """The folder has no file."""
    copied: float = 0.0
    """One photo is the same as one of the group before."""
    turned: float = 0.0
    """One photo is stored upside down and says so in its EXIF data."""


@dataclass(frozen=True, slots=True)
class GroupFolder:
    """One group as it stands on disk. `summaries` is what a faultless Stage-A says of the images that are there."""

    group: GeneratedGroup
    path: Path
    images: tuple[str, ...]
    summaries: tuple[str, ...]
    planted: tuple[tuple[str, str], ...]
    """What was planted, and in which file."""

    @property
    def readable(self) -> bool:
        """Whether a record of this group can be made: it has photos, and all of them are images."""
        return bool(self.images) and all(kind != "malformed" for kind, _ in self.planted)

    def as_sidecar(self) -> dict[str, Any]:
        return {
            **self.group.as_sidecar(),
            "images": list(self.images),
            "expected": list(self.summaries),
            "planted": [{"kind": kind, "file": name} for kind, name in self.planted],
        }


def write_tree(
    root: Path, pack: Pack, groups: Iterable[GeneratedGroup], spoil: ArchiveDamage = ArchiveDamage(), seed: int = 0
) -> list[GroupFolder]:
    """Draw every photo of every group into folders under `root`. Refuses to write over a group that is there."""
    written: list[GroupFolder] = []
    for group in groups:
        folder = root / group.ticket.mission / pack.words.folder(group.ticket.label) / group.ticket.group_id
        if folder.exists():
            raise WhetError(f"{folder} is there already: choose another folder, or remove it first")
        folder.mkdir(parents=True)
        rng = random.Random(seed_for("groupqc", "photos", seed, group.ticket.mission, group.ticket.key))
        written.append(_write_group(rng, pack, group, folder, spoil, written))
    for mission in sorted({group_folder.group.ticket.mission for group_folder in written}):
        lines = [group_folder.as_sidecar() for group_folder in written if group_folder.group.ticket.mission == mission]
        lines.sort(key=lambda line: str(line["ticket_key"]))
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (root / f"{mission}.truth.jsonl").write_text(text, encoding="utf-8")
    return written


def _write_group(
    rng: random.Random, pack: Pack, group: GeneratedGroup, folder: Path, spoil: ArchiveDamage, before: list[GroupFolder]
) -> GroupFolder:
    photos = list(zip(group.photos, group.truth.clean, strict=True))
    planted: list[tuple[str, str]] = []
    if rng.random() < spoil.empty:
        return GroupFolder(group, folder, (), (), (("empty", ""),))
    if rng.random() < spoil.missing and len(photos) > 1:
        gone, _ = photos.pop(rng.randrange(len(photos)))
        planted.append(("missing", gone.name))
    malformed, turned, copied = (rng.random() < share for share in (spoil.malformed, spoil.turned, spoil.copied))
    victim = rng.randrange(len(photos))
    images, summaries = [], []
    for place, (photo, clean) in enumerate(photos):
        data = photo_jpeg(pack, photo)
        if place == victim and malformed:
            data = _not_an_image(rng, data)
            planted.append(("malformed", photo.name))
        elif place == victim and turned:
            data = upside_down(data)
            planted.append(("turned", photo.name))
        elif place == victim and copied and before and before[-1].readable:
            source = before[-1]
            data, clean = (source.path / source.images[0]).read_bytes(), source.summaries[0]
            planted.append(("copied", photo.name))
        (folder / photo.name).write_bytes(data)
        images.append(photo.name)
        summaries.append(clean)
    return GroupFolder(group, folder, tuple(images), tuple(summaries), tuple(planted))


def _not_an_image(rng: random.Random, data: bytes) -> bytes:
    """What one finds under the name of a photo: nothing, a text, or the first part of a file."""
    return rng.choice((b"", b"<html><body>403 Forbidden</body></html>", data[: len(data) // 3]))
