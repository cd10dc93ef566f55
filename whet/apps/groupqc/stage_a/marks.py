"""What became of every photo, one line each, and what is said loudly: a reader that does not know what it sees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from whet.apps.groupqc.stage_a.output import PhotoOutcomes, StageALines
from whet.apps.groupqc.stage_a.plan import PlannedGroup, StageAPlan
from whet.envs.groupqc.photos.answer import FOREIGN
from whet.envs.groupqc.photos.folder import index_of
from whet.envs.groupqc.summaries.counts import read_summary

MOST = 0.5
"""From this share on, photos that say nothing are most of a group or of a run."""

NAMED = 5
"""Groups that a warning names."""

IRRELEVANT = "irrelevant"
SHOWN = "shown"
PhotoRow = dict[str, Any]


def photo_rows(plan: StageAPlan, lines: StageALines, answers: PhotoOutcomes) -> list[PhotoRow]:
    """Each photo with its group, what became of it, and what the picture is like."""
    return [row for group in plan.groups for row in _rows(plan, lines, group, answers)]


def _rows(plan: StageAPlan, lines: StageALines, group: PlannedGroup, answers: PhotoOutcomes) -> Iterator[PhotoRow]:
    place = {"group_seq": group.seq} if lines.parts else {}
    told: list[tuple[int, PhotoRow]] = []
    for number, photo in group.own:
        answer = answers.get(index_of(photo))
        if answer is not None:
            said = answer.reason or _said(plan, answer.summary)
            row = {"group_id": group.group.group_id, "image": photo.path.name, "status": said, **photo.figures()}
            told.append((number, {**place, "number": number, **row}))
    for number, refusal in group.refused:
        row = {"group_id": group.group.group_id, "image": Path(refusal.file).name, "status": refusal.reason}
        told.append((number, {**place, "number": number, **row}))
    yield from (row for _, row in sorted(told, key=lambda placed: placed[0]))


def _said(plan: StageAPlan, summary: str) -> str:
    return IRRELEVANT if read_summary(plan.pack, summary).irrelevant else SHOWN


def loud_warnings(plan: StageAPlan, rows: Sequence[PhotoRow], model: str) -> tuple[str, ...]:
    """What must not go under: most photos of a run unknown or irrelevant, then the groups of which most are."""
    if not rows:
        return ()
    found = []
    unknown = sum(row["status"] == FOREIGN for row in rows)
    if unknown / len(rows) >= MOST:
        found.append(
            f"WARNING: {model} does not know what {unknown} of {len(rows)} photos show: they look foreign to it, and "
            "nothing can be concluded from them; use a model that has seen such photos"
        )
    off = sum(row["status"] == IRRELEVANT for row in rows)
    if off / len(rows) >= MOST:
        found.append(
            f"WARNING: {off} of {len(rows)} photos are called irrelevant to {plan.mission.name}; are they of another "
            f"mission, or unlike what {model} knows?"
        )
    by_group: dict[str, list[str]] = {}
    for row in rows:
        by_group.setdefault(str(row["group_id"]), []).append(str(row["status"]))
    empty = [
        name
        for name, said in by_group.items()
        if len(said) > 1 and sum(word != SHOWN for word in said) / len(said) > MOST
    ]
    if empty:
        more = f" and {len(empty) - NAMED} more" if len(empty) > NAMED else ""
        found.append(
            f"WARNING: most photos say nothing about {plan.mission.name} in {len(empty)} of {len(by_group)} groups: "
            f"{', '.join(empty[:NAMED])}{more}"
        )
    return tuple(found)
