"""Shares of one Stage-A run put together: the result is what one run over all groups would have written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from whet.apps.groupqc.stage_a.config import StageAFiles
from whet.apps.groupqc.stage_a.output import LAST
from whet.apps.groupqc.stage_a.run import StageAResult
from whet.envs.groupqc.pack.schema import as_verdict
from whet.envs.groupqc.photos.layout import Refusal, named_refusals, natural
from whet.envs.groupqc.tickets.line import BadLine, json_line, numbered_lines, parse_object, read_row
from whet.envs.groupqc.tickets.open import OpenTicket, RefusedPhoto
from whet.errors import WhetError
from whet.files import write_atomically

ShardRow = Mapping[str, Any]


def merge_shards(parts: Sequence[Path], out: Path) -> StageAResult:
    """One Stage-A file from the files of all shares, with one error file. A group that is not whole is an error."""
    rows = [row for part in parts for row in _rows(part)]
    told = [row for part in parts if StageAFiles(part).errors.exists() for row in _rows(StageAFiles(part).errors)]
    alone = [row for row in told if row.get("photo")]
    errors = _one_each([row for row in told if not row.get("photo")])
    by_seq: dict[int, list[ShardRow]] = {}
    for row in rows:
        by_seq.setdefault(_seq(row), []).append(row)
    failed = {_seq(row) for row in errors}
    lines: list[bytes] = []
    refused: list[tuple[int, Mapping[str, Any]]] = [(_seq(row), _without_place(row)) for row in (*errors, *alone)]
    for seq, group in sorted(by_seq.items()):
        if seq in failed:
            continue
        lost = _lost(group)
        try:
            lines.append(json_line(_whole(group, lost)))
            refused += [(seq, refusal.as_row()) for refusal in named_refusals(lost, left=True)]
        except NothingLeft:
            refused += [(seq, refusal.as_row()) for refusal in named_refusals(lost, left=False)]
        except BadLine as bad:
            refused.append((seq, _refusal(group, bad).as_row()))
    files = StageAFiles(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(files.out, b"".join(lines))
    write_atomically(files.errors, b"".join(json_line(row) for _, row in sorted(refused, key=lambda placed: placed[0])))
    _merge_photos(parts, files)
    photos = sum(bool(row.get("photo")) for _, row in refused)
    return StageAResult(files, len(lines), len(refused) - photos, photos=photos)


class NothingLeft(Exception):
    """Every photo of a group was refused."""


def _merge_photos(parts: Sequence[Path], files: StageAFiles) -> None:
    beside = [StageAFiles(part).photos for part in parts]
    rows = [row for path in beside if path.exists() for row in _rows(path)]
    rows.sort(key=lambda row: (_seq(row), int(row["number"])))
    write_atomically(files.photos, b"".join(json_line(_without_place(row)) for row in rows))


def _lost(rows: Sequence[ShardRow]) -> list[Refusal]:
    """The photos of a group that its shares refused, in order."""
    lost = sorted((row for row in rows if row.get("refused")), key=lambda row: int(row["image_index"]) or LAST)
    return [
        Refusal(str(row["file"]), str(row["error"]), str(row["detail"]), _ticket_key(row), photo=True) for row in lost
    ]


def _ticket_key(row: ShardRow) -> str:
    label = row.get("label")
    return str(row.get("group_id")) if label is None else f"{row.get('group_id')}::{label}"


def _one_each(errors: Sequence[ShardRow]) -> list[ShardRow]:
    """One error for a group: shares by image may each have found a photo of it that is none."""
    ordered = sorted(errors, key=lambda row: (_seq(row), natural(str(row.get("file")))))
    return list({_seq(row): row for row in reversed(ordered)}.values())


def _rows(path: Path) -> Iterator[ShardRow]:
    for number, line in numbered_lines(path):
        try:
            row = parse_object(line)
            if type(row.get("group_seq")) is not int:
                raise BadLine("missing_field", "there is no 'group_seq': only files of a sharded run can be merged")
        except BadLine as bad:
            raise WhetError(f"{path}, line {number}: {bad}") from None
        yield row


def _seq(row: ShardRow) -> int:
    return int(row["group_seq"])


def _without_place(row: ShardRow) -> Mapping[str, Any]:
    return {key: value for key, value in row.items() if key != "group_seq"}


def _whole(rows: Sequence[ShardRow], lost: Sequence[Refusal]) -> Mapping[str, Any]:
    """The line of a group: as a share wrote it, or put together from the rows of its images."""
    if "image_index" not in rows[0]:
        if len(rows) > 1:
            raise BadLine("duplicate_ticket", f"{len(rows)} shares wrote this group")
        line = _without_place(rows[0])
        read_row(line if "label" in line else {**line, "label": "fail"})
        return line
    gone = {int(row["image_index"]) for row in rows if row.get("refused")}
    answered = [row for row in rows if not row.get("refused")]
    bad = next((row for row in answered if not row.get("ok")), None)
    if bad is not None:
        raise BadLine(str(bad.get("error", "failed")), str(bad.get("detail", "")))
    first = rows[0]
    label = None if first.get("label") is None else as_verdict(str(first["label"]))
    images = tuple(first["images"])
    found = {int(row["image_index"]): str(row["summary"]) for row in answered}
    if len(found) < len(answered):
        raise BadLine("bad_key", "two shares answered for the same image")
    if sorted({*found, *gone} - {0}) != list(range(1, len(images) + 1)):
        raise BadLine("key_gap", f"{len(images)} images, and rows for {sorted(found)}: a share is missing")
    if not found:
        raise NothingLeft
    names, summaries = zip(*((images[number - 1], found[number]) for number in sorted(found)), strict=True)
    refused = tuple(RefusedPhoto(Path(refusal.file).name, refusal.reason) for refusal in lost)
    ticket = OpenTicket(str(first["group_id"]), str(first["mission"]), names, summaries, refused)
    return ticket.as_line(label, str(first["image_key"]))


def _refusal(rows: Sequence[ShardRow], bad: BadLine) -> Refusal:
    failing = next((row for row in rows if not row.get("ok", True) and not row.get("refused")), rows[0])
    return Refusal(str(failing.get("file", failing.get("group_id"))), bad.reason, bad.detail, _ticket_key(rows[0]))
