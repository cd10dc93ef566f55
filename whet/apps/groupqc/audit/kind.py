"""Audits among the runs: their line in the list, their page, continuing and rebuilding them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from whet.apps.groupqc.audit.files import METRICS
from whet.apps.groupqc.audit.report import page_parts
from whet.apps.groupqc.audit.run import KIND, AuditResult, AuditSettings, VoteCount, plan_audit, run_audit, write_audit
from whet.apps.groupqc.decision.verdicts import DECISIONS, decision_parts
from whet.config.schema import EvalConfig
from whet.errors import WhetError, typed
from whet.ledger.store import Ledger
from whet.rollout.session import DONE
from whet.run.compose import Given, build_environment
from whet.run.kinds import Continuation, RunEntry, entry_of, planned_rollouts
from whet.run.workspace import last_end, open_run

if TYPE_CHECKING:
    from rich.console import RenderableType


class AuditRuns:
    """The kind of run that `whet groupqc audit` makes."""

    name = KIND

    def entry(self, folder: Path, changed: float) -> RunEntry:
        """Its votes, and the share of tickets that they judge rightly."""
        run = open_run(folder)
        outcomes = run.outcomes()
        votes = sum(not outcome.fault for outcome in outcomes)
        with run.ledger() as ledger:
            complete = last_end(ledger) == DONE
        state = "complete" if complete else f"{votes} of {planned_rollouts(run)} votes"
        return entry_of(run, self.name, changed, state, _figures(folder).get("acc"), len(outcomes) - votes)

    def show(self, folder: Path) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        metrics = _figures(folder)
        if not metrics:
            return Text(f"{folder}: no figures yet; continue with: whet resume {typed(folder)}")
        told = decision_parts if metrics["mode"] == "decide" else page_parts
        return Group(*(Text(part) if isinstance(part, str) else part for part in told(folder, metrics)))

    def resume(self, folder: Path, continuation: Continuation) -> AuditResult:
        return run_audit(
            continuation.config(EvalConfig, folder),
            _settings(folder),
            replace(continuation.given, playbook=open_run(folder).playbook),
            retry_faults=continuation.retry_faults,
            progress=continuation.progress,
            runs=folder.parent,
            name=folder.name,
        )

    def rebuild(self, folder: Path, given: Given) -> str:
        """The votes are counted again; no model is opened."""
        run = open_run(folder)
        env = build_environment(run.config, given)
        with Ledger.read(folder) as ledger:
            held = ledger.meta()
            plan = plan_audit(run.config, _settings(folder), env, held["model"], run.playbook)
            if plan.identity.digest != held["identity"]:
                raise WhetError(f"{folder}: its tickets have changed since it was made; its files stay as they are")
            voting = VoteCount(plan, ledger)
            voting.read_all()
            metrics = write_audit(folder, voting)
        return f"rebuilt from the votes on {metrics['n_used']} tickets"


def _settings(folder: Path) -> AuditSettings:
    with Ledger.read(folder) as ledger:
        return AuditSettings.from_data(orjson.loads(ledger.meta()[KIND]))


def _figures(folder: Path) -> dict[str, Any]:
    """The figures of an audit; empty while none are written."""
    written = [file for file in (folder / METRICS, folder / DECISIONS) if file.is_file()]
    return dict(orjson.loads(written[0].read_bytes())) if written else {}


RUNS_KIND = AuditRuns()
