"""A folder of inspections: `ROOT/MISSION/LABEL/GROUP/*.jpg`, one folder for a group, its label by the folder above.

Groups that nobody has judged lie right under their mission: `ROOT/MISSION/GROUP/*.jpg`. What cannot be used is set
aside with its file and a reason; the rest goes on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from whet.envs.groupqc.pack.schema import TicketVerdict
from whet.errors import WhetError, nearest

SUFFIXES = (".jpg", ".jpeg", ".png")

GROUP_ID = r"QC-(?:[A-Za-z]+-)?\d{8}-\d+"
"""The default shape of a group id at the beginning of a photo's name; the letters are optional."""

MOST_PHOTOS = 100
"""A group with more photos is refused unless the caller says otherwise: real ones have 1 to 38."""


@dataclass(frozen=True, slots=True)
class PhotoGroup:
    """One submission: its photos in natural order, and what was decided about it."""

    group_id: str
    mission: str
    label: TicketVerdict | None
    """None where nobody has judged."""
    folder: Path
    photos: tuple[Path, ...]
    unusable: tuple[Refusal, ...] = ()
    """What is called like a photo of this group, and is no file."""

    @property
    def ticket_key(self) -> str:
        return _ticket_key(self.group_id, self.label)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A group, or a line of a file, that cannot be used: where it stands, a short stable code, and what is wrong."""

    file: str
    reason: str
    detail: str
    ticket_key: str = ""
    line: int = 0
    photo: bool = False
    """Whether one photo alone is refused, and its group goes on without it."""

    def as_row(self) -> dict[str, str | int]:
        row: dict[str, str | int] = {"file": self.file}
        if self.line:
            row["line"] = self.line
        row |= {"ticket_key": self.ticket_key, "reason": self.reason, "detail": self.detail}
        return row | {"photo": True} if self.photo else row

    def __str__(self) -> str:
        line = f":{self.line}" if self.line else ""
        return f"{self.file}{line}: {self.reason}: {self.detail}"


def named_refusals(photos: Sequence[Refusal], left: bool) -> list[Refusal]:
    """Every photo that was refused, by name. Where none is left of its group, the first stands for the group."""
    return [replace(refusal, photo=left or place > 0) for place, refusal in enumerate(photos)]


@dataclass(frozen=True, slots=True)
class MissionFolder:
    """What a mission's folder holds: groups in order of discovery, what was refused, and what is merely odd."""

    mission: str
    groups: tuple[PhotoGroup, ...]
    refused: tuple[Refusal, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LayoutRules:
    """How groups are told apart: names of the label folders, the shape of an id, and how many photos are too many."""

    labels: Mapping[str, TicketVerdict]
    """By folder, in the order in which they are searched."""
    group_id: str = GROUP_ID
    most_photos: int = MOST_PHOTOS
    refuse_gaps: bool = False
    """Refuse a group whose photos are numbered with a number missing; else it is a warning."""
    whole_groups: bool = False
    """Refuse a group with a photo that cannot be used; else it goes on without that photo."""


def natural(name: str) -> tuple[list[tuple[int, int, str]], str]:
    """A sort key: runs of digits count as numbers, letters in any case, so that `-2` stands before `-10`."""
    pieces = re.split(r"([0-9]+)", name.lower())
    return [(0, int(piece), "") if piece.isdecimal() else (1, 0, piece) for piece in pieces if piece], name


def discover(root: Path, mission: str, rules: LayoutRules) -> MissionFolder:
    """Every group of a mission under `root`. A root or mission that is not there is an error."""
    folder, warnings = _mission_folder(root, mission)
    groups: list[PhotoGroup] = []
    refused: list[Refusal] = []
    known = ", ".join(rules.labels)
    folders: list[tuple[Path, TicketVerdict | None]] = [
        (inner, label) for name, label in rules.labels.items() for inner in _folders(folder / name)
    ]
    for inner in _folders(folder):
        if inner.name not in rules.labels:
            if _named_photos(inner):
                folders.append((inner, None))
            else:
                warnings.append(f"{inner}: skipped, no photo lies in it, and a label folder is called one of {known}")
    for inner, label in folders:
        group = _group(inner, mission, label, rules, warnings)
        if isinstance(group, PhotoGroup):
            groups.append(group)
        else:
            refused += group
    twice, kept = _told_apart(groups)
    if not kept and not refused and not twice:
        said = f"a folder for each group with its photos, or such folders inside {known}"
        raise WhetError(f"{folder} holds no groups; it must have {said}")
    return MissionFolder(mission, tuple(kept), (*refused, *twice), tuple(warnings))


def group_id(photo: Path, pattern: str = GROUP_ID) -> str:
    """The id at the beginning of a photo's name, else the name of the folder that it lies in."""
    found = re.match(pattern, photo.stem)
    return found.group(0) if found else photo.parent.name


def missing_numbers(stems: Sequence[str]) -> list[int]:
    """Numbers that are missing where names are one beginning and a number from 1 on; none where they are not."""
    parts = [re.fullmatch(r"(.*?)([0-9]{1,4})", stem) for stem in stems]
    if not all(parts) or len({part[1] for part in parts if part}) > 1:
        return []
    numbers = {int(part[2]) for part in parts if part}
    return (
        [number for number in range(1, max(numbers)) if number not in numbers]
        if max(numbers) <= 2 * len(stems) + 1
        else []
    )


def _mission_folder(root: Path, mission: str) -> tuple[Path, list[str]]:
    if not root.is_dir():
        raise WhetError(f"{root}: no such folder; give the one that holds a folder for each mission")
    if (root / mission).is_dir():
        return root / mission, []
    if root.name == mission:
        return root, [f"{root} is the folder of the mission itself: {root.parent} is taken for the root"]
    there = [folder.name for folder in _folders(root)]
    hint = nearest(mission, there) or (f" It holds {', '.join(there[:8])}." if there else " It holds no folders.")
    raise WhetError(f"{root} has no folder for the mission {mission!r}.{hint}")


def _folders(folder: Path) -> list[Path]:
    """Folders in plain order of their names; none where there is no such folder."""
    return sorted((inner for inner in _listed(folder) or () if inner.is_dir()), key=str) if folder.is_dir() else []


def _listed(folder: Path) -> list[Path] | None:
    """What a folder holds; None where it cannot be looked into."""
    try:
        return list(folder.iterdir())
    except OSError:
        return None


def _named_photos(folder: Path) -> bool:
    inside = _listed(folder)
    return inside is None or any(_is_photo(path) for path in inside)


def _ticket_key(group: str, label: TicketVerdict | None) -> str:
    return group if label is None else f"{group}::{label}"


def _group(
    folder: Path, mission: str, label: TicketVerdict | None, rules: LayoutRules, warnings: list[str]
) -> PhotoGroup | list[Refusal]:
    inside = _listed(folder)
    if inside is None:
        said = "this folder cannot be looked into"
        return [Refusal(str(folder), "unreadable_folder", said, _ticket_key(folder.name, label))]
    photos = sorted((path for path in inside if _is_photo(path)), key=lambda path: natural(path.name))
    if not photos:
        said = f"no photo ({', '.join(SUFFIXES)}) lies in this folder"
        return [Refusal(str(folder), "empty_group", said, _ticket_key(folder.name, label))]
    name = group_id(photos[0], rules.group_id)
    key = _ticket_key(name, label)
    if len(photos) > rules.most_photos:
        said = f"{len(photos)} photos, and at most {rules.most_photos} belong to one group"
        return [Refusal(str(folder), "too_many_photos", said, key)]
    gone = [
        Refusal(
            str(photo), "missing_photo", "the folder names this photo, but there is no file to read", key, photo=True
        )
        for photo in photos
        if not photo.is_file()
    ]
    if len(gone) == len(photos) or (gone and rules.whole_groups):
        return named_refusals(gone, left=False)
    photos = [photo for photo in photos if photo.is_file()]
    lost = missing_numbers([photo.stem for photo in photos])
    if lost:
        said = f"by their names, the photos {', '.join(map(str, lost[:5]))} are missing"
        if rules.refuse_gaps:
            return [Refusal(str(folder), "number_gap", said, key)]
        warnings.append(f"{folder}: {said}")
    others = sorted({group_id(photo, rules.group_id) for photo in photos} - {name})
    if others:
        warnings.append(f"{folder}: the photos name several groups; {name} is used, not {', '.join(others)}")
    return PhotoGroup(name, mission, label, folder, tuple(photos), tuple(gone))


def _is_photo(path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES and not path.name.startswith(".")


def _told_apart(groups: Sequence[PhotoGroup]) -> tuple[list[Refusal], list[PhotoGroup]]:
    """Groups of one ticket key, and the same photos under both labels, cannot be told apart: none of them is kept."""
    refused = {id(group): refusal for group, refusal in (*_same_key(groups), *_both_labels(groups))}
    return list(refused.values()), [group for group in groups if id(group) not in refused]


def _same_key(groups: Sequence[PhotoGroup]) -> Iterator[tuple[PhotoGroup, Refusal]]:
    by_key: dict[str, list[PhotoGroup]] = {}
    for group in groups:
        by_key.setdefault(group.ticket_key, []).append(group)
    for key, same in by_key.items():
        for group in same if len(same) > 1 else ():
            others = ", ".join(other.folder.name for other in same if other is not group)
            yield group, Refusal(str(group.folder), "duplicate_ticket", f"the same ticket as {others}", key)


def _both_labels(groups: Sequence[PhotoGroup]) -> Iterator[tuple[PhotoGroup, Refusal]]:
    """A site may come again under the other label with other photos; the same photos cannot be right and wrong."""
    by_id: dict[str, dict[TicketVerdict | None, PhotoGroup]] = {}
    for group in groups:
        by_id.setdefault(group.group_id, {})[group.label] = group
    for pair in by_id.values():
        judged = [group for label, group in pair.items() if label is not None]
        if len(judged) == 2 and _same_photos(*judged):
            for group in judged:
                said = "the same photos stand under both labels"
                yield group, Refusal(str(group.folder), "two_labels", said, group.ticket_key)


def _same_photos(first: PhotoGroup, other: PhotoGroup) -> bool:
    try:
        if [photo.stat().st_size for photo in first.photos] != [photo.stat().st_size for photo in other.photos]:
            return False
        return all(a.read_bytes() == b.read_bytes() for a, b in zip(first.photos, other.photos, strict=True))
    except OSError:
        return False
