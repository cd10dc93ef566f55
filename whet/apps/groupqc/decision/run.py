"""Decide on tickets that nobody has judged, and choose the threshold from which one is released."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from whet.apps.groupqc.audit.run import AuditResult, AuditSettings, run_audit
from whet.apps.groupqc.decision.verdicts import VERDICTS
from whet.config.schema import EvalConfig
from whet.envs.groupqc.decision.environment import OpenTickets
from whet.errors import WhetError
from whet.models.base import Model
from whet.release.threshold import CONFIDENCE, ReleaseRule, ScoredTicket, choose, write_rule
from whet.rollout.progress import Progress
from whet.run.compose import Given
from whet.run.workspace import RUNS


def decision_base(source: str | Path, model: str, args: dict[str, Any]) -> dict[str, Any]:
    """The config of a run that decides, by section."""
    return {
        "env": {"name": f"groupqc/open:{source}", "args": args},
        "target": {"model": model},
        "eval": {"n": "all"},
    }


def decide(
    config: EvalConfig,
    settings: AuditSettings,
    *,
    model: Model | None = None,
    runs: Path = RUNS,
    name: str | None = None,
    progress: Progress | None = None,
    retry_faults: bool = False,
) -> AuditResult:
    """Vote on every ticket of a Stage-A file, and write what becomes of it."""
    env = OpenTickets(config.env.name.partition(":")[2], config.env.args)
    given = Given(env=env, model=model)
    return run_audit(config, settings, given, runs=runs, name=name, progress=progress, retry_faults=retry_faults)


@dataclass(frozen=True, slots=True)
class CalibrationResult:
    """The rule that was chosen, and what is left out of it."""

    rule: ReleaseRule
    unlabelled: int

    def lines(self, out: Path) -> list[str]:
        left = [f"{self.unlabelled} tickets have no label and say nothing here"] if self.unlabelled else []
        return [*left, self.rule.said(), f"threshold: {out}"]


def calibrate(
    config: EvalConfig,
    settings: AuditSettings,
    allowed: float,
    out: Path,
    *,
    confidence: float = CONFIDENCE,
    **more: Any,
) -> CalibrationResult:
    """Decide labelled tickets as if they had no label, then look at the labels and choose the threshold."""
    result = decide(config, replace(settings, threshold=""), **more)
    env = OpenTickets(config.env.name.partition(":")[2], config.env.args)
    labels = {(line.file, line.line): line.label for line in env.lines}
    rows = [json.loads(line) for line in (result.folder / VERDICTS).read_bytes().splitlines()]
    scored, unlabelled = [], 0
    for row in rows:
        label = labels[row["file"], row["line"]]
        if label is None:
            unlabelled += 1
        else:
            passes, failing = row["majority_pred"] == "pass", label == "fail"
            scored.append(ScoredTicket(row["group_id"], passes, row["release_score"], failing))
    if not scored:
        raise WhetError(f"{env.name}: no ticket has a label, so no threshold can be chosen on it")
    rule = replace(choose(scored, allowed, confidence), voter=str(result.metrics["voter"]))
    write_rule(out, rule)
    return CalibrationResult(rule, unlabelled)
