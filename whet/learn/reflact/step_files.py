"""The readable files of one step: what was attempted, proposed, merged, chosen, applied, judged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whet.files import write_atomically, write_json
from whet.gate.evidence import Arm
from whet.keys import playbook_digest
from whet.learn import usage
from whet.learn.documents import document
from whet.learn.outcome_files import drawn, mean, result_of, write_lines
from whet.learn.reflact.edits import size
from whet.learn.reflact.probes import summary_of
from whet.learn.reflact.records import Draft, EditOutcome
from whet.learn.transcripts import shortened, task_name
from whet.learn.workshop import Workshop
from whet.types import Rollout

if TYPE_CHECKING:
    from whet.learn.reflact.training import StepState

ARMS: tuple[Arm, ...] = ("incumbent", "candidate")
STAGES = ("rollout", "reflect", "aggregate", "select", "update", "probe", "evaluate")


def write_step(folder: Path, shop: Workshop, state: StepState) -> dict[str, Any]:
    """Write `steps/step_NNNN/` and return its record."""
    place = folder / "steps" / f"step_{state.step.number:04d}"
    place.mkdir(parents=True, exist_ok=True)
    _write_rollouts(place, state)
    _write_proposal(place, state)
    for index, judgement in enumerate(state.judgements):
        evaluated = place / "selection_eval"
        evaluated.mkdir(exist_ok=True)
        write_json(evaluated / f"decision_{index:02d}.json", judgement.as_data())
        write_lines(
            evaluated / f"results_{index:02d}.jsonl", [result_of(outcome) for outcome in drawn(shop, judgement)]
        )
    memory = [entry.as_data() for entry in (*state.step.memory, state.entry())]
    write_json(place / "trajectory_digest.json", memory)
    record = step_record(shop, state)
    write_json(place / "step_record.json", record)
    return record


def _write_rollouts(place: Path, state: StepState) -> None:
    for batch in state.evidence.batches if state.evidence else ():
        single = state.step.config.train.accumulation == 1
        rolled = (place if single else place / f"batch_{batch.index}") / "rollout"
        for rollout in batch.rollouts:
            if not rollout.ticket.purpose.startswith(f"train/{state.step.where}/"):
                continue  # an earlier step made this attempt, and has it on file
            name = f"{task_name(rollout).replace('/', '_')}_{rollout.ticket.draw}"
            kept = rolled / "predictions" / name
            kept.mkdir(parents=True, exist_ok=True)
            write_json(kept / "conversation.json", _conversation(rollout))
        rolled.mkdir(parents=True, exist_ok=True)
        write_lines(rolled / "results.jsonl", [result(rollout) for rollout in batch.rollouts])


def _write_proposal(place: Path, state: StepState) -> None:
    proposal = state.proposal
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
    if proposal.weighed is not None:
        write_json(place / "probes.json", summary_of(proposal.weighed, proposal.pool))
    if proposal.notes:
        write_json(place / "appendix_notes.json", {"appendix_notes": list(proposal.notes)})
    if proposal.applied is not None:
        rows = proposal.applied.rows
        write_json(place / "proposals_apply_report.json", [row.row(index) for index, row in enumerate(rows)])
    if proposal.revision is None:
        return
    rows = proposal.revision.rows
    write_atomically(place / "candidate_skill.md", document(proposal.revision.playbook).encode())
    write_json(place / "edit_apply_report.json", [row.row(index) for index, row in enumerate(rows)])
    drafts = [row.item for row in rows if isinstance(row.item, Draft)]
    if drafts:
        full = state.step.config.update.mode == "full_rewrite_minibatch"
        write_json(
            place / ("full_rewrite_result.json" if full else "rewrite_result.json"),
            {"change_summary": list(proposal.revision.summary), "new_skill": drafts[0].body},
        )


# --------------------------------------------------------------------------------------------- the record


def step_record(shop: Workshop, state: StepState) -> dict[str, Any]:
    """The entry of history.json. `timing` and `wall_time_s` are the clock's; all else follows from the replies."""
    step, proposal = state.step, state.proposal
    chosen, revision = proposal.chosen, proposal.revision
    seconds = {f"{stage}_s": shop.seconds(f"{step.where}/{stage}") for stage in STAGES}
    outcomes = [outcome for judgement in state.judgements for arm in ARMS for outcome in drawn(shop, judgement, arm)]
    used = {**usage.by_stage(shop.ledger, step.where), "select": usage.of_outcomes(outcomes)}
    accepted = [judgement for judgement in state.judgements if judgement.accepted]
    last = accepted[-1] if accepted else state.judgements[0] if state.judgements else None
    measured = [outcome for outcome in drawn(shop, last) if outcome.ticket.draw == 0] if last else []
    assert state.current is not None
    assert state.best is not None
    record: dict[str, Any] = {
        "step": step.number,
        "epoch": step.epoch,
        "step_in_epoch": step.in_epoch,
        "timing": seconds,
        "tokens": usage.as_data(used),
        "rollout_hard": state.evidence.mean("hard") if state.evidence else None,
        "rollout_soft": state.evidence.mean("soft") if state.evidence else None,
        "rollout_n": len(state.evidence.rollouts) if state.evidence else 0,
        "accumulation_batches": _batches(state),
        "n_patches": sum(bool(patch.items) for patch in proposal.patches),
        "n_failure_patches": len(proposal.of("failure")),
        "n_success_patches": len(proposal.of("success")),
        "n_edits_merged": len(proposal.merged.items) if proposal.merged else 0,
        "n_edits_ranked": len(chosen.items) if chosen else 0,
        "edit_budget": chosen.budget if chosen else None,
        "lr_control_mode": _control(step.config.update.scheduler),
        "support_counts": [item.support for item in chosen.items] if chosen else [],
        "candidate_hash": playbook_digest(revision.playbook)[:16] if revision else "",
        "candidate_skill_len": size(revision.playbook) if revision else 0,
        "selection_hard": mean(measured, "hard"),
        "selection_soft": mean(measured, "soft"),
        "gate_metric": step.config.gate.metric,
        "candidate_gate_score": last.as_data()["candidate_score"] if last else None,
        "action": state.action,
        "current_score": state.current.score,
        "best_score": state.best.score,
        "best_step": state.best.step,
        "current_origin": state.current.origin,
        "best_origin": state.best.origin,
        "skill_len": size(state.current.playbook),
        "wall_time_s": round(sum(seconds.values()), 3),
        "decisions": [judgement.as_data() for judgement in state.judgements],
        "trouble": list(proposal.trouble),
    }
    return {**record, **_optional(state)}


