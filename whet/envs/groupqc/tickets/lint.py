"""`whet groupqc lint F.jsonl`: what is wrong with a Stage-A file, line by line, and what is merely odd about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from whet.envs.groupqc.pack.file import find_mission, load_packs
from whet.envs.groupqc.pack.schema import Mission, Pack
from whet.envs.groupqc.photos.layout import MOST_PHOTOS, Refusal
from whet.envs.groupqc.records import SiteTicket
from whet.envs.groupqc.summaries.counts import problems, read_summary
from whet.envs.groupqc.tickets.line import BadLine, numbered_lines, read_line
from whet.errors import WhetError


@dataclass(frozen=True, slots=True)
class LintReport:
    """What was found in a file. `problems` make a line unusable; `odd` is counted, and shown with its first place."""

    file: Path
    records: int
    problems: tuple[Refusal, ...]
    odd: Mapping[str, int] = field(default_factory=dict)
    first: Mapping[str, int] = field(default_factory=dict)
    """The line on which something odd stands first."""
    categories: Mapping[str, int] = field(default_factory=dict)
    """In how many summaries each category stands."""
    forms: Mapping[str, int] = field(default_factory=dict)

    @property
    def clean(self) -> bool:
        return not self.problems

    def lines(self) -> list[str]:
        """What to print, one fact a line."""
        told = [str(problem) for problem in self.problems]
        told += [f"{self.file}:{self.first[what]}: odd, {count} times: {what}" for what, count in self.odd.items()]
        forms = ", ".join(f"{count} {form}" for form, count in self.forms.items())
        return [
            *told,
            f"{self.file}: {self.records} records, {len(self.problems)} problems; summaries: {forms or 'none'}",
        ]


def lint_file(path: Path, packs: Iterable[Pack] | None = None, most_photos: int = MOST_PHOTOS) -> LintReport:
    """Read a Stage-A file to its end. A file that cannot be read is an error; all else is in the report."""
    linter = _Linter(path, tuple(packs) if packs is not None else load_packs(), most_photos)
    for number, line in numbered_lines(path):
        try:
            linter.take(number, read_line(line))
        except BadLine as bad:
            linter.refuse(number, bad)
    return linter.report()


class _Linter:
    """Reads a file line by line and collects what its report will say."""

    def __init__(self, path: Path, packs: tuple[Pack, ...], most_photos: int) -> None:
        self._path = path
        self._packs = packs
        self._most = most_photos
        self._records = 0
        self._problems: list[Refusal] = []
        self._lines: dict[str, int] = {}
        self._evidence: dict[str, tuple[int, SiteTicket]] = {}
        self._odd: Counter[str] = Counter()
        self._first: dict[str, int] = {}
        self._categories: Counter[str] = Counter()
        self._forms: Counter[str] = Counter()

    def take(self, number: int, ticket: SiteTicket) -> None:
        self._records += 1
        try:
            pack, mission = find_mission(ticket.mission, self._packs)
        except WhetError as problem:
            raise BadLine("unknown_mission", str(problem)) from None
        self._check_ticket(number, ticket)
        for image, text in enumerate(ticket.summaries, start=1):
            for what in self._summary(pack, mission, text):
                self._odd[what] += 1
                self._first.setdefault(what, number)
            if "\n" in text:
                raise BadLine("many_lines", f"the summary of image {image} is not one line")

    def refuse(self, number: int, bad: BadLine) -> None:
        self._problems.append(Refusal(str(self._path), bad.reason, bad.detail, line=number))

    def report(self) -> LintReport:
        return LintReport(
            self._path,
            self._records,
            tuple(self._problems),
            dict(self._odd.most_common()),
            self._first,
            dict(self._categories.most_common()),
            dict(self._forms.most_common()),
        )

    def _check_ticket(self, number: int, ticket: SiteTicket) -> None:
        if len(ticket.images) > self._most:
            raise BadLine(
                "too_many_photos", f"{len(ticket.images)} photos, and at most {self._most} belong to one group"
            )
        before = self._lines.setdefault(f"{ticket.mission}\x1f{ticket.key}", number)
        if before != number:
            raise BadLine("duplicate_ticket", f"{ticket.key} stands on line {before} already")
        line, other = self._evidence.setdefault(f"{ticket.mission}\x1f{ticket.group_id}", (number, ticket))
        same = (other.images, other.summaries) == (ticket.images, ticket.summaries)
        if other.label != ticket.label and same:
            raise BadLine("two_labels", f"the same evidence is labelled {other.label} on line {line}")

    def _summary(self, pack: Pack, mission: Mission, text: str) -> Iterator[str]:
        reading = read_summary(pack, text)
        self._forms[reading.form] += 1
        self._categories.update({entry.category for entry in reading.entries})
        yield from problems(pack, mission, reading)
