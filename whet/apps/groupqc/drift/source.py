"""What drift is looked for in: a Stage-A file with or without labels, a folder of them, an audit, or verdicts."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from whet.apps.groupqc.audit.files import STATS
from whet.apps.groupqc.decision.verdicts import VERDICTS
from whet.apps.groupqc.stage_a.config import StageAFiles
from whet.config.load import load_config
from whet.config.schema import EvalConfig
from whet.envs.groupqc.drift.traits import TicketTraits, ticket_traits, vote_shares
from whet.envs.groupqc.pack.file import load_packs
from whet.envs.groupqc.tickets.file import stage_a_files
from whet.envs.groupqc.tickets.open import OpenLine, read_open
from whet.envs.groupqc.tickets.prompt import evidence
from whet.envs.registry import Address
from whet.errors import WhetError
from whet.rollout.claim import CONFIG

PHOTO_TRAITS = ("brightness", "contrast", "sharpness", "pixels")
"""What the pictures themselves are like, from 0 to 1; `F.photos.jsonl` has it photo by photo."""


@dataclass(frozen=True, slots=True)
class DriftSource:
    """The tickets of one side in the order of their lines, and how many lines were none."""

    tickets: tuple[TicketTraits, ...]
    rejects: int


OPTIONAL = ("label/", "verdict/", "invalid draws", "divided votes", "picture/")
"""Traits that a side has only where somebody judged, voted, or kept the pictures' figures."""


def comparable(sides: Sequence[DriftSource]) -> list[DriftSource]:
    """The sides without what one of them was never asked about: its labels, votes or pictures are no change."""
    had = [
        {kind for ticket in side.tickets for name in ticket.shares if (kind := _kind(name))}
        for side in sides
        if side.tickets
    ]
    gone = {kind for kind in OPTIONAL if not all(kind in kinds for kinds in had)}
    return [
        replace(side, tickets=tuple(_without(ticket, gone) for ticket in side.tickets)) if gone else side
        for side in sides
    ]


def _kind(name: str) -> str | None:
    return next((kind for kind in OPTIONAL if name.startswith(kind)), None)


def _without(ticket: TicketTraits, kinds: Collection[str]) -> TicketTraits:
    return replace(ticket, shares={name: share for name, share in ticket.shares.items() if _kind(name) not in kinds})


def drift_source(path: Path, packs: Sequence[str] = (), *, idle: bool = False) -> DriftSource:
    """Read one side. It must hold something, unless it may be `idle`: a day on which nothing came."""
    rows: list[Mapping[str, Any]] = []
    source: Path | None = path
    for name in (STATS, VERDICTS):
        if (path / name).is_file():
            rows, source = list(_rows(path / name)), _judged(path)
    if source is None:
        voters = ((str(row["ticket_key"]), str(row["mission"]), vote_shares(row)) for row in rows)
        return DriftSource(tuple(TicketTraits(*voter) for voter in voters), 0)
    votes = {_place(row): vote_shares(row) for row in rows}
    missions = {mission.name: (pack, mission) for pack in load_packs(packs) for mission in pack.missions}
    read = read_open(source, missions)
    if not read.lines and not read.rejects and not idle:
        raise WhetError(f"{source}: holds no tickets")
    pictures = _pictures(source)
    tickets = []
    for line in read.lines:
        pack, mission = missions[line.ticket.mission]
        said = evidence(pack, mission, line.ticket)
        told = (line.ticket.site, line.ticket.submitted)
        made = ticket_traits(pack, mission, line.ticket.group_id, said, line.label, *told)
        voted = votes.get((line.file, str(line.line))) or votes.get(_audited(line), {})
        tickets.append(made.with_shares({**_looks(line, pictures), **voted}))
    return DriftSource(tuple(tickets), len(read.rejects))


def _place(row: Mapping[str, Any]) -> tuple[str, str]:
    """Which line a row votes on: a decision says so, an audit names its ticket."""
    if "line" in row:
        return str(row["file"]), str(row["line"])
    return str(row["mission"]), str(row["ticket_key"])


def _audited(line: OpenLine) -> tuple[str, str]:
    return line.ticket.mission, f"{line.ticket.group_id}::{line.label}"


def _pictures(source: Path) -> dict[tuple[str, str], dict[str, float]]:
    """The figures of each photo by group and name, where Stage-A left them beside its file."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for file in stage_a_files(source):
        beside = StageAFiles(file).photos
        for row in _rows(beside) if beside.is_file() else ():
            if "brightness" in row:
                found[str(row["group_id"]), str(row["image"])] = {name: float(row[name]) for name in PHOTO_TRAITS}
    return found


def _looks(line: OpenLine, pictures: Mapping[tuple[str, str], dict[str, float]]) -> dict[str, float]:
    seen = [
        pictures[line.ticket.group_id, name] for name in line.ticket.images if (line.ticket.group_id, name) in pictures
    ]
    return {f"picture/{name}": sum(look[name] for look in seen) / len(seen) for name in PHOTO_TRAITS} if seen else {}


def _judged(folder: Path) -> Path | None:
    """The Stage-A file that votes were cast on, where it is still there."""
    config = folder / CONFIG
    if not config.is_file():
        return None
    source = Address.parse(load_config(EvalConfig, config).env.name).source
    return Path(source) if source and Path(source).exists() else None


def _rows(path: Path) -> Iterable[Mapping[str, Any]]:
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        try:
            yield json.loads(line)
        except ValueError as error:
            raise WhetError(f"{path}, line {number}: not JSON ({error}); make it again") from None
