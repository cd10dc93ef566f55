"""`summary.json` and the folders of the final evaluations: what a training run claims, and on what it rests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from whet.config.train import TrainConfig
from whet.evals.compare import Comparison
from whet.evals.estimate import Estimate
from whet.gate.decision import Decision, expected_false_accepts
from whet.keys import policy_digest, rollout_key
from whet.learn.reflact import usage
from whet.learn.reflact.standing import Judged
from whet.learn.reflact.step_files import drawn, result_of, write_lines
from whet.learn.reflact.training import Training
from whet.learn.workshop import SELECT
from whet.ledger.projection import write_json
from whet.run.testing import BEST, FINAL, INITIAL, KEPT, NONE, Tested
from whet.types import Outcome, Playbook, Ticket

FOLDERS = {NONE: "test_eval_none", INITIAL: "test_eval_baseline", BEST: "test_eval", FINAL: "test_eval_final"}
SUMMARY = "summary.json"


def write_summary(
    folder: Path,
    config: TrainConfig,
    training: Training,
    history: Sequence[dict[str, Any]],
    tested: Tested | None,
    stopped: str,
    seconds: float,
) -> dict[str, Any]:
    """Write and return the summary. `total_wall_time_s` is the clock's; all else follows from the replies."""
    _write_evaluation(folder / "selection_eval_baseline", selected(training, training.initial))
    if training.final is not None:
        _write_evaluation(folder / "final_selection_eval", drawn(training.shop, training.final))
        write_json(folder / "final_selection_eval" / "decision.json", training.final.as_data())
    for name, place in FOLDERS.items() if tested else ():
        assert tested is not None
        _write_evaluation(folder / place, tested.outcomes[name])
    write_json(folder / "config.json", config.model_dump(mode="json"))
    summary = {
        "version": version("whet"),
        "config": config.model_dump(mode="json", exclude={"control"}),
        **_standing(training),
        **_counts(training, history),
        **_tests(tested),
        "accepted": [_accepted(judged) for judged in training.judge.judged if judged.accepted],
        "expected_false_accepts": expected_false_accepts(_decisions(training)),
        "spent": training.spent,
        "stopped": stopped,
        "total_wall_time_s": round(seconds, 3),
        "token_summary": usage.as_data(usage.by_stage(training.shop.ledger)),
    }
    write_json(folder / SUMMARY, summary)
    return summary


def _decisions(training: Training) -> list[Decision]:
    final = [training.final.decision] if training.final else []
    return [*(one.decision for one in training.judge.judged), *final]


def _standing(training: Training) -> dict[str, Any]:
    judge = training.judge
    last = selected(training, judge.current.playbook)
    return {
        "baseline_selection_hard": _mean(selected(training, training.initial), "hard"),
        "best_selection_hard": _mean(selected(training, judge.best.playbook), "hard"),
        "best_gate_score": judge.best.score,
        "final_selection_hard": _mean(last, "hard"),
        "final_selection_soft": _mean(last, "soft"),
        "best_step": judge.best.step,
        "current_origin": judge.current.origin,
        "best_origin": judge.best.origin,
    }


def _counts(training: Training, history: Sequence[dict[str, Any]]) -> dict[str, Any]:
    actions = Counter(_outcome(record["action"]) for record in history)
    epochs = []
    for epoch in sorted({record["epoch"] for record in history}):
        records = [record for record in history if record["epoch"] == epoch]
        found = Counter(_outcome(record["action"]) for record in records)
        epochs.append(
            {
                "epoch": epoch,
                "steps": len(records),
                "accepts": found["accept"],
                "rejects": found["reject"],
                "skips": found["skip"],
                "best_score_at_epoch_end": records[-1]["best_score"],
                "current_score_at_epoch_end": records[-1]["current_score"],
            }
        )
    return {
        "total_steps": len(history),
        "planned_steps": training.total,
        "total_accepts": actions["accept"],
        "total_rejects": actions["reject"],
        "total_skips": actions["skip"],
        "total_decisions": len(training.judge.judged),
        "learning_rollouts": training.shop.taken,
        "epoch_stats": epochs,
    }


