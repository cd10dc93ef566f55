"""Tickets that nobody needs to have judged: lines of a Stage-A file with or without a label, read alike.

A label that is there is kept apart from the ticket, so that nothing which decides can look at it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.envs.groupqc.pack.schema import TicketVerdict, as_verdict
from whet.envs.groupqc.records import SCHEMA_VERSION, SiteTicket
from whet.envs.groupqc.tickets.file import Reject, stage_a_files, ticket_lines, ticket_of
from whet.envs.groupqc.tickets.line import BadLine


@dataclass(frozen=True, slots=True)
class RefusedPhoto:
    """A photo of a group that could not be used, and why."""

    image: str
    reason: str


@dataclass(frozen=True, slots=True)
class OpenTicket:
    """One work order without a verdict. `refused` are photos of it that no summary exists of.

    `site` and `submitted` are the kind of site and the date: a prompt shows them, because rules may hang on them.
    """

    group_id: str
    mission: str
    images: tuple[str, ...]
    summaries: tuple[str, ...]
    refused: tuple[RefusedPhoto, ...] = ()
    site: str = ""
    submitted: str = ""

    def as_line(self, label: TicketVerdict | None, image_key: str = "图片_") -> dict[str, Any]:
        """The line of a Stage-A file; without a label it has none."""
        if label is not None:
            told = SiteTicket(
                self.group_id,
                self.mission,
                label,
                self.images,
                self.summaries,
                site=self.site,
                submitted=self.submitted,
            )
            line = told.as_line(image_key)
        else:
            line = {
                "schema_version": SCHEMA_VERSION,
                "group_id": self.group_id,
                "mission": self.mission,
                "images": list(self.images),
                "per_image": {f"{image_key}{number}": text for number, text in enumerate(self.summaries, start=1)},
            }
            line |= {name: getattr(self, name) for name in ("site", "submitted") if getattr(self, name)}
        if self.refused:
            line["refused_photos"] = [{"image": photo.image, "reason": photo.reason} for photo in self.refused]
        return line


@dataclass(frozen=True, slots=True)
class OpenLine:
    """A ticket with the place that it was read from. `label` is for whoever measures, never for whoever decides."""

    ticket: OpenTicket
    label: TicketVerdict | None
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class OpenFile:
    """The tickets of Stage-A files, and the lines that are none. `digest` is of the files' bytes."""

    lines: tuple[OpenLine, ...]
    rejects: tuple[Reject, ...]
    digest: str


def read_open(path: Path, known: Collection[str], *, wanted: Collection[str] = ()) -> OpenFile:
    """The tickets of a file, or of the `*_stage_a.jsonl` files in a folder. Nothing asks for a label.

    A site with other evidence was handed in again, and is a ticket of its own; the same evidence stands there twice.
    """
    import hashlib

    lines: list[OpenLine] = []
    rejects: list[Reject] = []
    places: dict[tuple[str, str, tuple[str, ...], tuple[str, ...]], str] = {}
    digest = hashlib.blake2b(digest_size=16)
    for file in stage_a_files(path):
        content, numbered = ticket_lines(file)
        digest.update(len(content).to_bytes(8, "big") + content)
        for number, text in numbered:
            try:
                ticket, label = open_line(text, known)
                here = f"{file.name}, line {number}"
                shown = (ticket.mission, ticket.group_id, ticket.images, ticket.summaries)
                before = places.setdefault(shown, here)
                if before != here:
                    raise BadLine("duplicate_ticket", f"the ticket {ticket.group_id!r} stands already in {before}")
            except BadLine as bad:
                said = text.decode("utf-8", "replace").strip()
                rejects.append(Reject(file.name, number, bad.reason, bad.detail, said))
                continue
            if not wanted or ticket.mission in wanted:
                lines.append(OpenLine(ticket, label, file.name, number))
    return OpenFile(tuple(lines), tuple(rejects), digest.hexdigest())


def open_line(text: bytes, known: Collection[str]) -> tuple[OpenTicket, TicketVerdict | None]:
    """The ticket of one line, and its label where it has one."""
    row: dict[str, Any] = {}

    def unlabelled(given: Mapping[str, Any]) -> Mapping[str, Any]:
        row.update(given)
        # A line is checked as a labelled one is; the label that stands in for a missing one is dropped below.
        return {**{name: value for name, value in given.items() if name != "ticket_key"}, "label": "fail"}

    filed = ticket_of(text, known, unlabelled)
    label = as_verdict(row["label"]) if isinstance(row.get("label"), str) else None
    evidence = (filed.images, filed.summaries, _refused(row))
    return OpenTicket(filed.group_id, filed.mission, *evidence, filed.site, filed.submitted), label


def _refused(row: Mapping[str, Any]) -> tuple[RefusedPhoto, ...]:
    given = row.get("refused_photos", [])
    if not isinstance(given, list) or not all(isinstance(photo, dict) for photo in given):
        raise BadLine("bad_field", "'refused_photos' must be a list of objects")
    return tuple(RefusedPhoto(str(photo.get("image", "")), str(photo.get("reason", ""))) for photo in given)
