"""The generator: sites with a latent state, the photos that show it, the summaries, and what a reviewer said.

Everything depends on the pack, the mission, the noise, the seed, the conventions, the split and the index alone. A
group id belongs to the split that its hash says (`whet.envs.splits`), so a site that is handed in again never stands on
both sides.
"""

from __future__ import annotations

import datetime
import functools
import random
from dataclasses import dataclass, replace

from whet.envs.groupqc.pack.condition import appearances
from whet.envs.groupqc.pack.schema import Mission, Pack, TicketVerdict
from whet.envs.groupqc.records import GeneratedGroup, NoiseEvent, Photo, SiteTicket, Truth
from whet.envs.groupqc.summaries.counts import SummaryReading, reading_of
from whet.envs.groupqc.summaries.text import render_summary
from whet.envs.groupqc.verdict.conventions import Convention, ConventionJudgement, judge_with
from whet.envs.groupqc.verdict.rules import NeedFinding
from whet.envs.groupqc.world.conventions import draw_conventions
from whet.envs.groupqc.world.doubt import contradict
from whet.envs.groupqc.world.noise import NO_NOISE, Noise, corrupt
from whet.envs.groupqc.world.scene import PhotoPlan, as_photo, photo_count, shoot
from whet.envs.groupqc.world.state import SiteState, draw_state
from whet.envs.groupqc.world.style import SiteStyle, bare, lean, settled
from whet.envs.splits import split_of
from whet.errors import WhetError
from whet.keys import seed_for
from whet.types import Split

FIRST_DAY = datetime.date(2026, 1, 1)
DAYS = 365
SITES = 10_000_000
"""Sites of one mission in one split."""

REMARKED = 0.6
"""The share of rejections beside which the reviewer wrote what was wrong."""

AGREED = 0.8
"""With conventions, where checklist and reviewer agree: passes are this much rarer than the mission's `pass_share`."""

TRIES = 400
"""How often a site is drawn until it is what was wanted; then it is taken as it is, with what is true of it."""


@dataclass(frozen=True, slots=True)
class _Story:
    """What a ticket is to be: whether it passes, and which convention decides that against the checklist."""

    passes: bool
    decider: Convention | None = None

    @property
    def on_paper(self) -> bool:
        """What the checklist says."""
        return self.passes == (self.decider is None)


@dataclass(frozen=True, slots=True)
class _Draft:
    """A site as it was drawn, and what is true of it."""

    state: SiteState
    photos: tuple[PhotoPlan, ...]
    judgement: ConventionJudgement | None = None


