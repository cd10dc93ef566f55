"""Lines of a Stage-A file: read strictly, each mistake with a short stable code, and written whole.

A line holds `group_id`, `mission`, `label`, `images` and `per_image`. The keys of the last are `图片_1` to `图片_N` or
`image_1` to `image_N`, one for each image.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from whet.envs.groupqc.pack.schema import TicketVerdict, as_verdict
from whet.envs.groupqc.records import SCHEMA_VERSION, SiteTicket
from whet.errors import WhetError

SCHEMES = ("图片_", "image_")
"""How the keys of the summaries may begin."""

_KEY = re.compile(r"(?P<scheme>.*?)(?P<number>[1-9][0-9]*)")


class BadLine(Exception):
    """What is wrong with a line; `reason` is a short stable code."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


def parse_object(text: str) -> dict[str, Any]:
    """A JSON object without a key that stands twice, at any depth."""
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except ValueError as problem:
        raise BadLine("bad_json", str(problem)) from None
    except RecursionError:
        raise BadLine("bad_json", "nested too deeply") from None
    if not isinstance(value, dict):
        raise BadLine("not_an_object", f"a line holds one JSON object, not {type(value).__name__}")
    return value


def read_line(text: str) -> SiteTicket:
    """The ticket of one line, or `BadLine`. Nothing is repaired."""
    return read_row(parse_object(text))


def read_row(row: Mapping[str, Any]) -> SiteTicket:
    """The ticket of one object, or `BadLine`."""
    missing = [name for name in ("group_id", "mission", "label", "images", "per_image") if name not in row]
    if missing:
        raise BadLine("missing_field", f"there is no {missing[0]!r}")
    for name in ("group_id", "mission"):
        if not isinstance(row[name], str) or not row[name].strip():
            raise BadLine("bad_field", f"{name!r} must be text that is not blank")
    version = row.get("schema_version", SCHEMA_VERSION)
    if version != SCHEMA_VERSION:
        raise BadLine("schema_version", f"version {version!r} is not known, only {SCHEMA_VERSION}")
    label = _label(row)
    images = _images(row["images"])
    summaries = ordered_summaries(row["per_image"], len(images))
    return SiteTicket(row["group_id"], row["mission"], label, images, summaries, *_added(row))


def ordered_summaries(per_image: Any, count: int) -> tuple[str, ...]:
    """The summaries of 1 to `count` in order: the keys must be exactly these numbers, in one scheme."""
    if not isinstance(per_image, Mapping) or not per_image:
        raise BadLine("bad_field", "'per_image' must be an object that is not empty")
    found: dict[int, str] = {}
    schemes: set[str] = set()
    for key, text in per_image.items():
        parts = _KEY.fullmatch(key)
        if parts is None or parts["scheme"] not in SCHEMES:
            raise BadLine("bad_key", f"{key!r} is not 图片_N or image_N")
        if not isinstance(text, str) or not text.strip():
            raise BadLine("blank_summary", f"{key!r} holds no text")
        schemes.add(parts["scheme"])
        if int(parts["number"]) in found:
            raise BadLine("bad_key", f"{key!r}: this number stands twice")
        found[int(parts["number"])] = text
    if len(schemes) > 1:
        raise BadLine("bad_key", "the keys mix 图片_ and image_")
    if sorted(found) != list(range(1, count + 1)):
        absent = sorted(set(range(1, count + 1)) - set(found))[:5]
        extra = sorted(set(found) - set(range(1, count + 1)))[:5]
        said = f"{count} images need the keys 1 to {count}: missing {absent}, too many {extra}"
        raise BadLine("key_gap", said)
    return tuple(found[number] for number in range(1, count + 1))


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, blank ones left out. Bytes that are not UTF-8 show as a replacement character."""
    try:
        with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line.rstrip("\r\n")
    except OSError as problem:
        raise WhetError(f"cannot read {path}: {problem.strerror}") from None


def json_line(row: Mapping[str, Any]) -> bytes:
    """A row as one line: text as it is, not escaped."""
    return json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _label(row: Mapping[str, Any]) -> TicketVerdict:
    label = as_verdict(row["label"]) if isinstance(row["label"], str) else None
    if label is None:
        raise BadLine("bad_label", f"'label' must be pass or fail, not {row['label']!r}")
    stated = row.get("ticket_key", f"{row['group_id']}::{label}")
    if stated != f"{row['group_id']}::{label}":
        raise BadLine("two_labels", f"'ticket_key' says {stated!r}, the line itself {row['group_id']}::{label}")
    return label


def _images(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) and name.strip() for name in value):
        raise BadLine("bad_field", "'images' must be a list of file names")
    if not value:
        raise BadLine("empty_group", "'images' names no image")
    return tuple(value)


def _added(row: Mapping[str, Any]) -> tuple[str, str, tuple[str, ...], str, str]:
    """Where the label came from, when, what the reviewer wrote, the kind of site and the date it was handed in.

    Added by others, so any of it may be missing.
    """
    remarks = row.get("gt_fail_reason_texts", [])
    if not isinstance(remarks, list) or not all(isinstance(remark, str) for remark in remarks):
        raise BadLine("bad_field", "'gt_fail_reason_texts' must be a list of texts")
    source, stamp = row.get("label_source", "human"), row.get("label_timestamp", "")
    if not isinstance(source, str) or not isinstance(stamp, str):
        raise BadLine("bad_field", "'label_source' and 'label_timestamp' must be texts")
    site, submitted = row.get("site", ""), row.get("submitted", "")
    if not isinstance(site, str) or not isinstance(submitted, str):
        raise BadLine("bad_field", "'site' and 'submitted' must be texts")
    return source, stamp, tuple(remarks), site, submitted


def _unique(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise BadLine("duplicate_key", f"the key {key!r} stands twice in one object")
        found[key] = value
    return found


def _no_constant(name: str) -> Any:
    raise BadLine("bad_json", f"{name} is not JSON")
