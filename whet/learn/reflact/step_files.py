"""The readable files of one step: what was attempted, proposed, merged, chosen, applied, judged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from whet import wire
from whet.gate.evidence import Arm
from whet.keys import digest, policy_digest, rollout_key
from whet.learn.reflact import usage
from whet.learn.reflact.documents import document
from whet.learn.reflact.edits import size
from whet.learn.reflact.records import Applied, Draft
from whet.learn.reflact.standing import Judged
from whet.learn.reflact.training import Taken
from whet.learn.reflact.transcripts import shortened, task_name
from whet.learn.workshop import SELECT, Workshop
from whet.ledger.projection import write_atomically, write_json
from whet.types import Outcome, Rollout, Ticket

ARMS: tuple[Arm, ...] = ("incumbent", "candidate")
STAGES = ("rollout", "reflect", "aggregate", "select", "update", "evaluate")


def write_step(folder: Path, shop: Workshop, taken: Taken) -> dict[str, Any]:
    """Write `steps/step_NNNN/` and return its record."""
    place = folder / "steps" / f"step_{taken.step.number:04d}"
    place.mkdir(parents=True, exist_ok=True)
    _write_rollouts(place, taken)
    _write_proposal(place, taken)
    for index, judged in enumerate(taken.judged):
        evaluated = place / "selection_eval"
        evaluated.mkdir(exist_ok=True)
        write_json(evaluated / f"decision_{index:02d}.json", judged.as_data())
        write_lines(evaluated / f"results_{index:02d}.jsonl", [result_of(one) for one in drawn(shop, judged)])
    memory = [entry.as_data() for entry in (*taken.step.memory, taken.entry())]
    write_json(place / "trajectory_digest.json", memory)
    record = step_record(shop, taken)
    write_json(place / "step_record.json", record)
    return record


def _write_rollouts(place: Path, taken: Taken) -> None:
    for batch in taken.evidence.batches if taken.evidence else ():
        single = taken.step.config.train.accumulation == 1
        rolled = (place if single else place / f"batch_{batch.index}") / "rollout"
        for rollout in batch.rollouts:
            name = f"{task_name(rollout).replace('/', '_')}_{rollout.ticket.draw}"
            kept = rolled / "predictions" / name
            kept.mkdir(parents=True, exist_ok=True)
            write_json(kept / "conversation.json", _conversation(rollout))
        rolled.mkdir(parents=True, exist_ok=True)
        write_lines(rolled / "results.jsonl", [result(rollout) for rollout in batch.rollouts])


def _write_proposal(place: Path, taken: Taken) -> None:
    proposal = taken.proposal
    patches = place / "patches"
    patches.mkdir(exist_ok=True)
    counts = {"failure": 0, "success": 0, "examples": 0}
    for patch in proposal.patches:
        write_json(patches / f"minibatch_{patch.source[:4]}_{counts[patch.source]:03d}.json", patch.as_data())
        counts[patch.source] += 1
    if proposal.merged is not None:
        write_json(place / "merged_patch.json", proposal.merged.as_data())
    if proposal.chosen is not None:
        items = [item.as_data() for item in proposal.chosen.items]
        write_json(place / "ranked_edits.json", {"edits": items, "ranking_details": dict(proposal.chosen.ranking)})
        if proposal.chosen.decision is not None:
            write_json(place / "lr_decision.json", dict(proposal.chosen.decision))
    if proposal.notes:
        write_json(place / "appendix_notes.json", {"appendix_notes": list(proposal.notes)})
    if proposal.candidate is None:
        return
    rows = proposal.candidate.rows
    write_atomically(place / "candidate_skill.md", document(proposal.candidate.playbook).encode())
    write_json(place / "edit_apply_report.json", [row.row(index) for index, row in enumerate(rows)])
    drafts = [row.item for row in rows if isinstance(row.item, Draft)]
    if drafts:
        full = taken.step.config.update.mode == "full_rewrite_minibatch"
        write_json(
            place / ("full_rewrite_result.json" if full else "rewrite_result.json"),
            {"change_summary": list(proposal.candidate.summary), "new_skill": drafts[0].body},
        )


# --------------------------------------------------------------------------------------------- the record


def step_record(shop: Workshop, taken: Taken) -> dict[str, Any]:
    """The entry of history.json. `timing` and `wall_time_s` are the clock's; all else follows from the replies."""
    step, proposal = taken.step, taken.proposal
    chosen, candidate = proposal.chosen, proposal.candidate
    seconds = {f"{stage}_s": shop.seconds(f"{step.where}/{stage}") for stage in STAGES}
    outcomes = [one for judged in taken.judged for arm in ARMS for one in drawn(shop, judged, arm)]
    used = {**usage.by_stage(shop.ledger, step.where), "select": usage.of_outcomes(outcomes)}
    last = next((one for one in reversed(taken.judged) if one.accepted), taken.judged[0] if taken.judged else None)
    measured = [one for one in drawn(shop, last) if one.ticket.draw == 0] if last else []
    assert taken.current is not None
    assert taken.best is not None
    record: dict[str, Any] = {
        "step": step.number,
        "epoch": step.epoch,
        "step_in_epoch": step.in_epoch,
        "timing": seconds,
        "tokens": usage.as_data(used),
        "rollout_hard": taken.evidence.mean("hard") if taken.evidence else None,
        "rollout_soft": taken.evidence.mean("soft") if taken.evidence else None,
        "rollout_n": len(taken.evidence.rollouts) if taken.evidence else 0,
        "accumulation_batches": _batches(taken),
        "n_patches": sum(bool(patch.items) for patch in proposal.patches),
        "n_failure_patches": len(proposal.of("failure")),
        "n_success_patches": len(proposal.of("success")),
        "n_edits_merged": len(proposal.merged.items) if proposal.merged else 0,
        "n_edits_ranked": len(chosen.items) if chosen else 0,
        "edit_budget": chosen.budget if chosen else None,
        "lr_control_mode": _control(step.config.update.scheduler),
        "support_counts": [item.support for item in chosen.items] if chosen else [],
        "candidate_hash": digest(candidate.playbook)[:16] if candidate else "",
        "candidate_skill_len": size(candidate.playbook) if candidate else 0,
        "selection_hard": _mean(measured, "hard"),
        "selection_soft": _mean(measured, "soft"),
        "gate_metric": step.config.gate.metric,
        "candidate_gate_score": last.as_data()["candidate_score"] if last else None,
        "action": taken.action,
        "current_score": taken.current.score,
        "best_score": taken.best.score,
        "best_step": taken.best.step,
        "current_origin": taken.current.origin,
        "best_origin": taken.best.origin,
        "skill_len": size(taken.current.playbook),
        "wall_time_s": round(sum(seconds.values()), 3),
        "decisions": [judged.as_data() for judged in taken.judged],
        "trouble": list(proposal.trouble),
    }
    return {**record, **_optional(taken)}


