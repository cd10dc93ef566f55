"""The records of one group: its ticket, its photos with the objects they show, and the truth about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from whet.envs.groupqc.pack.schema import TicketVerdict

SCHEMA_VERSION = 1
"""The version of a Stage-A line."""

Channel = Literal[
    "omission",
    "flip",
    "jitter",
    "malformed",
    "ocr",
    "label",
    "unobservable",
    "resubmission",
    "foreign",
    "drift",
    "ambiguous",
]
"""The eleven ways in which a generated ticket departs from the plain truth."""

NeedStatus = Literal["ok", "defect", "absent", "exempt"]
"""How a need stands: shown and good, shown and bad, not shown, does not apply."""

UnrelatedKind = Literal["document", "screenshot", "drawing", "form"]
"""What a photo shows that is not of the site."""


@dataclass(frozen=True, slots=True)
class PhotoObject:
    """One object in a photo: its category, and each attribute that can be seen with its value."""

    category: str
    states: tuple[tuple[str, str], ...] = ()

    def value(self, attribute: str) -> str:
        """The value of an attribute, '' where it cannot be seen."""
        return next((value for name, value in self.states if name == attribute), "")


@dataclass(frozen=True, slots=True)
class Photo:
    """What one photo shows. With `unrelated`, nothing of the site."""

    name: str
    items: tuple[PhotoObject, ...] = ()
    notes: tuple[str, ...] = ()
    unrelated: UnrelatedKind | None = None
    seed: int = 0
    """Where things stand in the drawing, and in what light."""


@dataclass(frozen=True, slots=True)
class SiteTicket:
    """One work order as it is handed in: `label` is what a reviewer said, `summaries` one line for each image."""

    group_id: str
    mission: str
    label: TicketVerdict
    images: tuple[str, ...]
    summaries: tuple[str, ...]
    label_source: str = "human"
    label_timestamp: str = ""
    remarks: tuple[str, ...] = ()
    """What the reviewer wrote beside a rejection."""
    site: str = ""
    """What kind of site it is, in the words of the pack; '' where nobody says."""
    submitted: str = ""
    """The date on which it was handed in, as in 2026-07-01; '' where nobody says."""

    @property
    def key(self) -> str:
        """Identity: a site may be rejected and handed in again under the same id. It names the label: no prompt may
        hold it."""
        return f"{self.group_id}::{self.label}"

    def as_line(self, image_key: str = "图片_") -> dict[str, Any]:
        """The line of a Stage-A file."""
        line: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "group_id": self.group_id,
            "mission": self.mission,
            "label": self.label,
            "images": list(self.images),
            "per_image": {f"{image_key}{number}": text for number, text in enumerate(self.summaries, start=1)},
        }
        line |= {name: getattr(self, name) for name in ("site", "submitted") if getattr(self, name)}
        if self.label_timestamp:
            line["label_source"], line["label_timestamp"] = self.label_source, self.label_timestamp
        if self.remarks:
            line["gt_fail_reason_texts"] = list(self.remarks)
            line["gt_fail_reason_text"] = " | ".join(self.remarks)
        return line


@dataclass(frozen=True, slots=True)
class NoiseEvent:
    """One departure from the plain truth. `image` counts from 1; 0 means the ticket as a whole."""

    channel: Channel
    image: int = 0
    what: str = ""
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Truth:
    """The truth about a generated ticket, which only the sidecar file holds.

    `verdict` is the true one. `observable` is what the needs and the conventions give on the clean summaries: it
    differs from `verdict` only for an unobservable fail and an ambiguous ticket. `checklist` is what the needs give
    alone. `needs` maps `need` (or `station/need`) to how it stands.
    """

    verdict: TicketVerdict
    observable: TicketVerdict
    needs: Mapping[str, NeedStatus] = field(default_factory=dict)
    clean: tuple[str, ...] = ()
    """The summaries before any noise."""
    noise: tuple[NoiseEvent, ...] = ()
    submission: int = 1
    """1: first handed in; 2: handed in again under the same group id."""
    date: str = ""
    site: int = 0
    checklist: TicketVerdict = "pass"
    decided_by: tuple[str, ...] = ()
    """The unwritten conventions without any one of which the verdict would be another."""


@dataclass(frozen=True, slots=True)
class GeneratedGroup:
    """A generated ticket with its photos and its truth."""

    ticket: SiteTicket
    photos: tuple[Photo, ...]
    truth: Truth

    def as_sidecar(self) -> dict[str, Any]:
        """The line of the sidecar file: the truth under the ticket's key."""
        return {
            "ticket_key": self.ticket.key,
            "group_id": self.ticket.group_id,
            "mission": self.ticket.mission,
            "label": self.ticket.label,
            "verdict": self.truth.verdict,
            "observable": self.truth.observable,
            "checklist": self.truth.checklist,
            "decided_by": list(self.truth.decided_by),
            "submission": self.truth.submission,
            "date": self.truth.date,
            "needs": dict(self.truth.needs),
            "clean": list(self.truth.clean),
            "noise": [
                {
                    "channel": event.channel,
                    "image": event.image,
                    "what": event.what,
                    "before": event.before,
                    "after": event.after,
                }
                for event in self.truth.noise
            ],
            "photos": [
                {
                    "name": photo.name,
                    "unrelated": photo.unrelated,
                    "items": [{"category": item.category, "states": dict(item.states)} for item in photo.items],
                    "notes": list(photo.notes),
                }
                for photo in self.photos
            ],
        }
