"""Where Stage-B's tickets come from: the generator, or a Stage-A file. Either way a site is in one split alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from whet.envs.groupqc.pack.schema import Mission, Pack
from whet.envs.groupqc.records import GeneratedGroup, SiteTicket
from whet.envs.groupqc.tickets.file import Reject, TicketFile, TicketLine
from whet.envs.groupqc.world.noise import Noise
from whet.envs.groupqc.world.world import SiteWorld
from whet.envs.splits import split_of
from whet.errors import WhetError
from whet.types import SPLITS, Label, Split

Missions = Mapping[str, tuple[Pack, Mission]]


class TicketSource(Protocol):
    """Tickets by split and index."""

    def size(self, split: Split) -> int | None: ...

    def label(self, split: Split, index: int) -> Label: ...

    def ticket(self, split: Split, index: int) -> SiteTicket: ...


@dataclass(frozen=True, slots=True)
class GeneratedTickets:
    """Tickets of the generator. Missions take turns by pairs, since both of a pair may be one site, handed in twice."""

    worlds: tuple[SiteWorld, ...]

    @classmethod
    def of(cls, missions: Missions, noise: Noise, seed: int, conventions: int | None = None) -> GeneratedTickets:
        return cls(tuple(SiteWorld(pack, mission, noise, seed, conventions) for pack, mission in missions.values()))

    def size(self, split: Split) -> int | None:
        return None

    def label(self, split: Split, index: int) -> Label:
        return Label(self._place(index)[0].mission.name)

    def ticket(self, split: Split, index: int) -> SiteTicket:
        return self.group(split, index)[1].ticket

    def group(self, split: Split, index: int) -> tuple[Pack, GeneratedGroup]:
        """The whole of a ticket, its truth included: for writing files, never for a prompt."""
        world, inner = self._place(index)
        return world.pack, world.group(split, inner)

    def _place(self, index: int) -> tuple[SiteWorld, int]:
        pair, second = divmod(index, 2)
        turn, which = divmod(pair, len(self.worlds))
        return self.worlds[which], 2 * turn + second


class FiledTickets:
    """Tickets of Stage-A files. The group id alone decides the split, so appended lines move none of the others."""

    def __init__(self, read: TicketFile, too_long: Sequence[TicketLine]) -> None:
        left = {id(line) for line in too_long}
        self._tickets: dict[Split, list[SiteTicket]] = {split: [] for split in SPLITS}
        for line in read.lines:
            if id(line) not in left:
                self._tickets[split_of(line.ticket.group_id)].append(line.ticket)
        self.excluded = read.excluded
        over = (
            Reject(
                line.file,
                line.line,
                "over_length",
                f"{line.ticket.key} with {len(line.ticket.images)} photos is longer than max_prompt",
                line.ticket.group_id,
            )
            for line in too_long
        )
        self.rejects = tuple(sorted((*read.rejects, *over), key=lambda reject: (reject.file, reject.line)))

    def size(self, split: Split) -> int | None:
        return len(self._tickets[split])

    def label(self, split: Split, index: int) -> Label:
        ticket = self.ticket(split, index)
        photos = len(ticket.images)
        return Label(ticket.mission, "1-2 photos" if photos <= 2 else "3-5 photos" if photos <= 5 else "6+ photos")

    def ticket(self, split: Split, index: int) -> SiteTicket:
        return self._tickets[split][index]


def refuse_rejects(source: str, rejects: Sequence[Reject]) -> None:
    """The strict way: the first line that is no ticket ends it."""
    bad = [reject for reject in rejects if reject.reason != "over_length"]
    if bad:
        more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
        raise WhetError(f"{source}: {bad[0]}{more}; mend it, or set strict=false to set such lines aside")
