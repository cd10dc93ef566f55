"""An evaluation's readable files, made from its ledger alone: `results.json`, and `timing.json` from the clock."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.config.schema import EvalConfig
from whet.evals.floor import Floor, floor_of
from whet.evals.results import results_json
from whet.evals.summary import Summary, summarize
from whet.files import write_json
from whet.ledger.store import Ledger
from whet.rollout.session import seconds_of
from whet.run.caveats import Caveats, read_caveats
from whet.run.floor import FLOOR, REFERENCE, played_for
from whet.run.workspace import EVAL
from whet.types import Fault

RESULTS = "results.json"
TIMING = "timing.json"


@dataclass(frozen=True, slots=True)
class EvalReport:
    """What the rollouts of an evaluation add up to, beside the floor."""

    summary: Summary
    floor: Floor | None
    results: dict[str, Any]
    """The content of results.json."""
    caveats: Caveats
    fault: Fault | None = None
    """One of the faults that are still open, to show what they are about."""


def report(config: EvalConfig, ledger: Ledger) -> EvalReport:
    """A pure function of the ledger: the same replies give the same bytes, however often the run was killed."""
    played = list(ledger.outcomes())
    outcomes = [outcome for outcome in played if outcome.ticket.purpose == EVAL]
    caveats = read_caveats(ledger)
    summary = summarize(outcomes, level=caveats.level, max_tokens=config.target.sampling.max_tokens)
    floor = floor_of(played_for(played, FLOOR), played_for(played, REFERENCE), level=caveats.level)
    results = results_json(
        summary,
        outcomes,
        model=config.target.model,
        env=config.env.name,
        split=config.eval.split,
        playbook=ledger.meta()["playbook"],
        floor=floor,
    )
    results |= {"notes": list(caveats.notes), "opening": caveats.opening or None}
    if config.config is not None:
        results["config"] = config.config.model_dump(mode="json")
    return EvalReport(summary, floor, results, caveats, ledger.open_fault(EVAL))


def project(folder: Path, config: EvalConfig, ledger: Ledger) -> EvalReport:
    """Write the readable files of a run."""
    made = report(config, ledger)
    write_json(folder / RESULTS, made.results)
    sessions = [{"ended": event.at, **event.body} for event in ledger.events("ended")]
    timing = {"seconds": seconds_of(ledger), "rollout_seconds": made.summary.seconds, "sessions": sessions}
    write_json(folder / TIMING, {**timing, "account": ledger.account()})
    return made
