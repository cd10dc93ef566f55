"""The latent state of a site: for each station, how every need of the mission really stands."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from whet.envs.groupqc.pack.schema import Mission, Need, Pack
from whet.envs.groupqc.records import NeedStatus

ABSENT_SHARE = 0.55
"""Of what is wrong with a failing site, the share that was not photographed at all."""

ALSO_WRONG = 0.15
EXEMPT_SHARE = 0.4
UNRELATED_ONLY = 0.05
"""The share of failing sites whose photos are all of something else."""


@dataclass(frozen=True, slots=True)
class Station:
    """One place of a site: its number ('' where places have none) and the status of each need by id."""

    number: str
    needs: dict[str, NeedStatus]


@dataclass(frozen=True, slots=True)
class SiteState:
    """The state of a whole site. With `blank`, all its photos are of something else."""

    stations: tuple[Station, ...]
    blank: bool = False

    @property
    def passes(self) -> bool:
        return all(status in ("ok", "exempt") for station in self.stations for status in station.needs.values())

    def statuses(self) -> dict[str, NeedStatus]:
        """Every need with its status, under `need` or `station/need`."""
        return {
            f"{station.number}/{need}" if station.number else need: status
            for station in self.stations
            for need, status in station.needs.items()
        }

    def as_found(self, found: Mapping[str, NeedStatus]) -> SiteState:
        """The same stations with their needs as they were found; a site that shows nothing stays as it is."""
        if self.blank:
            return self
        key = "{}/{}".format
        return replace(
            self,
            stations=tuple(
                replace(
                    station,
                    needs={
                        need: found.get(key(station.number, need) if station.number else need, status)
                        for need, status in station.needs.items()
                    },
                )
                for station in self.stations
            ),
        )


def draw_state(
    rng: random.Random,
    pack: Pack,
    mission: Mission,
    passes: bool,
    places: int,
    site: str = "",
    fault: tuple[str, NeedStatus] | None = None,
) -> SiteState:
    """A site that passes or fails, with that many stations. With `fault`, one station has it and nothing else fails."""
    if not passes and fault is None and rng.random() < UNRELATED_ONLY:
        return SiteState((Station("", {need.id: "absent" for need in mission.needs}),), blank=True)
    failing = rng.randrange(places) if not passes else -1
    drawn: list[Station] = []
    for place, number in enumerate(_numbers(rng, pack, mission, places)):
        fails = place == failing or (not passes and fault is None and rng.random() < ALSO_WRONG)
        if fails and fault is not None:
            statuses = _with_fault(rng, mission, *fault)
        else:
            statuses = _failing(rng, mission) if fails else _passing(rng, mission)
        drawn.append(Station(number, _at_site(mission, site, statuses)))
    return SiteState(tuple(drawn))


def _with_fault(rng: random.Random, mission: Mission, wrong: str, status: NeedStatus) -> dict[str, NeedStatus]:
    statuses: dict[str, NeedStatus] = {**_passing(rng, mission), wrong: status}
    return _settled(mission, next(need for need in mission.needs if need.id == wrong), statuses)


def _at_site(mission: Mission, site: str, statuses: dict[str, NeedStatus]) -> dict[str, NeedStatus]:
    """A need of other kinds of site does not apply."""
    elsewhere = {need.id for need in mission.needs if need.sites and site not in need.sites}
    return {need: "exempt" if need in elsewhere else status for need, status in statuses.items()}


def _numbers(rng: random.Random, pack: Pack, mission: Mission, places: int) -> list[str]:
    if pack.stations is None or not mission.per_station:
        return [""] * places
    return [str(number) for number in rng.sample(range(pack.stations.least, pack.stations.most + 1), places)]


def _passing(rng: random.Random, mission: Mission) -> dict[str, NeedStatus]:
    return {
        need.id: "exempt" if need.when is not None and rng.random() < EXEMPT_SHARE else "ok" for need in mission.needs
    }


def _failing(rng: random.Random, mission: Mission) -> dict[str, NeedStatus]:
    """One need is not met, and each other one with a small chance."""
    statuses = _passing(rng, mission)
    shared = Counter(need.category for need in mission.needs)
    first = mission.needs[int(rng.random() * len(mission.needs))]
    lost = 0
    for need in sorted(mission.needs, key=lambda need: need.id != first.id):
        if need.id != first.id and rng.random() >= ALSO_WRONG:
            continue
        status = _fault(rng, need, shared[need.category] > 1)
        vanishes = status == "absent" and shared[need.category] == 1
        if vanishes and mission.per_station and lost >= len(shared) - 1:
            continue  # a station of which nothing is shown would not be a station
        lost += vanishes
        statuses[need.id] = status
    return _settled(mission, first, statuses)


def _fault(rng: random.Random, need: Need, shared: bool) -> NeedStatus:
    """How a need can fail: not shown, or shown and bad. What others share a category with may only be hidden."""
    if need.holds is not None:
        return "defect"
    can_break = bool(need.good) or need.labelled
    can_vanish = not shared or (bool(need.good) and not need.labelled)
    if not can_break:
        return "absent"
    return "absent" if can_vanish and rng.random() < ABSENT_SHARE else "defect"


def _settled(mission: Mission, first: Need, statuses: dict[str, NeedStatus]) -> dict[str, NeedStatus]:
    """A conditional need fails only where its condition can be seen."""
    for need in mission.needs:
        if need.when is None:
            continue
        asked = [other for other in mission.needs if other.category == need.when[0] and statuses[other.id] == "absent"]
        if asked and need.id != first.id:
            statuses[need.id] = "exempt"
        elif asked:
            statuses.update({other.id: "ok" for other in asked})
    return statuses
