"""What driver and station say to each other. Plain records: what travels is what stands here."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from operator import attrgetter
from typing import Any, Protocol

from whet.config.schema import PolicyConfig
from whet.ledger.account import AttemptReserve, How
from whet.types import Fault, Policy, Role, Rollout, Ticket, Usage

# --------------------------------------------------------------------------------------------- to a station


@dataclass(frozen=True, slots=True)
class StationKit:
    """What a station is set up from, once: the config, and where the run and the user's files lie."""

    version: str
    config: PolicyConfig
    run: str
    home: str
    path: tuple[str, ...]
    beat: float
    """Seconds after which a station that has nothing to say says so."""


@dataclass(frozen=True, slots=True)
class SeatOrder:
    """A policy to seat, and the model that answers for it: by its name, or with its `body` where that is not enough."""

    role: Role
    policy: Policy
    model: str
    free: bool
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class StationAssignment:
    """Who plays where, from now on. `view` is the environment as the plan sees it, less the one of the config."""

    fingerprint: str
    """Of the environment of the config."""
    view: bytes
    seats: tuple[SeatOrder, ...]
    policy: str
    env: bytes = b""
    """The environment itself, where its name is not enough."""


@dataclass(frozen=True, slots=True)
class PlayOrder:
    """Attempt a ticket. One that is `known` is only opened, to compare what would be asked with what was."""

    number: int
    ticket: Ticket
    key: str
    known: bool


@dataclass(frozen=True, slots=True)
class Grant:
    """An attempt at a call is paid for and on record under a number."""

    wish: int
    attempt: int


@dataclass(frozen=True, slots=True)
class Denial:
    """An attempt at a call cannot be paid: which budget is reached."""

    wish: int
    what: str
    limit: float
    spent: float


# --------------------------------------------------------------------------------------------- from a station


@dataclass(frozen=True, slots=True)
class Lack:
    """Something that an assignment names and that could not be made here; `what` is 'env' or a model's fingerprint."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class GradedRow:
    """A graded rollout as the ledger has it, made where it was played: whoever writes has only to number it."""

    rollout: Rollout
    """Without its turns."""
    row: tuple[Any, ...]
    transcript: bytes


@dataclass(frozen=True, slots=True)
class PlayEnd:
    """What became of an order: a rollout, a fault that kept it from being played, or the hash of a known request."""

    number: int
    came: GradedRow | Rollout | Fault | str


@dataclass(frozen=True, slots=True)
class PlayHalt:
    """An attempt came upon what ends the whole plan: a budget, a service that gave out, or a thing to be mended."""

    number: int
    why: str
    kind: str
    """`budget`, `service`, `user` (a `WhetError`) or `defect`."""


@dataclass(frozen=True, slots=True)
class AttemptWish:
    """An attempt at a call that is to be paid for."""

    wish: int
    key: str
    role: str
    reserve: AttemptReserve


@dataclass(frozen=True, slots=True)
class AttemptEnd:
    """An attempt at a call is over, and counts as `used`."""

    attempt: int
    how: How
    used: Usage


@dataclass(frozen=True, slots=True)
class AttemptDone:
    """An attempt at a call that nobody is paid for and no budget counts: on record once it is over."""

    key: str
    role: str
    reserve: AttemptReserve
    how: How
    used: Usage


# --------------------------------------------------------------------------------------------- the way between


_VALUES: dict[type[object], Callable[[Any], tuple[Any, ...]] | None] = {}
"""What gives the values of each class that was met."""


class _RecordPickler(pickle.Pickler):
    """Writes a record as its class and its values: a frozen one with slots is otherwise taken apart field by field."""

    def reducer_override(self, held: object) -> Any:
        kind = type(held)
        if kind not in _VALUES:
            _VALUES[kind] = _values_of(kind)
        values = _VALUES[kind]
        return NotImplemented if values is None else (kind, values(held))


def _values_of(kind: type[object]) -> Callable[[Any], tuple[Any, ...]] | None:
    """What gives the values that a record is made again from; None for what is no plain record."""
    if not is_dataclass(kind) or "__post_init__" in dir(kind):
        return None
    if not all(field.init and not field.kw_only for field in fields(kind)):
        return None
    names = [field.name for field in fields(kind)]
    if len(names) > 1:
        return attrgetter(*names)
    return lambda held: tuple(getattr(held, name) for name in names)


def packed(said: Any) -> bytes:
    stream = io.BytesIO()
    _RecordPickler(stream, protocol=5).dump(said)
    return stream.getvalue()


def unpacked(data: bytes) -> Any:
    """Only what our own processes wrote comes this way."""
    return pickle.loads(data)


class LinkLost(Exception):
    """Whoever was at the other end is gone."""


class StationLink(Protocol):
    """The way to one station. Each of the first and the third raises `LinkLost` where there is nobody any more."""

    async def assign(self, assignment: StationAssignment) -> Sequence[Lack]: ...

    def post(self, messages: Sequence[Any]) -> None:
        """Send and do not wait; whether it arrived shows at the next `collect`."""
        ...

    async def collect(self) -> Sequence[Any]:
        """What the station has to say, as soon as there is something; nothing after a beat."""
        ...

    def kill(self) -> None:
        """End it, whatever it is at."""
        ...
