"""A mission's needs applied to summaries: this gives the generator's true verdict, and that of `baseline:rules`."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from whet.envs.groupqc.pack.condition import appearances
from whet.envs.groupqc.pack.schema import Mission, Need, Pack, TicketVerdict
from whet.envs.groupqc.records import NeedStatus
from whet.envs.groupqc.summaries.counts import SummaryReading, read_summary
from whet.envs.groupqc.verdict.evidence import NumberedReadings, TicketEvidence, holds, images_of, objects


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
class RuleJudgement:
    """The verdict of the rules: every need must be met, at every station."""

    verdict: TicketVerdict
    findings: tuple[NeedFinding, ...]

    @property
    def failures(self) -> tuple[NeedFinding, ...]:
        return tuple(finding for finding in self.findings if finding.status in ("defect", "absent"))


def judge(
    pack: Pack, mission: Mission, readings: Sequence[SummaryReading], site: str = "", date: str = ""
) -> RuleJudgement:
    """Apply the mission's needs to the summaries of one ticket, of that kind of site and handed in on that date."""
    findings = tuple(
        need_finding(need, station, TicketEvidence(pack, photos, site, date))
        for station, photos in stations(pack, mission, readings).items()
        for need in mission.needs
    )
    failing = any(finding.status in ("defect", "absent") for finding in findings)
    return RuleJudgement("fail" if failing else "pass", findings)


@functools.lru_cache(maxsize=256)
def judge_summaries(
    pack: Pack, mission: Mission, summaries: tuple[str, ...], site: str = "", date: str = ""
) -> RuleJudgement:
    """The same for summaries as they are stored. One ticket is looked at from several sides."""
    return judge(pack, mission, [read_summary(pack, text) for text in summaries], site, date)


@functools.cache
def asked_categories(mission: Mission) -> frozenset[str]:
    """The categories that a mission's needs speak of."""
    named = {need.category for need in mission.needs if need.category}
    conditions = [need.holds for need in mission.needs if need.holds is not None]
    return frozenset(named | {appearance.category for condition in conditions for appearance in appearances(condition)})


def stations(
    pack: Pack, mission: Mission, readings: Sequence[SummaryReading]
) -> dict[str, list[tuple[int, SummaryReading]]]:
    """Images that are judged together, by station; one group called '' where stations do not matter.

    A station that shows nothing of what is asked is left out. An image without a number joins the only station there
    is, or stands alone: better one verdict too strict than a fault overlooked.
    """
    relevant = [(number, reading) for number, reading in enumerate(readings, start=1) if not reading.irrelevant]
    if not mission.per_station:
        return {"": relevant}
    wanted = asked_categories(mission)
    places: dict[str, list[tuple[int, SummaryReading]]] = {}
    for number, reading in relevant:
        places.setdefault(reading.station(pack) or "", []).append((number, reading))
    shown = {
        place: photos
        for place, photos in places.items()
        if any(entry.category in wanted for _, reading in photos for entry in reading.entries)
    }
    unplaced = shown.get("", [])
    if unplaced and len(shown) == 2:
        del shown[""]
        only = next(iter(shown))
        shown[only] = sorted([*shown[only], *unplaced], key=lambda photo: photo[0])
    return dict(sorted(shown.items(), key=lambda place: (len(place[0]), place[0]))) or {"": []}


def need_finding(need: Need, station: str, evidence: TicketEvidence) -> NeedFinding:
    """How a need stands with the photos of one station."""
    if need.sites and evidence.site not in need.sites:
        return NeedFinding(need, station, "exempt")
    if need.when is not None and not _shows(evidence.photos, *need.when):
        return NeedFinding(need, station, "exempt")
    if need.holds is not None:
        status: NeedStatus = "ok" if holds(need.holds, evidence) else "defect"
        return NeedFinding(need, station, status, images_of(need.holds, evidence))
    return _finding(evidence.pack, need, station, evidence.photos)


def _finding(pack: Pack, need: Need, station: str, photos: NumberedReadings) -> NeedFinding:
    showing = tuple(number for number, reading in photos if reading.of(need.category))
    if not showing or (need.known and not _images(photos, need.category, need.known)):
        return NeedFinding(need, station, "absent")
    if need.least > 1 and need.least > max(
        sum(objects(entry) for entry in reading.of(need.category)) for _, reading in photos
    ):
        return NeedFinding(need, station, "absent", showing)
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
        labelled = tuple(n for n, reading in photos if n in evidence and _labelled(pack, need, reading))
        return (
            NeedFinding(need, station, "ok", labelled) if labelled else NeedFinding(need, station, "defect", evidence)
        )
    return NeedFinding(need, station, "ok", evidence)


def _images(photos: NumberedReadings, category: str, attribute: str) -> list[tuple[int, str]]:
    """Each value that an attribute of a category has, with the image that shows it."""
    return [(n, value) for n, reading in photos for entry in reading.of(category) for value in entry.values(attribute)]


def _shows(photos: NumberedReadings, category: str, attribute: str, value: str) -> bool:
    return any(value in entry.values(attribute) for _, reading in photos for entry in reading.of(category))


def _labelled(pack: Pack, need: Need, photo: SummaryReading) -> bool:
    """Whether a readable label stands in the photo, of the same pair where both sides give one."""
    labels = [entry for entry in photo.of(pack.labels.category) if entry.values(pack.labels.text)]
    category = pack.category(need.category)
    pair = (
        next((attribute.name for attribute in category.attributes if attribute.kind == "pair"), "") if category else ""
    )
    mine = {value for entry in photo.of(need.category) for value in entry.values(pair)}
    theirs = {value for entry in labels for value in entry.values(pair)}
    return bool(labels) and (not mine or not theirs or bool(mine & theirs))


def reason(pack: Pack, judgement: RuleJudgement, most: int = 240) -> str:
    """The judgement as the one line that a verdict carries: what each image shows, then the conclusion."""
    told: dict[int, list[str]] = {}
    for finding in judgement.findings:
        for image in finding.images:
            told.setdefault(image, []).append(finding.says)
    parts = [f"Image{image}: {', '.join(told[image])}" for image in sorted(told)]
    decisive = judgement.failures or tuple(finding for finding in judgement.findings if finding.status == "ok")
    said = ", ".join(dict.fromkeys(finding.says for finding in decisive))
    last = f"{pack.words.conclusion}: {said or pack.words.irrelevant}"
    room = most - len(last)
    kept: list[str] = []
    for part in parts:
        room -= len(part) + 2
        if room < 0:
            break
        kept.append(part)
    return "; ".join([*kept, last])[:most]
