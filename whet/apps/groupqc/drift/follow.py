"""New work followed against a reference: all of it is read again each time, so there is no state to lose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from whet.apps.groupqc.drift.source import comparable, drift_source
from whet.envs.groupqc.drift.watch import DriftWatch, WatchState
from whet.errors import WhetError


@dataclass(frozen=True, slots=True)
class WatchReport:
    """Where watching stands."""

    state: WatchState
    alpha: float

    @property
    def exit_code(self) -> int:
        return 1 if self.state.alarms else 0

    def lines(self) -> list[str]:
        told = [
            f"{alarm.about}: changed, seen at ticket {alarm.ticket} of the new ones; "
            f"{alarm.reference:.3f} in the reference, {alarm.since:.3f} lately"
            for alarm in self.state.alarms
        ]
        return [
            *told,
            f"{self.state.tickets} sites watched in {self.state.traits} traits, {len(told)} changed; the strongest "
            f"evidence stands at {self.state.evidence:.2g} of the bar (false alarms, ever: at most {self.alpha:g})",
        ]

    def as_data(self) -> dict[str, Any]:
        return {"alpha": self.alpha, **asdict(self.state)}


def follow(reference: Path, new: Sequence[Path], *, packs: Sequence[str] = (), alpha: float = 0.01) -> WatchReport:
    """Watch files in the order given, each line in its own order: append to them, or add files at the end."""
    if not 0.0 < alpha < 1.0:
        raise WhetError(f"alpha {alpha:g} must be between 0 and 1")
    sides = [drift_source(path, packs, idle=True) for path in new]
    known, *came = comparable([drift_source(reference, packs), *sides])
    following = DriftWatch(known.tickets, alpha)
    state = following.take(())
    for side in came:
        state = following.take(side.tickets)
    return WatchReport(state, alpha)
