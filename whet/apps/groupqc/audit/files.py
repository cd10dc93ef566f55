"""The files of an audit, made from its polls alone: the same votes give the same bytes, so nothing here has a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whet.apps.groupqc.audit.figures import figures
from whet.apps.groupqc.audit.report import REPORT, report_text
from whet.envs.groupqc.environment import GroupQc
from whet.envs.groupqc.records import SiteTicket
from whet.envs.groupqc.tickets.line import json_line
from whet.envs.groupqc.verdict.metrics import VotedTicket, confusion
from whet.files import write_atomically, write_json

if TYPE_CHECKING:
    from whet.apps.groupqc.audit.run import AuditPlan, Poll

METRICS = "baseline_metrics.json"
STATS = "baseline_ticket_stats.jsonl"
WRONG = "baseline_wrong_cases.jsonl"
NP = "baseline_np_cases.jsonl"
NG = "baseline_ng_cases.jsonl"
STEPS = "baseline_metrics_steps.jsonl"
REJECTS = "rejects.jsonl"

AuditRow = dict[str, Any]


@dataclass(frozen=True, slots=True)
class AuditCase:
    """A ticket with its votes and summaries, as the rows of the audit's files show it."""

    ticket: SiteTicket
    poll: Poll
    summaries: Sequence[str]

    @property
    def judged(self) -> VotedTicket:
        return VotedTicket(self.ticket.key, self.ticket.label, self.poll.votes)

    def stats(self) -> AuditRow:
        votes = self.poll.votes
        return {
            "ticket_key": self.ticket.key,
            "mission": self.ticket.mission,
            "gt_label": self.ticket.label,
            "majority_pred": votes.majority,
            "agreement": votes.agreement,
            "difficulty": votes.difficulty,
            "hard_wrong": votes.hard_wrong(self.ticket.label),
            "confidence": votes.confidence,
            "pass_count": votes.passes,
            "fail_count": votes.fails,
            "invalid_count": votes.invalid,
            "total_samples": len(votes.calls),
            "faults": self.poll.faults,
            "n_images": len(self.ticket.images),
        }

    def evidence(self, reasons: int) -> AuditRow:
        """What a person needs to see why it went wrong: the votes, some reasons, and every photo's summary."""
        votes = self.poll.votes
        return {
            "ticket_key": self.ticket.key,
            "group_id": self.ticket.group_id,
            "mission": self.ticket.mission,
            "gt_label": self.ticket.label,
            "gt_fail_reason_text": " | ".join(self.ticket.remarks),
            "error": self.judged.error,
            "majority_pred": votes.majority,
            "agreement": votes.agreement,
            "hard_wrong": votes.hard_wrong(self.ticket.label),
            "verdict_samples": list(votes.calls),
            "reason_samples": self._reasons(reasons),
            "images": list(self.ticket.images),
            "per_image": {f"image_{n}": text for n, text in enumerate(self.summaries, start=1)},
        }

    def _reasons(self, most: int) -> list[str]:
        """Reasons that speak for the majority first; of invalid replies, what was wrong with them."""
        said = list(zip(self.poll.calls, self.poll.reasons, strict=True))
        majority = self.poll.votes.majority
        ordered = [why for call, why in said if call == majority] + [why for call, why in said if call != majority]
        return list(dict.fromkeys(ordered))[:most]


def write_files(folder: Path, plan: AuditPlan, polls: Sequence[Poll]) -> Mapping[str, Any]:
    """Write every file of the audit; returns what `baseline_metrics.json` holds."""
    cases = sorted(
        (_case(plan, poll) for poll in polls if poll.judged), key=lambda case: (case.ticket.key, case.ticket.mission)
    )
    wrong = [case for case in cases if case.judged.error]
    metrics = _metrics(plan, polls, cases)
    _write_rows(folder / STATS, (case.stats() for case in cases))
    _write_rows(folder / WRONG, (case.evidence(3) for case in wrong))
    for name, error in ((NP, "np"), (NG, "ng")):
        _write_rows(folder / name, (case.evidence(5) for case in wrong if case.judged.error == error))
    _write_rows(folder / STEPS, _steps(plan, polls))
    _write_rows(folder / REJECTS, (reject.as_line() for reject in plan.env.rejects))
    write_json(folder / METRICS, metrics)
    write_atomically(folder / REPORT, report_text(metrics, [case.evidence(1) for case in wrong]).encode())
    return metrics


def _case(plan: AuditPlan, poll: Poll) -> AuditCase:
    assert isinstance(plan.env, GroupQc)
    return AuditCase(plan.env.ticket(*poll.task), poll, plan.env.task(*poll.task).data["summaries"])


def _metrics(plan: AuditPlan, polls: Sequence[Poll], cases: Sequence[AuditCase]) -> AuditRow:
    judged = [case.judged for case in cases]
    missions = sorted({case.ticket.mission for case in cases})
    over = sum(reject.reason == "over_length" for reject in plan.env.rejects) + plan.over_length
    taken = sum(poll.taken for poll in polls)
    return {
        "mode": "audit",
        "mission": missions[0] if len(missions) == 1 else "",
        "missions": missions,
        "environment": plan.env.name,
        "model": plan.config.target.model,
        "n_total": len(polls) + over,
        "n_used": len(cases),
        "n_dropped_overlength": over,
        "n_rejected": sum(reject.reason != "over_length" for reject in plan.env.rejects),
        "n_excluded": len(plan.env.excluded),
        "n_unfinished": len(polls) - len(cases),
        "draws": {
            "planned": len(polls) * plan.settings.ballot.draws,
            "taken": taken,
            "faults": sum(poll.faults for poll in polls),
        },
        **_published(judged),
        **figures(judged, budget=plan.settings.budget),
        "by_mission": {
            mission: figures([case.judged for case in cases if case.ticket.mission == mission])
            for mission in (missions if len(missions) > 1 else ())
        },
    }


def _published(judged: Sequence[VotedTicket]) -> AuditRow:
    """The figures under the names they are known by: `fn_rate` and `fp_rate` are shares of all tickets used."""
    matrix = confusion(judged)
    n = len(judged)
    fn, fp, tp = int(matrix.fn), int(matrix.fp), int(matrix.tp)
    return {
        "acc": (tp + int(matrix.tn)) / n if n else None,
        "fn": fn,
        "fp": fp,
        "tp": tp,
        "tn": int(matrix.tn),
        "invalid": int(matrix.pass_invalid + matrix.fail_invalid),
        "fn_rate": fn / n if n else None,
        "fp_rate": fp / n if n else None,
        "np": fn,
        "ng": fp,
    }


def _steps(plan: AuditPlan, polls: Sequence[Poll]) -> Iterable[AuditRow]:
    """The figures after every so many tickets of the plan."""
    every, total = plan.settings.every, len(polls)
    judged: list[VotedTicket] = []
    batches = -(-total // every)
    for batch in range(batches):
        for poll in polls[batch * every : (batch + 1) * every]:
            if poll.judged:
                judged.append(_case(plan, poll).judged)
        yield {
            "label": "audit",
            "batch_index": batch + 1,
            "total_batches": batches,
            "n_total": min((batch + 1) * every, total),
            "n_used": len(judged),
            **_published(judged),
        }


def _write_rows(path: Path, rows: Iterable[AuditRow]) -> None:
    write_atomically(path, b"".join(json_line(row) for row in rows))
