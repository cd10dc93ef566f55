"""What a mission's needs say about evidence: the generator's truth, and the verdict of a policy without a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whet.envs.groupqc.pack.schema import Mission, Need, Pack, TicketVerdict
from whet.envs.groupqc.records import NeedStatus
from whet.envs.groupqc.summaries.counts import SummaryReading

NumberedReadings = Sequence[tuple[int, SummaryReading]]
"""Readings with the number of their image, from 1."""


@dataclass(frozen=True, slots=True)
class NeedFinding:
    """How one need stands at one station ('' where stations do not matter), and which images say so."""

    need: Need
    station: str
    status: NeedStatus
    images: tuple[int, ...] = ()

    @property
    def key(self) -> str:
        return f"{self.station}/{self.need.id}" if self.station else self.need.id

    @property
    def says(self) -> str:
        """The finding in the words of the pack."""
        what = {"absent": self.need.absent, "defect": self.need.broken}.get(self.status, self.need.text)
        return f"{self.station}: {what}" if self.station else what


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict of the rules: every need must be met, at every station."""

    verdict: TicketVerdict
    findings: tuple[NeedFinding, ...]

    @property
    def failures(self) -> tuple[NeedFinding, ...]:
        return tuple(one for one in self.findings if one.status in ("defect", "absent"))


def judge(pack: Pack, mission: Mission, readings: Sequence[SummaryReading]) -> Judgement:
    """Apply the mission's needs to the summaries of one ticket."""
    findings = tuple(
        _finding(pack, need, station, photos)
        for station, photos in stations(pack, mission, readings).items()
        for need in mission.needs
    )
    failing = any(one.status in ("defect", "absent") for one in findings)
    return Judgement("fail" if failing else "pass", findings)


def stations(
    pack: Pack, mission: Mission, readings: Sequence[SummaryReading]
) -> dict[str, list[tuple[int, SummaryReading]]]:
    """Images that are judged together, by station; one group called '' where stations do not matter.

    A station that shows nothing of what is asked is left out. An image without a number joins the only station there
    is, or stands alone: better one verdict too strict than a fault overlooked.
    """
    relevant = [(number, one) for number, one in enumerate(readings, start=1) if not one.irrelevant]
    if not mission.per_station:
        return {"": relevant}
    wanted = {need.category for need in mission.needs}
    places: dict[str, list[tuple[int, SummaryReading]]] = {}
    for number, one in relevant:
        places.setdefault(one.station(pack) or "", []).append((number, one))
    shown = {
        place: photos
        for place, photos in places.items()
        if any(entry.category in wanted for _, one in photos for entry in one.entries)
    }
    unplaced = shown.get("", [])
    if unplaced and len(shown) == 2:
        del shown[""]
        only = next(iter(shown))
        shown[only] = sorted([*shown[only], *unplaced], key=lambda photo: photo[0])
    return dict(sorted(shown.items(), key=lambda one: (len(one[0]), one[0]))) or {"": []}


def _finding(pack: Pack, need: Need, station: str, photos: NumberedReadings) -> NeedFinding:
    if need.when is not None and not _shows(photos, *need.when):
        return NeedFinding(need, station, "exempt")
    showing = tuple(number for number, one in photos if one.of(need.category))
    if not showing or (need.known and not _images(photos, need.category, need.known)):
        return NeedFinding(need, station, "absent")
    evidence = showing
    for attribute, good in need.good.items():
        bad = tuple(n for n, value in _images(photos, need.category, attribute) if value != good)
        if bad:
            return NeedFinding(need, station, "defect", tuple(dict.fromkeys(bad)))
        evidence = tuple(dict.fromkeys(n for n, _ in _images(photos, need.category, attribute)))
        if not evidence:
            return (
                NeedFinding(need, station, "defect", showing) if need.labelled else NeedFinding(need, station, "absent")
            )
    if need.labelled:
        labelled = tuple(n for n, one in photos if n in evidence and _labelled(pack, need, one))
        return (
            NeedFinding(need, station, "ok", labelled) if labelled else NeedFinding(need, station, "defect", evidence)
        )
    return NeedFinding(need, station, "ok", evidence)


def _images(photos: NumberedReadings, category: str, attribute: str) -> list[tuple[int, str]]:
    """Each value that an attribute of a category has, with the image that shows it."""
    return [(n, value) for n, one in photos for entry in one.of(category) for value in entry.values(attribute)]


def _shows(photos: NumberedReadings, category: str, attribute: str, value: str) -> bool:
    return any(value in entry.values(attribute) for _, one in photos for entry in one.of(category))


def _labelled(pack: Pack, need: Need, photo: SummaryReading) -> bool:
    """Whether a readable label stands in the photo, of the same pair where both sides give one."""
    labels = [one for one in photo.of(pack.labels.category) if one.values(pack.labels.text)]
    category = pack.category(need.category)
    pair = next((one.name for one in category.attributes if one.kind == "pair"), "") if category else ""
    mine = {value for entry in photo.of(need.category) for value in entry.values(pair)}
    theirs = {value for entry in labels for value in entry.values(pair)}
    return bool(labels) and (not mine or not theirs or bool(mine & theirs))


def reason(pack: Pack, judgement: Judgement, most: int = 240) -> str:
    """The judgement as the one line that a verdict carries: what each image shows, then the conclusion."""
    told: dict[int, list[str]] = {}
    for one in judgement.findings:
        for image in one.images:
            told.setdefault(image, []).append(one.says)
    parts = [f"Image{image}: {', '.join(told[image])}" for image in sorted(told)]
    decisive = judgement.failures or tuple(one for one in judgement.findings if one.status == "ok")
    last = f"{pack.words.conclusion}: {', '.join(dict.fromkeys(one.says for one in decisive)) or pack.words.irrelevant}"
    room = most - len(last)
    kept: list[str] = []
    for part in parts:
        room -= len(part) + 2
        if room < 0:
            break
        kept.append(part)
    return "; ".join([*kept, last])[:most]
