"""Stage-A's files: lines that are streamed as groups become whole, then all of them in the order of discovery.

Everything is made from the plan and from the ledger, so a run that was killed and started again ends in the same bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.apps.groupqc.stage_a.config import PhotosSection, StageAFiles
from whet.apps.groupqc.stage_a.plan import PlannedGroup, StageAPlan
from whet.envs.groupqc.photos.answer import FOREIGN
from whet.envs.groupqc.photos.file import PhotoFile
from whet.envs.groupqc.photos.folder import index_of
from whet.envs.groupqc.photos.layout import Refusal, named_refusals
from whet.envs.groupqc.tickets.line import json_line
from whet.envs.groupqc.tickets.open import OpenTicket, RefusedPhoto
from whet.files import write_atomically, write_json


@dataclass(frozen=True, slots=True)
class PhotoOutcome:
    """What became of one photo: a summary, or a short stable code and what it means."""

    summary: str = ""
    reason: str = ""
    detail: str = ""


PhotoOutcomes = Mapping[int, PhotoOutcome]
"""What is known so far, by the index of a photo."""


@dataclass(frozen=True, slots=True)
class StageAOutput:
    """The rows of a run as it stands. `pending` groups were not answered yet: no error, and no line."""

    lines: tuple[bytes, ...]
    errors: tuple[Mapping[str, Any], ...]
    pending: int


class StageALines:
    """Turns answered groups into rows; in a sharded run they carry their place, for the merge."""

    def __init__(self, plan: StageAPlan, section: PhotosSection) -> None:
        self._plan = plan
        self._key = plan.pack.words.image_key if section.keys == "pack" else section.keys
        self.parts = section.share[1] > 1
        self._by_image = self.parts and section.shard_by == "image"

    def output(self, answers: PhotoOutcomes) -> StageAOutput:
        lines: list[bytes] = []
        errors = [(seq, refusal) for seq, refusal in self._plan.refused]
        pending = 0
        for group in self._plan.groups:
            told = [answers.get(index_of(photo)) for _, photo in group.own]
            if any(answer is None for answer in told):
                pending += 1
                continue
            known = [answer for answer in told if answer is not None]
            lines += self._lines(group, known)
            if not self._by_image:
                errors += [(group.seq, refusal) for refusal in refusals(group, known)]
        errors.sort(key=lambda error: error[0])
        rows = [{"group_seq": seq, **error.as_row()} if self.parts else error.as_row() for seq, error in errors]
        return StageAOutput(tuple(lines), tuple(rows), pending)

    def group_lines(self, group: PlannedGroup, answers: PhotoOutcomes) -> list[bytes]:
        """The lines of one group, none as long as a photo of it is open."""
        told = [answers.get(index_of(photo)) for _, photo in group.own]
        known = [answer for answer in told if answer is not None]
        return self._lines(group, known) if len(known) == len(told) else []

    def _lines(self, planned: PlannedGroup, told: Sequence[PhotoOutcome]) -> list[bytes]:
        if self._by_image:
            rows = [self._answer_row(planned, *own, answer) for own, answer in zip(planned.own, told, strict=True)]
            rows += [self._refused_row(planned, number, refusal) for number, refusal in planned.refused]
            return [json_line(row) for row in rows]
        kept = [
            (photo.path.name, answer.summary)
            for (_, photo), answer in zip(planned.own, told, strict=True)
            if not answer.reason
        ]
        if not kept or any(answer.reason not in ("", FOREIGN) for answer in told):
            return []
        lost = tuple(RefusedPhoto(Path(refusal.file).name, refusal.reason) for refusal in refusals(planned, told))
        names, summaries = zip(*kept, strict=True)
        row = OpenTicket(planned.group.group_id, planned.group.mission, names, summaries, lost)
        line = row.as_line(planned.group.label, self._key)
        return [json_line({"group_seq": planned.seq, **line} if self.parts else line)]

    def _answer_row(self, planned: PlannedGroup, number: int, photo: PhotoFile, answer: PhotoOutcome) -> dict[str, Any]:
        if answer.reason == FOREIGN:
            return self._refused_row(planned, number, _foreign(planned, photo, answer))
        said = {"error": answer.reason, "detail": answer.detail} if answer.reason else {"summary": answer.summary}
        return {**self._image_row(planned, number, str(photo.path)), "ok": not answer.reason, **said}

    def _refused_row(self, planned: PlannedGroup, number: int, refusal: Refusal) -> dict[str, Any]:
        said = {"ok": False, "refused": True, "error": refusal.reason, "detail": refusal.detail}
        return {**self._image_row(planned, number, refusal.file), **said}

    def _image_row(self, planned: PlannedGroup, number: int, file: str) -> dict[str, Any]:
        return {
            "group_seq": planned.seq,
            "group_id": planned.group.group_id,
            "mission": planned.group.mission,
            "label": planned.group.label,
            "image_index": number,
            "image_name": Path(file).name,
            "file": file,
            "images": list(planned.names),
            "image_key": self._key,
        }


def refusals(group: PlannedGroup, told: Sequence[PhotoOutcome]) -> list[Refusal]:
    """Photos that the group goes on without; or where an answer is no summary, one row about the first such photo."""
    for (_, photo), answer in zip(group.own, told, strict=True):
        if answer.reason not in ("", FOREIGN):
            return [Refusal(str(photo.path), answer.reason, answer.detail, group.group.ticket_key)]
    unknown = [
        (number, _foreign(group, photo, answer))
        for (number, photo), answer in zip(group.own, told, strict=True)
        if answer.reason == FOREIGN
    ]
    lost = sorted((*group.refused, *unknown), key=lambda placed: placed[0] or LAST)
    return named_refusals([refusal for _, refusal in lost], left=len(unknown) < len(group.own))


def _foreign(group: PlannedGroup, photo: PhotoFile, answer: PhotoOutcome) -> Refusal:
    return Refusal(str(photo.path), answer.reason, answer.detail, group.group.ticket_key, photo=True)


LAST = 1 << 30
"""The place of what is called like a photo and has no number in its group."""


class LineStream:
    """Appends a group's lines as soon as it is whole: the file can be followed while the run goes on."""

    def __init__(self, plan: StageAPlan, lines: StageALines, path: Path) -> None:
        self._lines = lines
        self._path = path
        self._waiting: dict[int, list[PlannedGroup]] = {}
        self._open: Counter[int] = Counter()
        for group in plan.groups:
            indices = {index_of(photo) for _, photo in group.own}
            self._open[group.seq] = len(indices)
            for index in indices:
                self._waiting.setdefault(index, []).append(group)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")

    def settle(self, index: int, answers: PhotoOutcomes) -> None:
        """A photo is answered for good: write the groups that waited for it alone."""
        for group in self._waiting.pop(index, ()):
            self._open[group.seq] -= 1
            if not self._open[group.seq]:
                with self._path.open("ab") as file:
                    file.write(b"".join(self._lines.group_lines(group, answers)))


def write_files(
    plan: StageAPlan,
    files: StageAFiles,
    output: StageAOutput,
    photos: Sequence[Mapping[str, Any]],
    manifest: Mapping[str, Any],
) -> None:
    """All files of a run, each whole."""
    write_atomically(files.photos, b"".join(map(json_line, photos)))
    write_atomically(files.out, b"".join(output.lines))
    write_atomically(files.errors, b"".join(map(json_line, output.errors)))
    alike = [{"first": copy.first, "second": copy.second, "distance": copy.distance} for copy in plan.copies]
    write_atomically(files.copies, b"".join(map(json_line, alike)))
    write_json(files.manifest, manifest)
