"""The readable files of a run of rule search, under the names of the published loop: all follow from the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whet.files import write_json
from whet.learn.outcome_files import write_lines
from whet.learn.rules.audit import write_audit
from whet.learn.rules.case_rows import HARD_CASES, case_row
from whet.learn.rules.guidance import guidance_data
from whet.learn.rules.records import OperationRecord, Round

if TYPE_CHECKING:
    from whet.learn.rules.training import RuleSearch

SNAPSHOTS = "snapshots"
CANDIDATES = "rule_candidates.jsonl"
BENCHMARKS = "benchmarks.jsonl"
REGRESSIONS = "rule_search_candidate_regressions.jsonl"
FAILURES = "reflection_cache/rule_search_proposer_failures.jsonl"
CHATS, REJECTED_CHATS = "distill_chatml.jsonl", "distill_rejected.jsonl"

MOST_REGRESSIONS = 50

_GATE = ("verdict", "gate", "reason", "metric", "alpha", "pace", "tasks", "seen", "effect", "statistic", "threshold")
_MORE_GATE = ("better", "worse", "rollouts", "missing", "guards", "looks", "says")


class RuleFiles:
    """Writes the files anew each time the run has moved on."""

    def write(self, folder: Path, search: RuleSearch) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        further = () if search.config.rules.audit_only else search.review.watch.more.tickets
        pools = {"train": search.tasks, "select": search.shop.select, "confirm": further}
        write_json(folder / "splits.json", {name: list(tickets) for name, tickets in pools.items()})
        self._write_books(folder, search)
        if search.config.rules.audit_only:
            write_audit(folder, search)
            return
        rounds = search.rounds
        write_lines(folder / CANDIDATES, [candidate_row(search, state, record) for state, record in _records(rounds)])
        write_lines(folder / BENCHMARKS, _applied(search))
        write_lines(folder / HARD_CASES, _cases(search))
        write_lines(folder / REGRESSIONS, _regressions(search))
        failures = [record for _, record in _records(rounds) if record.refusal and record.refusal.code == "unreadable"]
        if failures:
            (folder / FAILURES).parent.mkdir(parents=True, exist_ok=True)
            write_lines(folder / FAILURES, [_failure(search, record) for record in failures])
        if search.chats is not None:
            write_lines(folder / CHATS, search.chats.kept)
            write_lines(folder / REJECTED_CHATS, search.chats.rejected)

    def _write_books(self, folder: Path, search: RuleSearch) -> None:
        """The leading book after every edit; with `retention` only the newest of the old ones."""
        moments = {step: moment for step, _, moment in search.books}
        (folder / SNAPSHOTS).mkdir(exist_ok=True)
        kept = search.books[-search.config.rules.retention :] if search.config.rules.retention else search.books
        for step, book, _ in kept:
            data = guidance_data(search.mission, step, book, moments)
            write_json(folder / SNAPSHOTS / snapshot_name(step), data)
        wanted = {snapshot_name(step) for step, _, _ in kept}
        for file in (folder / SNAPSHOTS).glob("guidance-step-*.json"):
            if file.name not in wanted:
                file.unlink()
        step, book, _ = search.books[-1]
        write_json(folder / "guidance.json", guidance_data(search.mission, step, book, moments))


def snapshot_name(step: int) -> str:
    return f"guidance-step-{step:04d}.json"


def _records(rounds: Sequence[Round]) -> list[tuple[Round, OperationRecord]]:
    return [(state, record) for state in rounds if state.complete or state.stopped for record in state.records]


def candidate_row(search: RuleSearch, state: Round, record: OperationRecord) -> dict[str, Any]:
    """One operation with every number that its fate rests on."""
    operation = record.operation
    row: dict[str, Any] = {
        "timestamp": state.moment,
        "iteration": state.number,
        "branch": record.branch,
        "candidate_index": record.index,
        "mission": search.mission,
        "candidate_id": operation.signature if operation else "",
        **(operation.as_data() if operation else {"op": "", "raw": dict(record.raw)}),
        "decision": record.fate,
        "detail": record.detail,
        "refusal": record.refusal.code if record.refusal else "",
        "key": _new_rule(record),
        **_figures(search, record),
    }
    row["rationale"] = row.pop("reason", "")
    return row


def _new_rule(record: OperationRecord) -> str:
    """The id that the operation made or took away."""
    if record.book is None or record.operation is None:
        return ""
    made = record.book.rules[-1].id if record.operation.op in ("upsert", "merge", "update") else ""
    return made if record.operation.op != "update" or record.operation.target != "G0" else "G0"


def _figures(search: RuleSearch, record: OperationRecord) -> dict[str, Any]:
    """Screen, gate, what could be released and the noise floor, None where an operation did not come so far."""
    screen = record.screen
    row: dict[str, Any] = {
        "screen_n": screen.tickets if screen else None,
        "screen_fixed": screen.fixed if screen else None,
        "screen_broken": screen.broken if screen else None,
    }
    data = record.judgement.decision.as_data() if record.judgement else {}
    row |= {f"gate_{name}": data.get(name) for name in (*_GATE, *_MORE_GATE)}
    base, after = data.get("incumbent_score"), data.get("candidate_score")
    row |= {"base_acc": base, "cand_acc": after, "regressions": len(record.regressions)}
    errors = None if base is None or after is None else (after - base) / (1.0 - base) if base < 1.0 else 0.0
    row["relative_error_reduction"] = errors
    looked = record.judgement.decision.seen if record.judgement else 0
    row["changed_fraction"] = (data["better"] + data["worse"]) / looked if looked else None
    for guard in data.get("guards", ()):
        name = guard["metric"].partition("(")[0]
        row |= {f"{name}_change": guard["difference"], f"{name}_bound": guard["harm"], f"{name}_limit": guard["bound"]}
    releases = record.releases
    row |= {f"release_{name}": getattr(releases, name, None) for name in ("tickets", "rise", "upper", "limit")}
    gains = record.gains
    told = ("tickets", "better", "worse", "chance", "alpha")
    row |= {f"spoken_{name}": getattr(gains, name, None) for name in told}
    return row | (search.noise.as_data() if search.noise else {})


def _applied(search: RuleSearch) -> list[dict[str, Any]]:
    rows = []
    for state, record in _records(search.rounds):
        if record.fate != "applied" or record.child is None:
            continue
        row = candidate_row(search, state, record)
        row |= {
            "accepted_key": row["key"],
            "guidance_step_before": record.child.step - 1,
            "guidance_step_after": record.child.step,
            "leads": state.leader is record.child,
            "reflect_tickets": [case.id for part in state.parts for case in part.cases],
        }
        rows.append(row)
    return rows


def _cases(search: RuleSearch) -> list[dict[str, Any]]:
    return [
        case_row(search.mission, state.moment, state.number, part.branch.name, rank, case)
        for state in search.rounds
        for part in state.parts
        for rank, case in enumerate(part.cases, start=1)
    ]


def _regressions(search: RuleSearch) -> list[dict[str, Any]]:
    return [
        {
            "timestamp": state.moment,
            "iteration": state.number,
            "branch": record.branch,
            "candidate_index": record.index,
            "candidate_id": record.operation.signature if record.operation else "",
            "decision": record.fate,
            "n": len(record.regressions),
            "tickets": [dict(row) for row in record.regressions[:MOST_REGRESSIONS]],
        }
        for state, record in _records(search.rounds)
        if record.judgement is not None
    ]


def _failure(search: RuleSearch, record: OperationRecord) -> dict[str, Any]:
    return {
        "iteration": record.round,
        "branch": record.branch,
        "mission": search.mission,
        "why": record.detail,
        "raw": dict(record.raw),
    }