class SiteWorld:
    """Tickets of one mission.

    Where the resubmission channel acts, tickets 2k and 2k + 1 are one site: rejected, then approved under the same id.
    `conventions` is the seed of the reviewers' unwritten habits; None: they go by the checklist.
    """

    def __init__(
        self, pack: Pack, mission: Mission, noise: Noise = NO_NOISE, seed: int = 0, conventions: int | None = None
    ) -> None:
        self.pack = pack
        self.mission = mission
        self.noise = noise
        self.seed = seed
        self.conventions = () if conventions is None else draw_conventions(pack, mission, conventions)
        self._drift_from = _date(noise.drift_after)
        self._plain = not self.conventions and not any(need.holds or need.sites for need in mission.needs)

    def ticket(self, split: Split, index: int) -> SiteTicket:
        return self.group(split, index).ticket

    def group(self, split: Split, index: int) -> GeneratedGroup:
        """The ticket at `index` with its photos and its truth."""
        if not 0 <= index < SITES:
            raise WhetError(f"{self.mission.name}: there is no ticket {index}: indices run from 0 to {SITES - 1:,}")
        first = index - index % 2
        names = ("groupqc", self.pack.name, self.mission.code, self.seed, split)
        again = random.Random(seed_for(*names, "again", first)).random() < self.noise.resubmission
        number = first if again else index
        rng = random.Random(seed_for(*names, "site", number))
        day = FIRST_DAY + datetime.timedelta(days=int(rng.random() * DAYS))
        if not again:
            story = self._story(rng)
            where, day = self._place(rng, story, day)
            group_id = self._group_id(split, number, day)
            doubtful = self.noise.ambiguous and rng_of(*names, "doubt", index).random() < self.noise.ambiguous
            return self._group(rng, group_id, number, where, day, story, doubtful=bool(doubtful))
        second = index != first
        group_id = self._group_id(split, number, day)
        where, _ = self._place(rng, _Story(passes=True), day)
        rng = random.Random(seed_for(*names, "submission", index))
        later = day + datetime.timedelta(days=3 + int(rng.random() * 20)) if second else day
        story = self._story(rng, passes=second, where=where, day=later)
        return self._group(rng, group_id, number, where, later, story, submission=2 if second else 1)

    @functools.cached_property
    def pass_share(self) -> float:
        """How often a ticket passes, before any noise."""
        if not self.conventions:
            return self.mission.pass_share
        waived = sum(known.share for known in self.conventions if known.effect == "waive")
        agreed = 1.0 - sum(known.share for known in self.conventions)
        return waived + agreed * AGREED * self.mission.pass_share

    def _story(
        self,
        rng: random.Random,
        passes: bool | None = None,
        where: str | None = None,
        day: datetime.date = FIRST_DAY,
    ) -> _Story:
        """What the next ticket is to be. Where site and day are given, only a convention that can act there decides."""
        if passes is None:
            passes = rng.random() < self.pass_share
        effect = "waive" if passes else "require"
        among = [known for known in self.conventions if known.effect == effect]
        if not among:
            return _Story(passes)
        left = rng.random() * (self.pass_share if passes else 1.0 - self.pass_share)
        for known in among:
            left -= known.share
            if left < 0:
                mute = where is not None and settled(known.condition, where, day.isoformat()) is (not passes)
                return _Story(passes, None if mute else known)
        return _Story(passes)

    def _place(self, rng: random.Random, story: _Story, day: datetime.date) -> tuple[str, datetime.date]:
        """The kind of site and the day: drawn again until the convention that is to decide can."""
        if self._plain or self.pack.sites is None:
            return "", day
        where = rng.choice(self.pack.sites.names)
        for _ in range(TRIES):
            if story.decider is None or settled(story.decider.condition, where, day.isoformat()) is not (
                not story.passes
            ):
                break
            where = rng.choice(self.pack.sites.names)
            day = FIRST_DAY + datetime.timedelta(days=int(rng.random() * DAYS))
        return where, day

    def _group_id(self, split: Split, site: int, day: datetime.date) -> str:
        """The first id of a sequence of this site's own that belongs to the split."""
        stem, attempt = f"QC-{self.mission.code}-{day:%Y%m%d}-", 0
        while split_of(group_id := f"{stem}{attempt or ''}{site:07d}") != split:
            attempt += 1
        return group_id

    def _group(
        self,
        rng: random.Random,
        group_id: str,
        site: int,
        where: str,
        day: datetime.date,
        story: _Story,
        submission: int = 0,
        doubtful: bool = False,
    ) -> GeneratedGroup:
        """One submission. With a `submission` number its label is part of a story and is not flipped."""
        drifted = bool(self.noise.drift) and day >= self._drift_from
        style = SiteStyle(self.noise.drift if drifted else 0.0, asked=_undrawn(self.pack, self.mission))
        draft = self._draft(rng, story, style, where, day)
        passes = draft.judgement.verdict == "pass" if draft.judgement else story.passes
        plans = contradict(rng, self.pack, self.mission, draft.photos) if doubtful else draft.photos
        photos = tuple(as_photo(f"{group_id}_{n}.jpg", content, rng) for n, content in enumerate(plans, start=1))
        clean = tuple(render_summary(self.pack, photo.items, photo.notes) for photo in photos)
        events = self._ticket_events(rng, passes, submission, drifted, doubtful)
        channels = {event.channel for event in events}
        verdict: TicketVerdict = "pass" if passes and "unobservable" not in channels else "fail"
        if doubtful:
            verdict = rng.choice(("pass", "fail"))
        label: TicketVerdict = ("fail" if verdict == "pass" else "pass") if "label" in channels else verdict
        summaries, spoiled = self._summaries(rng, photos, clean, drifted)
        told = {} if self._plain or self.pack.sites is None else {"site": where, "submitted": day.isoformat()}
        ticket = SiteTicket(
            group_id,
            self.mission.name,
            label,
            tuple(photo.name for photo in photos),
            summaries,
            label_timestamp=day.isoformat(),
            remarks=self._remarks(rng, draft.state, label, "unobservable" in channels),
            **told,
        )
        truth = Truth(
            verdict,
            "pass" if passes else "fail",
            draft.state.statuses(),
            clean,
            (*events, *spoiled),
            submission or 1,
            day.isoformat(),
            site,
            "pass" if story.on_paper else "fail",
        )
        if draft.judgement is not None:
            decided = draft.judgement.decided_by if not doubtful else ()
            truth = replace(truth, checklist=draft.judgement.checklist, decided_by=decided)
        return GeneratedGroup(ticket, photos, truth)

    def _draft(self, rng: random.Random, story: _Story, style: SiteStyle, where: str, day: datetime.date) -> _Draft:
        """A site for the story. A plain mission's is right at once; otherwise it is drawn until it is."""
        if self._plain:
            return self._attempt(rng, story, style, where)
        for _ in range(TRIES):
            draft = self._attempt(rng, story, self._leaning(rng, story, style, where, day.isoformat()), where)
            judgement = self._judged(draft, where, day)
            if self._fits(story, judgement):
                break
        statuses = {finding.key: finding.status for finding in judgement.findings}
        return replace(draft, judgement=judgement, state=draft.state.as_found(statuses))

    def _attempt(self, rng: random.Random, story: _Story, style: SiteStyle, where: str) -> _Draft:
        count = photo_count(rng)
        places = min(count, 1 + (rng.random() < 0.4) + (rng.random() < 0.15)) if self.mission.per_station else 1
        count = max(count, 2 * places) if style.repeated else count
        decider = story.decider
        fault = (decider.need, decider.status) if decider and decider.effect == "waive" else None
        state = draw_state(rng, self.pack, self.mission, story.on_paper, places, where, fault)
        return _Draft(state, tuple(shoot(rng, self.pack, self.mission, state, count, style)))

    def _leaning(self, rng: random.Random, story: _Story, style: SiteStyle, where: str, date: str) -> SiteStyle:
        """Conventions and needs of a kind that no state can force are made likely to stand as the story has it."""
        for known in self.conventions:
            condition = known.condition
            if known is story.decider:
                wanted = known.effect == "waive"
            elif known.effect == "require" and settled(condition, where, date) is None:
                wanted = story.passes or story.decider is not None or rng.random() < 0.5
            else:
                condition, wanted = bare(condition), rng.random() < 0.5
            style = lean(style, rng, condition, wanted, where, date)
        for need in self.mission.needs:
            if need.holds is not None and (not need.sites or where in need.sites):
                wanted = story.on_paper or rng.random() < 0.5
                style = lean(style, rng, need.holds, wanted, where, date)
        return style

    def _judged(self, draft: _Draft, where: str, day: datetime.date) -> ConventionJudgement:
        readings: list[SummaryReading] = [reading_of(items, notes) for items, notes, _ in draft.photos]
        return judge_with(self.pack, self.mission, self.conventions, readings, where, day.isoformat())

    def _fits(self, story: _Story, judgement: ConventionJudgement) -> bool:
        """Whether a draft is what the story says: its verdict, the checklist's, and who decides between them."""
        if (judgement.verdict == "pass") != story.passes or (judgement.checklist == "pass") != story.on_paper:
            return False
        return judgement.decided_by == ((story.decider.id,) if story.decider else ())

    def _ticket_events(
        self, rng: random.Random, passes: bool, submission: int, drifted: bool, doubtful: bool
    ) -> list[NoiseEvent]:
        """What befell the ticket as a whole."""
        noise, events, fixed = self.noise, [], bool(submission)
        if passes and not fixed and noise.unobservable and rng.random() < noise.unobservable:
            events.append(NoiseEvent("unobservable", 0, "verdict", "pass", "fail"))
        if not fixed and noise.label and rng.random() < noise.label:
            flipped = passes and not events
            events.append(NoiseEvent("label", 0, "label", *(("pass", "fail") if flipped else ("fail", "pass"))))
        if doubtful:
            events = [NoiseEvent("ambiguous", 0, "verdict", "pass" if passes else "fail", "")]
        if fixed:
            events.append(NoiseEvent("resubmission", 0, "submission", "", str(submission)))
        if drifted:
            events.append(NoiseEvent("drift", 0, "date", "", noise.drift_after))
        return events

    def _summaries(
        self, rng: random.Random, photos: tuple[Photo, ...], clean: tuple[str, ...], drifted: bool
    ) -> tuple[tuple[str, ...], list[NoiseEvent]]:
        extra = 0.3 * self.noise.drift if drifted else 0.0
        if not self.noise.on_photos and not extra:
            return clean, []
        texts, events = [], []
        for number, (photo, text) in enumerate(zip(photos, clean, strict=True), start=1):
            if photo.items:
                text, done = corrupt(rng, self.pack, self.noise, number, photo.items, photo.notes, extra)
                events += done
            texts.append(text)
        return tuple(texts), events

    def _remarks(
        self, rng: random.Random, state: SiteState, label: TicketVerdict, unobservable: bool
    ) -> tuple[str, ...]:
        """What stands beside a rejection: the real fault often, and something unobservable where that was the cause."""
        if label == "pass":
            return ()
        if unobservable or state.passes:
            # what a convention forbids is said by nobody: the remark is about something else
            return (rng.choice(self.mission.remarks),)
        if rng.random() >= REMARKED:
            return ()
        wrong = [
            NeedFinding(need, station.number, station.needs[need.id]).says
            for station in state.stations
            for need in self.mission.needs
            if station.needs[need.id] in ("defect", "absent")
        ]
        return tuple(dict.fromkeys(wrong))


def _date(text: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise WhetError(f"noise: 'drift_after' must be a date such as 2026-07-01, not {text!r}") from None


def rng_of(*names: str | int) -> random.Random:
    return random.Random(seed_for(*names))


@functools.cache
def _undrawn(pack: Pack, mission: Mission) -> frozenset[tuple[str, str]]:
    """Attributes that a need speaks of although no drawing shows them."""
    asked = {(need.category, name) for need in mission.needs for name in (*need.good, need.known) if name}
    conditions = [need.holds for need in mission.needs if need.holds is not None]
    asked |= {(seen.category, seen.attribute) for condition in conditions for seen in appearances(condition)}
    special = {pack.labels.text, pack.labels.legibility}
    return frozenset(
        (category.name, attribute.name)
        for category in pack.categories
        for attribute in category.attributes
        if (category.name, attribute.name) in asked and not attribute.marks and attribute.name not in special
    )
