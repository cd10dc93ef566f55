"""Decisions by where, by whose equipment and when: what was released, blocked, reviewed, and what reviewers found."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from whet.errors import WhetError
from whet.evals.estimate import exact_upper
from whet.outside import shown_line
from whet.release.cases import OPENED, case_rows
from whet.release.decision import DECIDED, REVIEW
from whet.release.trail import Trail, TrailEntry

BY = ("place", "vendor", "month", "day", "kind", "champion")
CONFIDENCE = 0.95


@dataclass(slots=True)
class BreakdownGroup:
    """The decisions of one place, vendor or time."""

    decided: int = 0
    released: int = 0
    reviewed: int = 0
    audited: int = 0
    wrong: int = 0
    """Audited releases that a reviewer would not have made."""
    turned: int = 0
    """Cases in which reviewers said something else than the champion proposed."""
    resolved: int = 0


def breakdown(trail: Trail, by: str) -> dict[str, BreakdownGroup]:
    """Groups by name, in order."""
    if by not in BY:
        raise WhetError(f"--by {by}: say one of {', '.join(BY)}")
    entries = trail.entries()
    decided = {entry.seq: entry for entry in entries if entry.kind == DECIDED}
    groups: dict[str, BreakdownGroup] = {}
    for entry in decided.values():
        group = groups.setdefault(_named(entry, by), BreakdownGroup())
        told = entry.record
        group.decided += 1
        group.reviewed += told["verdict"] == REVIEW
        group.released += told["verdict"] != REVIEW and told["verdict"] == told["releasing"]
    opened = {entry.seq: entry.record for entry in entries if entry.kind == OPENED}
    for number, row in case_rows(entries).items():
        about = decided.get(opened[number]["decision"])
        if about is None or not row[-1]:
            continue
        _count(groups[_named(about, by)], about.record, row[-1])
    return dict(sorted(groups.items()))


def _count(group: BreakdownGroup, told: Mapping[str, Any], outcome: str) -> None:
    group.resolved += 1
    group.turned += outcome != told["proposed"]
    if told["code"] == "audit":
        group.audited += 1
        group.wrong += outcome != told["verdict"]


def _named(entry: TrailEntry, by: str) -> str:
    told = entry.record
    if by in ("month", "day"):
        size = 7 if by == "month" else 10
        handed_in = str(told["submitted"])[:size]
        return handed_in if len(handed_in) == size else time.strftime("%Y-%m-%d", time.gmtime(entry.at))[:size]
    return str(told[by]) or "(not told)"


def breakdown_lines(trail: Trail, by: str) -> Iterator[str]:
    """A table for a person: shares, and the bound of wrong releases where any were audited."""
    groups = breakdown(trail, by)
    width = max([len(by), *(len(shown_line(name, 40)) for name in groups)])
    yield f"{by:<{width}}  decided  released  for a person  audited  wrong  at most  turned by reviewers"
    for name, group in groups.items():
        bound = f"{100 * exact_upper(group.wrong, group.audited, CONFIDENCE):.1f} %" if group.audited else "-"
        shares = f"{group.decided:>7}  {group.released:>8}  {group.reviewed:>12}  {group.audited:>7}  {group.wrong:>5}"
        yield f"{shown_line(name, 40):<{width}}  {shares}  {bound:>7}  {group.turned} of {group.resolved}"
