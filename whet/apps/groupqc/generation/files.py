"""Generated work: a Stage-A file with its truth beside it, or a tree of drawn photos."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from whet.envs.groupqc.pack.schema import Pack
from whet.envs.groupqc.records import GeneratedGroup
from whet.envs.groupqc.tickets.line import json_line
from whet.envs.groupqc.tickets.source import GeneratedTickets, Missions
from whet.envs.groupqc.world.noise import NO_NOISE, Noise
from whet.errors import WhetError
from whet.extras import install
from whet.files import write_atomically
from whet.types import Split


@dataclass(frozen=True, slots=True)
class GeneratedFiles:
    """Where generated work was written, and how much of it there is."""

    out: Path
    truth: Path
    groups: int
    photos: int


def generate_groups(
    missions: Missions,
    n: int,
    *,
    noise: Noise = NO_NOISE,
    seed: int = 0,
    split: Split = "train",
    conventions: int | None = None,
) -> list[tuple[Pack, GeneratedGroup]]:
    """`n` groups of the missions in turn: the same that the environment `groupqc` has at these indices.

    `conventions` is the seed of the unwritten ones; None: labels go by the checklist.
    """
    if n < 1:
        raise WhetError(f"{n} groups are none: ask for at least 1")
    source = GeneratedTickets.of(missions, noise, seed, conventions)
    return [source.group(split, index) for index in range(n)]


def write_tickets(out: Path, groups: Sequence[tuple[Pack, GeneratedGroup]], keys: str = "") -> GeneratedFiles:
    """The Stage-A file that photos of these groups would give, and the truth in a sidecar beside it."""
    truth = out.with_name(f"{out.name.removesuffix('.jsonl')}.truth.jsonl")
    for path in (out, truth):
        if path.exists():
            raise WhetError(f"{path} exists; remove it, or give another name")
    out.parent.mkdir(parents=True, exist_ok=True)
    lines = (json_line(group.ticket.as_line(keys or pack.words.image_key)) for pack, group in groups)
    write_atomically(out, b"".join(lines))
    write_atomically(truth, b"".join(json_line(group.as_sidecar()) for _, group in groups))
    return GeneratedFiles(out, truth, len(groups), sum(len(group.photos) for _, group in groups))


def write_photos(
    root: Path, groups: Sequence[tuple[Pack, GeneratedGroup]], spoiled: float = 0.0, seed: int = 0
) -> GeneratedFiles:
    """The photos of these groups as a tree. `spoiled` is the share of groups with each kind of planted damage."""
    try:
        from whet.envs.groupqc.photos.tree import ArchiveDamage, write_tree
    except ImportError as missing:
        raise WhetError(f"drawing photos needs {missing.name}: {install('groupqc')}") from None
    if not 0.0 <= spoiled <= 1.0:
        raise WhetError(f"spoiled is {spoiled:g}: a share of the groups lies between 0 and 1")
    if root.exists() and any(root.iterdir()):
        raise WhetError(f"{root} is not empty; remove it, or give another name")
    spoil = ArchiveDamage(malformed=spoiled, missing=spoiled, empty=spoiled, copied=spoiled, turned=spoiled)
    written = 0
    for name, pack in {pack.name: pack for pack, _ in groups}.items():
        mine = [group for other, group in groups if other.name == name]
        written += sum(len(folder.images) for folder in write_tree(root, pack, mine, spoil, seed))
    return GeneratedFiles(root, root / "MISSION.truth.jsonl", len(groups), written)