def _optional(state: StepState) -> dict[str, Any]:
    """Keys that only some configs give rise to."""
    proposal, current = state.proposal, state.current
    more: dict[str, Any] = {}
    if proposal.chosen and proposal.chosen.decision is not None:
        more["lr_decision"] = dict(proposal.chosen.decision)
    if proposal.revision is not None:
        more["edit_apply_summary"] = _applied(proposal.revision.rows)
        if proposal.revision.summary:
            more["rewrite_change_summary"] = list(proposal.revision.summary)
    if state.step.config.reflect.lapses and current is not None:
        more["n_execution_lapse_notes"] = len(proposal.notes)
        more["n_appendix_notes_added"] = len(current.playbook.reminders) - len(state.step.playbook.reminders)
        more["n_appendix_notes_total"] = len(current.playbook.reminders)
        more["n_appendix_notes_consolidated"] = proposal.condensed
    if state.stopped:
        more["stopped"] = state.stopped
    return more


def _control(scheduler: str) -> str:
    return scheduler if scheduler in ("autonomous", "none") else "fixed"


def _applied(rows: Sequence[EditOutcome]) -> dict[str, int]:
    applied = sum(row.applied for row in rows)
    return {"total": len(rows), "applied": applied, "skipped": len(rows) - applied, "errors": 0}


def _batches(state: StepState) -> list[dict[str, Any]]:
    rows = []
    for batch in state.evidence.batches if state.evidence else ():
        scores = [rollout.score for rollout in batch.rollouts if rollout.score is not None]
        mark = f"b{batch.index}-"
        rows.append(
            {
                "batch_idx": batch.index,
                "batch_seed": batch.seed,
                "n_envs": batch.planned,
                "hard": sum(score.hard for score in scores) / len(scores) if scores else None,
                "soft": sum(score.soft for score in scores) / len(scores) if scores else None,
                "n_failure_patches": sum(
                    patch.name.startswith(f"{mark}fail") for patch in state.proposal.of("failure")
                ),
                "n_success_patches": sum(
                    patch.name.startswith(f"{mark}succ") for patch in state.proposal.of("success")
                ),
            }
        )
    return rows


# --------------------------------------------------------------------------------------------- rollouts


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


def _conversation(rollout: Rollout) -> list[dict[str, Any]]:
    said = []
    for turn in rollout.turns:
        said += [
            {"role": message.author, "content": message.text} for message in (*turn.messages, turn.reply.as_message())
        ]
    return said
