"""What a Stage-A run will do, before it asks anything: groups found, photos looked at, the share that is its own."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from whet.apps.groupqc.stage_a.config import PhotosSection, ShardBy
from whet.envs.groupqc.pack.file import find_mission, load_packs
from whet.envs.groupqc.pack.schema import Mission, Pack, TicketVerdict
from whet.envs.groupqc.photos.file import NotAPhoto, PhotoFile, open_photos
from whet.envs.groupqc.photos.folder import label_rules
from whet.envs.groupqc.photos.layout import PhotoGroup, Refusal, discover, named_refusals
from whet.envs.groupqc.photos.look import PhotoCopy, PhotoLook, copies
from whet.keys import seed_for

BEYOND = 1 << 40
"""Places of what was refused before groups were counted: after all groups."""


@dataclass(frozen=True, slots=True)
class PlannedGroup:
    """A group of this share. `seq` is its place among all groups, `own` the photos to ask about, by their number.

    `refused` are photos of this share that cannot be shown, by their number; a number of 0 has no place in the group.
    """

    seq: int
    group: PhotoGroup
    own: tuple[tuple[int, PhotoFile], ...]
    refused: tuple[tuple[int, Refusal], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(photo.name for photo in self.group.photos)


@dataclass(frozen=True, slots=True)
class StageAPlan:
    """Groups in order of discovery, what was refused (with the place of its group), and what is odd."""

    pack: Pack
    mission: Mission
    groups: tuple[PlannedGroup, ...]
    refused: tuple[tuple[int, Refusal], ...]
    warnings: tuple[str, ...]
    copies: tuple[PhotoCopy, ...]

    @property
    def photos(self) -> list[PhotoFile]:
        """Photos of this share in the order of the plan, each content once."""
        return list({photo.image.sha256: photo for group in self.groups for _, photo in group.own}.values())


def plan_stage_a(section: PhotosSection) -> StageAPlan:
    """Find the groups of a mission and look at their photos. An unknown mission or a missing folder is an error."""
    pack, mission = find_mission(section.mission, load_packs(section.packs) if section.packs else None)
    rules = label_rules(
        pack,
        group_id=section.group_id,
        most_photos=section.most_photos,
        refuse_gaps=section.refuse_gaps,
        whole_groups=section.whole_groups,
    )
    found = discover(Path(section.root), mission.name, rules)
    at, of = section.share
    shares = _shares(_drawn(found.groups, section), at, of, section.shard_by)
    looked = open_photos((path for _, _, own in shares for _, path in own), section.max_pixels)
    planned: list[PlannedGroup] = []
    refused = [(BEYOND + place, refusal) for place, refusal in enumerate(found.refused) if place % of == at]
    for seq, group, own in shares:
        seen = [(number, path, looked[path]) for number, path in own]
        bad = [
            (number, Refusal(str(path), photo.reason, str(photo), group.ticket_key, photo=True))
            for number, path, photo in seen
            if isinstance(photo, NotAPhoto)
        ]
        shown = tuple((number, photo) for number, _, photo in seen if isinstance(photo, PhotoFile))
        if bad and (section.whole_groups or (not shown and (of == 1 or section.shard_by == "group"))):
            refused += [(seq, refusal) for refusal in named_refusals([refusal for _, refusal in bad], left=False)]
        else:
            lost = tuple((0, refusal) for refusal in group.unusable) if own[0][0] == 1 else ()
            planned.append(PlannedGroup(seq, group, shown, (*bad, *lost)))
    refused.sort(key=lambda placed: placed[0])
    return StageAPlan(pack, mission, tuple(planned), tuple(refused), found.warnings, tuple(_copies(planned)))


def _shares(
    groups: Sequence[PhotoGroup], at: int, of: int, by: ShardBy
) -> list[tuple[int, PhotoGroup, list[tuple[int, Path]]]]:
    """The groups that share `at` of `of` has a part in, each with its place and the photos that are the share's own."""
    shares: list[tuple[int, PhotoGroup, list[tuple[int, Path]]]] = []
    before = 0
    for seq, group in enumerate(groups):
        numbered = list(enumerate(group.photos, start=1))
        if by == "image":
            own = [(number, path) for number, path in numbered if (before + number - 1) % of == at]
        else:
            own = numbered if seq % of == at else []
        before += len(numbered)
        if own:
            shares.append((seq, group, own))
    return shares


def _drawn(groups: Sequence[PhotoGroup], section: PhotosSection) -> list[PhotoGroup]:
    """The groups, or where a label has more than its cap, that many of them; the order stays."""
    drawn = (*_capped(groups, "pass", section), *_capped(groups, "fail", section))
    kept = {id(group) for group in (*drawn, *(group for group in groups if group.label is None))}
    return [group for group in groups if id(group) in kept]


def _capped(groups: Sequence[PhotoGroup], label: TicketVerdict, section: PhotosSection) -> Sequence[PhotoGroup]:
    cap = section.pass_groups if label == "pass" else section.fail_groups
    own = [group for group in groups if group.label == label]
    if cap is None or len(own) <= cap:
        return own
    return random.Random(seed_for("stage_a", label, section.sample_seed)).sample(own, cap)


def _copies(planned: Sequence[PlannedGroup]) -> Iterator[PhotoCopy]:
    """Photos that look alike across groups: the same picture handed in for several sites."""
    looks: dict[str, PhotoLook] = {}
    owner: dict[str, str] = {}
    for share in planned:
        for _, photo in share.own:
            name = f"{share.group.folder.parent.name}/{share.group.folder.name}/{photo.path.name}"
            looks[name], owner[name] = photo.look, share.group.ticket_key
    yield from copies(looks, owner)