def _optional(taken: Taken) -> dict[str, Any]:
    """Keys that only some configs give rise to."""
    proposal, current = taken.proposal, taken.current
    more: dict[str, Any] = {}
    if proposal.chosen and proposal.chosen.decision is not None:
        more["lr_decision"] = dict(proposal.chosen.decision)
    if proposal.candidate is not None:
        more["edit_apply_summary"] = _applied(proposal.candidate.rows)
        if proposal.candidate.summary:
            more["rewrite_change_summary"] = list(proposal.candidate.summary)
    if taken.step.config.reflect.lapses and current is not None:
        more["n_execution_lapse_notes"] = len(proposal.notes)
        more["n_appendix_notes_added"] = len(current.playbook.reminders) - len(taken.step.playbook.reminders)
        more["n_appendix_notes_total"] = len(current.playbook.reminders)
        more["n_appendix_notes_consolidated"] = proposal.condensed
    if taken.stopped:
        more["stopped"] = taken.stopped
    return more


def _control(scheduler: str) -> str:
    return scheduler if scheduler in ("autonomous", "none") else "fixed"


def _applied(rows: Sequence[Applied]) -> dict[str, int]:
    applied = sum(row.applied for row in rows)
    return {"total": len(rows), "applied": applied, "skipped": len(rows) - applied, "errors": 0}


def _batches(taken: Taken) -> list[dict[str, Any]]:
    rows = []
    for batch in taken.evidence.batches if taken.evidence else ():
        scores = [one.score for one in batch.rollouts if one.score is not None]
        mark = f"b{batch.index}-"
        rows.append(
            {
                "batch_idx": batch.index,
                "batch_seed": batch.seed,
                "n_envs": batch.planned,
                "hard": sum(score.hard for score in scores) / len(scores) if scores else None,
                "soft": sum(score.soft for score in scores) / len(scores) if scores else None,
                "n_failure_patches": sum(
                    patch.name.startswith(f"{mark}fail") for patch in taken.proposal.of("failure")
                ),
                "n_success_patches": sum(
                    patch.name.startswith(f"{mark}succ") for patch in taken.proposal.of("success")
                ),
            }
        )
    return rows


# --------------------------------------------------------------------------------------------- rollouts


def drawn(shop: Workshop, judged: Judged, arm: Arm = "candidate") -> list[Outcome]:
    """The rollouts of one side that a decision took, in its order."""
    playbook = judged.playbook if arm == "candidate" else judged.incumbent
    policy = policy_digest(shop.with_playbook(playbook))
    draws = [draw for draw, _ in judged.decision.draws if draw.arm == arm]
    tickets = [Ticket(SELECT, "select", shop.select[draw.task], draw.draw) for draw in draws]
    return shop.ledger.outcomes_of(rollout_key(ticket, shop.env.fingerprint, policy) for ticket in tickets)


def _mean(outcomes: Sequence[Outcome], metric: str) -> float | None:
    return sum(getattr(one, metric) for one in outcomes) / len(outcomes) if outcomes else None


def result(rollout: Rollout) -> dict[str, Any]:
    """One line of results.jsonl."""
    score = rollout.score
    assert score is not None
    answer = next((turn.reply.text for turn in reversed(rollout.turns) if turn.role == "target"), "")
    return {
        "id": task_name(rollout),
        "draw": rollout.ticket.draw,
        "hard": score.hard,
        "soft": score.soft,
        "n_turns": len(rollout.turns),
        "fail_reason": "" if score.hard else f"{score.reason}: {score.detail}".rstrip(": "),
        "task_type": rollout.label.kind,
        "predicted_answer": shortened(answer, 2000),
    }


def result_of(outcome: Outcome) -> dict[str, Any]:
    """One line of results.jsonl for a rollout whose transcript is not at hand."""
    return {
        "id": f"{outcome.ticket.split}/{outcome.ticket.index}",
        "draw": outcome.ticket.draw,
        "hard": outcome.hard,
        "soft": outcome.soft,
        "n_turns": outcome.turns,
        "fail_reason": "" if outcome.hard else outcome.reason,
        "task_type": outcome.label.kind,
    }


def _conversation(rollout: Rollout) -> list[dict[str, Any]]:
    said = []
    for turn in rollout.turns:
        said += [{"role": one.author, "content": one.text} for one in (*turn.messages, turn.reply.as_message())]
    return said


def write_lines(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    write_atomically(path, b"".join(wire.dumps(row) + b"\n" for row in rows))