def _outcome(action: str) -> str:
    if action in ("accept", "accept_new_best", "force_accept"):
        return "accept"
    return "reject" if action == "reject" else "skip"


def _tests(tested: Tested | None) -> dict[str, Any]:
    """The figures of the sealed test, on the gate's metric and on `hard`; None where it was not opened."""
    names = {"no_playbook_test": NONE, "baseline_test": INITIAL, "test": BEST, "final_test": FINAL}
    figures: dict[str, Any] = {"metric": str(tested.summaries[BEST].metric) if tested else None}
    for key, name in names.items():
        overall = tested.summaries[name].overall if tested else None
        figures[f"{key}_metric"] = _value(overall.mean_metric if overall else None)
        figures[f"{key}_metric_interval"] = _interval(overall.mean_metric if overall else None)
        figures[f"{key}_hard"] = _value(overall.pass_rate if overall else None)
        figures[f"{key}_soft"] = _value(overall.mean_soft if overall else None)
        figures[f"{key}_hard_interval"] = _interval(overall.pass_rate if overall else None)
    for key, name in (("test_delta", BEST), ("final_test_delta", FINAL)):
        gain = tested.gains[name] if tested else None
        difference = gain.overall.difference if isinstance(gain, Comparison) else None
        solved = gain.hard.difference if isinstance(gain, Comparison) else None
        figures[f"{key}_metric"] = 0.0 if gain == KEPT else _value(difference)
        figures[f"{key}_interval"] = _interval(difference)
        figures[f"{key}_hard"] = 0.0 if gain == KEPT else _value(solved)
        figures[f"{key}_hard_interval"] = _interval(solved)
        figures[f"{key}_says"] = gain.words(INITIAL, name) if isinstance(gain, Comparison) else gain
    floor = tested.floor.best if tested and tested.floor else None
    figures["floor_test_metric"] = _value(floor.mean_metric) if floor else None
    figures["floor_test_hard"] = _value(floor.pass_rate) if floor else None
    figures["floor_policy"] = floor.name if floor else None
    return figures


def _accepted(judged: Judged) -> dict[str, Any]:
    return {"changes": list(judged.changes), **judged.as_data()}


# --------------------------------------------------------------------------------------------- evaluations


def selected(training: Training, playbook: Playbook) -> list[Outcome]:
    """First draws of a playbook on the gate's tasks, as far as the gate asked for them."""
    shop = training.shop
    policy = policy_digest(shop.with_playbook(playbook))
    tickets = [Ticket(SELECT, "select", task) for task in shop.select]
    return shop.ledger.outcomes_of(rollout_key(ticket, shop.env.fingerprint, policy) for ticket in tickets)


def _write_evaluation(place: Path, outcomes: Sequence[Outcome]) -> None:
    place.mkdir(parents=True, exist_ok=True)
    write_lines(place / "results.jsonl", [result_of(one) for one in outcomes])
    kinds: dict[str, list[int]] = {}
    for one in outcomes:
        kinds.setdefault(one.label.kind, []).append(one.hard)
    figures: dict[str, Any] = {
        kind: {"total": len(hard), "hard_acc": sum(hard) / len(hard)} for kind, hard in sorted(kinds.items())
    }
    figures["overall"] = {"total": len(outcomes), "hard_acc": _mean(outcomes, "hard")}
    write_json(place / SUMMARY, figures)


def _mean(outcomes: Sequence[Outcome], metric: str) -> float | None:
    return sum(getattr(one, metric) for one in outcomes) / len(outcomes) if outcomes else None


def _value(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.value


def _interval(estimate: Estimate | None) -> list[float] | None:
    return None if estimate is None else [estimate.interval.low, estimate.interval.high]
