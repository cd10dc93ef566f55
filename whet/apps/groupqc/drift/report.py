"""Drift: whether new tickets, or the votes on them, still look like a reference. Says what moved, and by how much."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from whet.apps.groupqc.audit.files import STATS
from whet.config.load import load_config
from whet.config.schema import EvalConfig
from whet.envs.groupqc.drift.profile import Profile, profile_tickets, profile_votes
from whet.envs.groupqc.drift.shift import Counts, CountShift, compare_counts
from whet.envs.groupqc.pack.file import load_packs
from whet.envs.groupqc.tickets.file import read_tickets
from whet.envs.registry import Address
from whet.errors import WhetError
from whet.evals.paired import holm
from whet.rollout.claim import CONFIG

if TYPE_CHECKING:
    from rich.console import RenderableType

DriftStatus = Literal["ok", "watch", "drift"]

PSI = 0.1
ALPHA = 0.01

COLOURS = {"drift": "bold red", "watch": "yellow", "ok": ""}


@dataclass(frozen=True, slots=True)
class DriftFinding:
    """One thing and how far it moved. `drift`: by `psi` or more, and not by chance; `watch`: one of the two."""

    about: str
    shift: CountShift
    adjusted: float
    """p after Holm's adjustment for all the things that were compared."""
    status: DriftStatus

    def as_data(self) -> dict[str, Any]:
        return {
            "about": self.about,
            "status": self.status,
            "psi": self.shift.psi,
            "chi_square": self.shift.chi_square,
            "freedom": self.shift.freedom,
            "test": self.shift.test,
            "p": self.shift.p,
            "p_adjusted": self.adjusted,
            "reference": dict(self.shift.reference),
            "new": dict(self.shift.new),
        }


@dataclass(frozen=True, slots=True)
class DriftReport:
    """What was compared, the furthest apart first."""

    reference: str
    new: str
    psi: float
    alpha: float
    findings: tuple[DriftFinding, ...]

    @property
    def drifted(self) -> tuple[DriftFinding, ...]:
        return tuple(finding for finding in self.findings if finding.status == "drift")

    @property
    def exit_code(self) -> int:
        return 1 if self.drifted else 0

    def as_data(self) -> dict[str, Any]:
        return {
            "reference": self.reference,
            "new": self.new,
            "thresholds": {"psi": self.psi, "alpha": self.alpha},
            "drifted": [finding.about for finding in self.drifted],
            "compared": [finding.as_data() for finding in self.findings],
        }

    def renderable(self, every: bool = False) -> RenderableType:
        """The table: what moved, or with `every` all that was compared."""
        from rich.box import SIMPLE_HEAD
        from rich.table import Table
        from rich.text import Text

        table = Table(box=SIMPLE_HEAD)
        for heading in ("", "reference", "new", "PSI", "p (Holm)", ""):
            table.add_column(heading, overflow="fold")
        for finding in self.findings:
            if every or finding.status != "ok":
                ends = (_shares(finding.shift.reference), _shares(finding.shift.new))
                figures = (f"{finding.shift.psi:.3f}", f"{finding.adjusted:.2g}")
                table.add_row(
                    *(Text(cell) for cell in (finding.about, *ends, *figures)),
                    Text(finding.status, COLOURS[finding.status]),
                )
        return table


def find_drift(
    reference: Path, new: Path, *, packs: Sequence[str] = (), psi: float = PSI, alpha: float = ALPHA
) -> DriftReport:
    """Compare two Stage-A files or folders, or two audits, in everything that both have."""
    if not 0.0 < alpha < 1.0 or psi < 0.0:
        raise WhetError(f"thresholds: alpha {alpha:g} must be between 0 and 1, and psi {psi:g} not negative")
    before, after = profile_of(reference, packs), profile_of(new, packs)
    both = [about for about in before.counts if about in after.counts]
    if not both:
        raise WhetError(f"{reference} and {new} have nothing to compare: give two Stage-A files, or two audits")
    findings = _compared(both, before, after, psi, alpha)
    if not findings:
        raise WhetError(f"{reference} and {new}: nothing can be told apart in them; check both with: whet groupqc lint")
    return DriftReport(str(reference), str(new), psi, alpha, findings)


def _compared(
    both: Iterable[str], before: Profile, after: Profile, psi: float, alpha: float
) -> tuple[DriftFinding, ...]:
    found = [(about, compare_counts(before.of(about), after.of(about))) for about in both]
    testable = [(about, shift) for about, shift in found if shift.test != "none"]
    adjusted = holm([shift.p for _, shift in testable])
    moved = [
        DriftFinding(about, shift, p, _status(shift.psi >= psi, p <= alpha))
        for (about, shift), p in zip(testable, adjusted, strict=True)
    ]
    rank = {"drift": 0, "watch": 1, "ok": 2}
    return tuple(sorted(moved, key=lambda finding: (rank[finding.status], -finding.shift.psi, finding.about)))


def _status(far: bool, not_by_chance: bool) -> DriftStatus:
    return "drift" if far and not_by_chance else "watch" if far or not_by_chance else "ok"


def profile_of(path: Path, packs: Sequence[str] = ()) -> Profile:
    """What is known about a Stage-A file or folder, or about an audit and the file it was made from."""
    made = Profile()
    source = path
    if (path / STATS).is_file():
        profile_votes(_rows(path / STATS), made)
        audited = _audited(path)
        if audited is None:
            return made
        source = audited
    missions = {mission.name: (pack, mission) for pack in load_packs(packs) for mission in pack.missions}
    read = read_tickets(source, missions)
    if not read.lines and not read.rejects:
        raise WhetError(f"{source}: holds no tickets")
    profile_tickets((line.ticket for line in read.lines), missions, len(read.rejects), made)
    return made


def _audited(folder: Path) -> Path | None:
    """The Stage-A file that an audit was made from, where it is still there."""
    config = folder / CONFIG
    if not config.is_file():
        return None
    source = Address.parse(load_config(EvalConfig, config).env.name).source
    return Path(source) if source and Path(source).exists() else None


def _rows(path: Path) -> Iterable[Mapping[str, Any]]:
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        try:
            yield json.loads(line)
        except ValueError as error:
            raise WhetError(f"{path}, line {number}: not JSON ({error}); run the audit again") from None


def _shares(counts: Counts) -> str:
    total = sum(counts.values())
    return ", ".join(f"{outcome} {100 * n / total:.1f} %" for outcome, n in sorted(counts.items())) if total else "–"
