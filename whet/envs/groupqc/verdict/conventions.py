"""Conventions that are written down nowhere: habits of reviewers that decide a label against the checklist.

One *requires* a condition on top of the needs, or *waives* a need that is not met. Each is an executable condition;
its sentence is for reports and never stands in a prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from whet.envs.groupqc.pack.condition import Condition, as_data
from whet.envs.groupqc.pack.schema import ConventionKind, Mission, Pack, TicketVerdict
from whet.envs.groupqc.records import NeedStatus
from whet.envs.groupqc.summaries.counts import SummaryReading
from whet.envs.groupqc.verdict.evidence import TicketEvidence, holds
from whet.envs.groupqc.verdict.rules import NeedFinding, need_finding, stations

ConventionEffect = Literal["require", "waive"]


@dataclass(frozen=True, slots=True)
class Convention:
    """One habit. `require`: `condition` must hold at every station. `waive`: where it holds, `need` may be `status`."""

    id: str
    kind: ConventionKind
    effect: ConventionEffect
    condition: Condition
    text: str
    share: float
    """The share of tickets that it is planned to decide."""
    need: str = ""
    status: NeedStatus = "absent"

    def as_data(self) -> dict[str, Any]:
        """What the file of planted conventions says."""
        waived = {"need": self.need, "status": self.status} if self.effect == "waive" else {}
        return {
            "id": self.id,
            "kind": self.kind,
            "effect": self.effect,
            **waived,
            "condition": as_data(self.condition),
            "text": self.text,
            "share": round(self.share, 4),
        }


@dataclass(frozen=True, slots=True)
class StationCase:
    """One station as the needs find it, and which conventions act on it."""

    findings: tuple[NeedFinding, ...]
    violated: frozenset[str]
    waived: frozenset[str]
    """Requirements that do not hold, and waivers whose condition does, by id."""


@dataclass(frozen=True, slots=True)
class ConventionJudgement:
    """The verdict of needs and conventions together, and what each has to do with it."""

    conventions: tuple[Convention, ...]
    cases: tuple[StationCase, ...]

    @property
    def checklist(self) -> TicketVerdict:
        """What the needs say alone."""
        return self._verdict(())

    @property
    def verdict(self) -> TicketVerdict:
        return self._verdict(self.conventions)

    @property
    def findings(self) -> tuple[NeedFinding, ...]:
        return tuple(finding for case in self.cases for finding in case.findings)

    @property
    def decided_by(self) -> tuple[str, ...]:
        """The conventions without any one of which the verdict would be another."""
        verdict = self.verdict
        return tuple(
            left_out.id
            for left_out in self.conventions
            if self._verdict([other for other in self.conventions if other is not left_out]) != verdict
        )

    def alone(self, convention: Convention) -> TicketVerdict:
        """What the needs say with this one convention."""
        return self._verdict((convention,))

    def _verdict(self, standing: Sequence[Convention]) -> TicketVerdict:
        return "pass" if all(_passes(case, standing) for case in self.cases) else "fail"


def judge_with(
    pack: Pack,
    mission: Mission,
    conventions: tuple[Convention, ...],
    readings: Sequence[SummaryReading],
    site: str = "",
    date: str = "",
) -> ConventionJudgement:
    """Apply needs and conventions to the summaries of one ticket, station by station."""
    cases = []
    for station, photos in stations(pack, mission, readings).items():
        evidence = TicketEvidence(pack, photos, site, date)
        true = {convention.id for convention in conventions if holds(convention.condition, evidence)}
        cases.append(
            StationCase(
                tuple(need_finding(need, station, evidence) for need in mission.needs),
                frozenset(known.id for known in conventions if known.effect == "require" and known.id not in true),
                frozenset(known.id for known in conventions if known.effect == "waive" and known.id in true),
            )
        )
    return ConventionJudgement(conventions, tuple(cases))


def _passes(case: StationCase, standing: Sequence[Convention]) -> bool:
    if any(convention.id in case.violated for convention in standing):
        return False
    waived = {(convention.need, convention.status) for convention in standing if convention.id in case.waived}
    return all(
        finding.status in ("ok", "exempt") or (finding.need.id, finding.status) in waived for finding in case.findings
    )
