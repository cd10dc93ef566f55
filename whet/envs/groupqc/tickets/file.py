"""Stage-A files read into tickets: what is no ticket is set aside with file, line and reason while the rest goes on.

Both key schemes are read (`图片_1`, `image_1`), and files of older kinds: without image names, with keys that have no
number, with summaries that are objects, JSON inside JSON, or plain text.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.envs.groupqc.records import SiteTicket
from whet.envs.groupqc.tickets.line import SCHEMES, BadLine, parse_object, read_row
from whet.errors import WhetError, nearest

ENDING = "_stage_a.jsonl"
"""How Stage-A files are called inside a folder."""

EXCERPT = 200

_NUMBER = re.compile(r"(\d{1,9})\s*$")


@dataclass(frozen=True, slots=True)
class Reject:
    """A line that is no ticket, or a ticket that cannot be asked: where it stands and why."""

    file: str
    line: int
    reason: str
    """A short stable code; `detail` says it for a person."""
    detail: str
    text: str = ""

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.reason}: {self.detail}"

    def as_line(self) -> dict[str, Any]:
        return {
            "file": self.file,
            "line": self.line,
            "reason": self.reason,
            "detail": self.detail,
            "text": self.text[:EXCERPT],
        }


@dataclass(frozen=True, slots=True)
class TicketLine:
    """A ticket with the file and line that it was read from."""

    ticket: SiteTicket
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class TicketFile:
    """The tickets of Stage-A files. `excluded` are keys that a filter took out; `digest` is of the files' bytes."""

    lines: tuple[TicketLine, ...]
    rejects: tuple[Reject, ...]
    excluded: tuple[str, ...]
    digest: str


def read_tickets(
    path: Path, known: Collection[str], *, wanted: Collection[str] = (), exclude: Collection[str] = ()
) -> TicketFile:
    """The tickets of a file, or of the `*_stage_a.jsonl` files in a folder; what is no ticket is among the rejects.

    `known` are the missions there are. `wanted` keeps the tickets of some of them, `exclude` drops ticket keys.
    """
    for mission in wanted:
        if mission not in known:
            raise WhetError(f"there is no mission {mission!r}.{nearest(mission, known)}")
    lines: list[TicketLine] = []
    rejects: list[Reject] = []
    digest = hashlib.blake2b(digest_size=16)
    earlier = _EarlierTickets()
    for file in stage_a_files(path):
        content, numbered = ticket_lines(file)
        digest.update(len(content).to_bytes(8, "big") + content)
        for number, line in numbered:
            try:
                ticket = ticket_of(line, known)
                earlier.take(ticket, f"{file.name}, line {number}")
            except BadLine as bad:
                text = line.decode("utf-8", "replace").strip()
                rejects.append(Reject(file.name, number, bad.reason, bad.detail, text))
            else:
                lines.append(TicketLine(ticket, file.name, number))
    of_missions = [line for line in lines if not wanted or line.ticket.mission in wanted]
    kept = tuple(line for line in of_missions if line.ticket.key not in exclude)
    excluded = tuple(sorted(line.ticket.key for line in of_missions if line.ticket.key in exclude))
    return TicketFile(kept, tuple(rejects), excluded, digest.hexdigest())


def stage_a_files(path: Path) -> list[Path]:
    """The file itself, or the Stage-A files that a folder holds."""
    if not path.exists():
        raise WhetError(f"{path}: no such file; make it with: whet groupqc stage-a ROOT --mission M --out {path}")
    if not path.is_dir():
        return [path]
    found = sorted(file for file in path.iterdir() if file.name.endswith(ENDING))
    if not found:
        raise WhetError(f"{path}: holds no *{ENDING} file; name the file itself")
    return found


def read_exclusions(given: str | Iterable[str]) -> frozenset[str]:
    """Ticket keys to leave out: as they are given, or from a text file with one a line and `#` for remarks."""
    if not isinstance(given, str):
        return frozenset(given)
    try:
        lines = Path(given).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise WhetError(f"exclude: {given} cannot be read ({error}); it holds one ticket key a line") from None
    keys = (line.partition("#")[0].strip() for line in lines)
    return frozenset(key for key in keys if key)


def ticket_lines(file: Path) -> tuple[bytes, Iterator[tuple[int, bytes]]]:
    """The bytes of a file, and its lines with their numbers."""
    content = _content(file)
    return content, _lines(content)


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise WhetError(f"{file}: cannot be read ({error.strerror})") from None


def _lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Lines that are not blank, numbered from 1. Only a line feed ends one: summaries may hold odd separators."""
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if line and not line.isspace():
            yield number, line


def ticket_of(
    line: bytes, known: Collection[str], prepared: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict
) -> SiteTicket:
    """The ticket of one line, or `BadLine`. `prepared` may change the row before it is checked."""
    try:
        row = parse_object(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise BadLine("not_text", f"not UTF-8 at byte {error.start}") from None
    mission = row.get("mission")
    if isinstance(mission, str) and mission not in known:
        raise BadLine("unknown_mission", f"the mission {mission!r} is in no pack.{nearest(mission, known)}")
    return read_row(prepared(_brought_up(row)))


def _brought_up(row: dict[str, Any]) -> dict[str, Any]:
    """A row of an older kind in the form of today's; what cannot be understood is left to be refused."""
    given = row.get("per_image")
    if not isinstance(given, dict):
        return row
    summaries = {key: _unwrapped(value) for key, value in given.items()}
    if not all(key.startswith(SCHEMES) for key in summaries):
        summaries = _numbered(summaries)
    names = row["images"] if "images" in row else [f"image_{number}" for number in range(1, len(summaries) + 1)]
    return {**row, "per_image": summaries, "images": names}


def _numbered(summaries: Mapping[str, Any]) -> dict[str, Any]:
    """Keys of another scheme by the number at their end; by position where none has one."""
    numbers = [int(found[1]) if (found := _NUMBER.search(key)) else None for key in summaries]
    if all(number is None for number in numbers):
        numbers = list(range(1, len(summaries) + 1))
    if None in numbers or len(set(numbers)) < len(numbers):
        raise BadLine("bad_key", f"the keys of 'per_image' are not numbered: {', '.join(list(summaries)[:6])}")
    return {f"{SCHEMES[-1]}{number}": text for number, text in zip(numbers, summaries.values(), strict=True)}


def _unwrapped(value: Any) -> Any:
    """An object written out as text; text that was encoded twice, decoded."""
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and value[:1] == '"':
        try:
            inner = json.loads(value)
        except ValueError:
            return value
        return inner if isinstance(inner, str) else value
    return value


class _EarlierTickets:
    """The tickets read so far: finds one that stands twice, and evidence that carries both labels.

    A site that is rejected and handed in again is two tickets, and its evidence has changed in between.
    """

    def __init__(self) -> None:
        self._places: dict[tuple[str, str], str] = {}
        self._first: dict[tuple[str, str], tuple[SiteTicket, str]] = {}

    def take(self, ticket: SiteTicket, place: str) -> None:
        before = self._places.setdefault((ticket.mission, ticket.key), place)
        if before != place:
            raise BadLine("duplicate_ticket", f"the ticket {ticket.key!r} stands already in {before}")
        other, where = self._first.setdefault((ticket.mission, ticket.group_id), (ticket, place))
        if other.label != ticket.label and (other.images, other.summaries) == (ticket.images, ticket.summaries):
            said = f"the same evidence of {ticket.group_id!r} is labelled {other.label!r} in {where}"
            raise BadLine("two_labels", said)
