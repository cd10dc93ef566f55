"""The generator: sites with a latent state, the photos that show it, the summaries, and what a reviewer said.

Everything depends on the pack, the mission, the noise, the seed, the split and the index alone. A group id belongs to
the split that its hash says (`whet.envs.splits`), so a site that is handed in again never stands on both sides.
"""

from __future__ import annotations

import datetime
import random

from whet.envs.groupqc.pack.schema import Mission, Pack, TicketVerdict
from whet.envs.groupqc.records import GeneratedGroup, NoiseEvent, Photo, SiteTicket, Truth
from whet.envs.groupqc.summaries.text import render_summary
from whet.envs.groupqc.verdict.rules import NeedFinding
from whet.envs.groupqc.world.noise import NO_NOISE, Noise, corrupt
from whet.envs.groupqc.world.scene import SiteStyle, as_photo, photo_count, shoot
from whet.envs.groupqc.world.state import SiteState, draw_state
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


class SiteWorld:
    """Tickets of one mission.

    Where the resubmission channel acts, tickets 2k and 2k + 1 are one site: rejected, then approved under the same id.
    """

    def __init__(self, pack: Pack, mission: Mission, noise: Noise = NO_NOISE, seed: int = 0) -> None:
        self.pack = pack
        self.mission = mission
        self.noise = noise
        self.seed = seed
        self._drift_from = _date(noise.drift_after)

    def ticket(self, split: Split, index: int) -> SiteTicket:
        return self.group(split, index).ticket

    def group(self, split: Split, index: int) -> GeneratedGroup:
        """The ticket at `index` with its photos and its truth."""
        if not 0 <= index < SITES:
            raise WhetError(f"{self.mission.name}: there is no ticket {index}: indices run from 0 to {SITES - 1:,}")
        first = index - index % 2
        names = ("groupqc", self.pack.name, self.mission.code, self.seed, split)
        again = random.Random(seed_for(*names, "again", first)).random() < self.noise.resubmission
        site = first if again else index
        rng = random.Random(seed_for(*names, "site", site))
        day = FIRST_DAY + datetime.timedelta(days=int(rng.random() * DAYS))
        group_id = self._group_id(split, site, day)
        if not again:
            passes = rng.random() < self.mission.pass_share
            return self._group(rng, group_id, site, day, passes, submission=1, fixed=False)
        second = index != first
        rng = random.Random(seed_for(*names, "submission", index))
        later = day + datetime.timedelta(days=3 + int(rng.random() * 20)) if second else day
        return self._group(rng, group_id, site, later, passes=second, submission=2 if second else 1, fixed=True)

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
        day: datetime.date,
        passes: bool,
        submission: int,
        fixed: bool,
    ) -> GeneratedGroup:
        """One submission. `fixed`: its label is part of a story and is not flipped."""
        drifted = bool(self.noise.drift) and day >= self._drift_from
        style = SiteStyle(self.noise.drift if drifted else 0.0)
        count = photo_count(rng)
        places = min(count, 1 + (rng.random() < 0.4) + (rng.random() < 0.15)) if self.mission.per_station else 1
        state = draw_state(rng, self.pack, self.mission, passes, places)
        shown = shoot(rng, self.pack, self.mission, state, count, style)
        photos = tuple(as_photo(f"{group_id}_{n}.jpg", content, rng) for n, content in enumerate(shown, start=1))
        clean = tuple(render_summary(self.pack, photo.items, photo.notes) for photo in photos)
        events = self._ticket_events(rng, passes, submission, fixed, drifted)
        channels = {event.channel for event in events}
        verdict: TicketVerdict = "pass" if passes and "unobservable" not in channels else "fail"
        label: TicketVerdict = ("fail" if verdict == "pass" else "pass") if "label" in channels else verdict
        summaries, spoiled = self._summaries(rng, photos, clean, drifted)
        ticket = SiteTicket(
            group_id,
            self.mission.name,
            label,
            tuple(photo.name for photo in photos),
            summaries,
            label_timestamp=day.isoformat(),
            remarks=self._remarks(rng, state, label, "unobservable" in channels),
        )
        observable: TicketVerdict = "pass" if passes else "fail"
        truth = Truth(
            verdict, observable, state.statuses(), clean, (*events, *spoiled), submission, day.isoformat(), site
        )
        return GeneratedGroup(ticket, photos, truth)

    def _ticket_events(
        self, rng: random.Random, passes: bool, submission: int, fixed: bool, drifted: bool
    ) -> list[NoiseEvent]:
        """What befell the ticket as a whole."""
        noise, events = self.noise, []
        if passes and not fixed and noise.unobservable and rng.random() < noise.unobservable:
            events.append(NoiseEvent("unobservable", 0, "verdict", "pass", "fail"))
        if not fixed and noise.label and rng.random() < noise.label:
            flipped = passes and not events
            events.append(NoiseEvent("label", 0, "label", *(("pass", "fail") if flipped else ("fail", "pass"))))
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
