"""Drift: whether new tickets, or the votes on them, still look like a reference. Says what moved, and by how much."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from whet.apps.groupqc.drift.source import DriftSource, comparable, drift_source
from whet.envs.groupqc.drift.shift import TraitShift, compare_tickets, lines_p
from whet.envs.groupqc.drift.traits import TraitLexicon
from whet.errors import WhetError

if TYPE_CHECKING:
    from rich.console import RenderableType

DriftStatus = Literal["ok", "small", "drift"]

ALPHA = 0.015
LEAST = 0.1
FEW = 40
"""Sites a side from which the report has been measured."""
COLOURS = {"drift": "bold red", "small": "yellow", "ok": ""}


@dataclass(frozen=True, slots=True)
class DriftFinding:
    """One trait. `drift`: it moved, and not by chance; `small`: not by chance, but by less than what matters."""

    shift: TraitShift
    status: DriftStatus

    @property
    def about(self) -> str:
        return self.shift.about

    def as_data(self) -> dict[str, Any]:
        shift = self.shift
        ends = {"reference": shift.reference, "new": shift.new}
        return {
            "about": self.about,
            "status": self.status,
            "p_adjusted": shift.adjusted,
            "effect": shift.effect,
            **{name: None if math.isnan(end) else end for name, end in ends.items()},
        }


@dataclass(frozen=True, slots=True)
class DriftReport:
    """What was compared, the least likely by chance first."""

    reference: str
    new: str
    least: float
    alpha: float
    sites: tuple[int, int]
    findings: tuple[DriftFinding, ...]

    @property
    def drifted(self) -> tuple[DriftFinding, ...]:
        return tuple(finding for finding in self.findings if finding.status == "drift")

    @property
    def exit_code(self) -> int:
        return 1 if self.drifted else 0

    @property
    def warnings(self) -> tuple[str, ...]:
        """What silence does not mean: with few sites a change has to be large to stand out from chance."""
        if min(self.sites) >= FEW:
            return ()
        return (f"WARNING: fewer than {FEW} sites on one side; that nothing drifted says little, give more tickets",)

    def as_data(self) -> dict[str, Any]:
        return {
            "reference": self.reference,
            "new": self.new,
            "sites": list(self.sites),
            "warnings": list(self.warnings),
            "thresholds": {"alpha": self.alpha, "least": self.least},
            "drifted": [finding.about for finding in self.drifted],
            "compared": [finding.as_data() for finding in self.findings],
        }

    def renderable(self, every: bool = False) -> RenderableType:
        """The table: what moved, or with `every` all that was compared."""
        from rich.box import SIMPLE_HEAD
        from rich.table import Table
        from rich.text import Text

        table = Table(box=SIMPLE_HEAD)
        for heading in ("", "reference", "new", "in standard deviations", "p, whole report", ""):
            table.add_column(heading, overflow="fold")
        for finding in self.findings:
            if every or finding.status != "ok":
                shift = finding.shift
                figures = (_end(shift.reference), _end(shift.new), f"{shift.effect:+.2f}", f"{shift.adjusted:.2g}")
                cells = (Text(cell) for cell in (finding.about, *figures))
                table.add_row(*cells, Text(finding.status, COLOURS[finding.status]))
        return table


def find_drift(
    reference: Path, new: Path, *, packs: Sequence[str] = (), least: float = LEAST, alpha: float = ALPHA
) -> DriftReport:
    """Compare two Stage-A files or folders, two audits, or two runs that decided, in everything that both have."""
    if not 0.0 < alpha < 1.0 or least < 0.0:
        raise WhetError(f"thresholds: alpha {alpha:g} must be between 0 and 1, and least {least:g} not negative")
    before, after = comparable([drift_source(reference, packs), drift_source(new, packs)])
    if not before.tickets or not after.tickets:
        raise WhetError(f"{reference} and {new}: nothing can be told apart in them; check both with: whet groupqc lint")
    findings = [DriftFinding(shift, _status(shift, alpha, least)) for shift in compare_sources(before, after)]
    rank = {"drift": 0, "small": 1, "ok": 2}
    findings.sort(key=lambda found: (rank[found.status], found.shift.adjusted, -abs(found.shift.effect), found.about))
    sites = (len({ticket.site for ticket in side.tickets}) for side in (before, after))
    return DriftReport(str(reference), str(new), least, alpha, (next(sites), next(sites)), tuple(findings))


def compare_sources(before: DriftSource, after: DriftSource) -> Iterable[TraitShift]:
    """Every trait that both sides can have, and the share of lines that are no tickets."""
    lexicon = TraitLexicon.of((*before.tickets, *after.tickets))
    told = [[ticket.with_shares(lexicon.shares(ticket)) for ticket in side.tickets] for side in (before, after)]
    yield from compare_tickets(told[0], told[1])
    lines = [(len(side.tickets), side.rejects) for side in (before, after)]
    if any(bad for _, bad in lines):
        shares = [bad / (kept + bad) for kept, bad in lines]
        effect = (shares[1] - shares[0]) / math.sqrt(max(1e-9, sum(shares) / 2 * (1 - sum(shares) / 2)))
        yield TraitShift("lines that are no ticket", shares[0], shares[1], effect, lines_p(lines[0], lines[1]))


def _status(shift: TraitShift, alpha: float, least: float) -> DriftStatus:
    if shift.adjusted > alpha:
        return "ok"
    return "drift" if abs(shift.effect) >= least else "small"


def _end(share: float) -> str:
    return "–" if math.isnan(share) else f"{share:.3f}"
