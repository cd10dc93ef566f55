"""`summary.json` and the folders of the final evaluations: what a training run claims, and on what it rests."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from whet.evals.compare import Comparison
from whet.evals.estimate import Estimate
from whet.files import write_json
from whet.gate.decision import Decision, expected_false_accepts
from whet.learn import usage
from whet.learn.judge import Judge, Judgement
from whet.learn.learner import Training
from whet.learn.outcome_files import SUMMARY, drawn, mean, write_evaluation
from whet.learn.workshop import LEAK
from whet.rollout.claim import RunStart
from whet.run.sealed_test import BEST, FINAL, INITIAL, KEPT, NONE, SealedResult

SELECTION = "scores on select tasks chose among the candidates and are inflated; the claim is what test shows"

FOLDERS = {NONE: "test_eval_none", INITIAL: "test_eval_baseline", BEST: "test_eval", FINAL: "test_eval_final"}


def write_summary(
    start: RunStart,
    training: Training,
    judge: Judge,
    tested: SealedResult | None,
    stopped: str,
    seconds: float,
) -> dict[str, Any]:
    """Write and return the summary. `total_wall_time_s` is the clock's; all else follows from the replies."""
    shop, folder, config = judge.shop, start.folder, start.config
    write_evaluation(folder / "selection_eval_baseline", shop.selected(judge.initial))
    if judge.final is not None:
        write_evaluation(folder / "final_selection_eval", drawn(shop, judge.final))
        write_json(folder / "final_selection_eval" / "decision.json", judge.final.as_data())
    for name, place in FOLDERS.items() if tested else ():
        assert tested is not None
        write_evaluation(folder / place, tested.outcomes[name])
    write_json(folder / "config.json", config.model_dump(mode="json"))
    summary = {
        "version": version("whet"),
        "config": config.model_dump(mode="json", exclude={"control"}),
        **_standing(judge),
        "selection_says": SELECTION,
        "total_steps": training.steps_done,
        "planned_steps": start.planned,
        **training.summary(),
        "total_decisions": len(judge.judgements),
        "learning_rollouts": shop.planned,
        **_tests(tested),
        "accepted": [_accepted(judgement) for judgement in judge.judgements if judgement.accepted],
        "leaks": [{"purpose": purpose, **body} for purpose, body in shop.ledger.effects(LEAK)],
        "expected_false_accepts": expected_false_accepts(_decisions(judge)),
        "spent": training.spent,
        "stopped": stopped,
        "total_wall_time_s": round(seconds, 3),
        "token_summary": usage.as_data(usage.by_stage(shop.ledger)),
    }
    write_json(folder / SUMMARY, summary)
    return summary


def _decisions(judge: Judge) -> list[Decision]:
    final = [judge.final.decision] if judge.final else []
    return [*(judgement.decision for judgement in judge.judgements), *final]


def _standing(judge: Judge) -> dict[str, Any]:
    shop = judge.shop
    last = shop.selected(judge.current.policy)
    return {
        "baseline_selection_hard": mean(shop.selected(judge.initial), "hard"),
        "best_selection_hard": mean(shop.selected(judge.best.policy), "hard"),
        "best_gate_score": judge.best.score,
        "final_selection_hard": mean(last, "hard"),
        "final_selection_soft": mean(last, "soft"),
        "best_step": judge.best.step,
        "current_origin": judge.current.origin,
        "best_origin": judge.best.origin,
    }


def _tests(tested: SealedResult | None) -> dict[str, Any]:
    """The figures of the sealed test, on the gate's metric and on `hard`; None where it was not opened."""
    names = {"no_playbook_test": NONE, "baseline_test": INITIAL, "test": BEST, "final_test": FINAL}
    figures: dict[str, Any] = {
        "metric": str(tested.summaries[BEST].metric) if tested else None,
        "test_opening": tested.caveats.opening or None if tested else None,
        "test_level": tested.caveats.level if tested else None,
        "test_notes": list(tested.caveats.notes) if tested else [],
    }
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
        figures[f"{key}_missing"] = list(gain.missing_words(INITIAL, name)) if isinstance(gain, Comparison) else []
    floor = tested.floor.best if tested and tested.floor else None
    figures["floor_test_metric"] = _value(floor.mean_metric) if floor else None
    figures["floor_test_hard"] = _value(floor.pass_rate) if floor else None
    figures["floor_policy"] = floor.name if floor else None
    known = tested.floor.references[0] if tested and tested.floor and tested.floor.references else None
    figures["reference_test_metric"] = _value(known.mean_metric) if known else None
    figures["reference_test_hard"] = _value(known.pass_rate) if known else None
    figures["reference_policy"] = known.name if known else None
    return figures


def _accepted(judgement: Judgement) -> dict[str, Any]:
    return {"changes": list(judgement.candidate.words()), **judgement.as_data()}


def _value(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.value


def _interval(estimate: Estimate | None) -> list[float] | None:
    return None if estimate is None else [estimate.interval.low, estimate.interval.high]
