"""How a run stands right now, in a few lines: for a terminal that looks on while another works."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import orjson

from whet.errors import WhetError
from whet.ledger.store import glance
from whet.report.fold import RunFacts, list_record
from whet.report.query import RolloutLine, rollout_line
from whet.report.sections import duration, money, rate_words

LATEST = 6
"""Rollouts that are shown."""


@dataclass(frozen=True, slots=True)
class RunGlimpse:
    """A run at one moment."""

    run: RunFacts
    done: int
    planned: int
    unit: str
    stage: str
    left: float | None
    """Seconds until the whole run is done, at the pace of all its sessions; None where nothing says how long."""
    latest: tuple[RolloutLine, ...]

    def line(self) -> str:
        """All of it in one line."""
        run = self.run
        parts = [f"{run.name}: {run.state}"]
        if run.trouble:
            return f"{parts[0]}, {run.trouble}"
        if self.planned:
            parts.append(f"{self.done:,} of {self.planned:,} {self.unit}")
        if self.stage and run.live:
            parts.append(self.stage)
        if run.score is not None:
            parts.append(f"solved {rate_words(run.score)} on {run.on}")
        parts += [f"{run.rollouts:,} rollouts", money(run.usd), duration(run.seconds)]
        if self.left is not None and run.live:
            parts.append(f"about {duration(self.left)} left")
        return ", ".join(parts)


def glimpse(folder: Path, now: float | None = None) -> RunGlimpse:
    """Look at a run once."""
    run = list_record(folder)
    if run.trouble:
        return RunGlimpse(run, 0, 0, "", "", None, ())
    with closing(glance(folder)) as db:
        seqs = db.execute("SELECT seq FROM rollouts ORDER BY seq DESC LIMIT ?", (LATEST,)).fetchall()
        lines = [line for (seq,) in seqs if (line := rollout_line(db, seq)) is not None]
        last = db.execute("SELECT max(at) FROM chain").fetchone()[0]
        before = db.execute("SELECT count(*) FROM rollouts WHERE purpose = 'eval'").fetchone()[0]
    steps = run.kind == "train"
    done = _steps(folder) if steps else before if run.kind == "eval" else run.rollouts
    elapsed = run.seconds + max(0.0, (now or time.time()) - last) if last else 0.0
    left = elapsed * (run.planned - done) / done if done and run.planned > done and elapsed > 0 else None
    stage = lines[0].purpose if lines else ""
    return RunGlimpse(run, done, run.planned, "steps" if steps else "rollouts", stage, left, tuple(lines))


def _steps(folder: Path) -> int:
    try:
        told = orjson.loads((folder / "runtime_state.json").read_bytes())
        return int(told["last_completed_step"])
    except (OSError, ValueError, LookupError, TypeError):
        return 0


def refuse_missing(folder: Path) -> None:
    if not folder.is_dir():
        raise WhetError(f"{folder}: no run here; 'whet runs' lists what there is")
