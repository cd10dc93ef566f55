"""What people and scripts read of an evaluation or a comparison, as JSON. The same replies give the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from whet.evals.attempts import in_order
from whet.evals.compare import Comparison, Contrast
from whet.evals.estimate import Estimate
from whet.evals.floor import Floor
from whet.evals.summary import Figures, Summary
from whet.types import Outcome, Split
from whet.wire import Json


def results_json(
    summary: Summary,
    outcomes: Sequence[Outcome],
    *,
    model: str,
    env: str,
    split: Split,
    playbook: str,
    floor: Floor | None,
) -> Json:
    """Everything that does not depend on the clock: no timing enters, so a killed and resumed run writes the same."""
    return {
        "model": model,
        "env": env,
        "split": split,
        "playbook": playbook,
        "level": summary.level,
        "num_examples": summary.overall.tasks,
        "num_rollouts": summary.overall.rollouts,
        "repeats": summary.repeats,
        **_figures(summary.overall),
        "by_archetype": {kind: _group(figures) for kind, figures in summary.by_kind.items()},
        "by_difficulty": {name: _group(figures) for name, figures in summary.by_difficulty.items()},
        "pass_at_k": {str(rung.k): _estimate(rung.once) for rung in summary.passes},
        "pass_hat_k": {str(rung.k): _estimate(rung.always) for rung in summary.passes},
        "usage": {
            "calls": summary.usage.calls,
            "prompt_tokens": summary.usage.prompt_tokens,
            "completion_tokens": summary.usage.completion_tokens,
            "cached_tokens": summary.usage.cached_tokens,
            "usd": summary.usage.usd,
        },
        "reasons": dict(summary.reasons),
        "truncated": summary.truncated,
        "malformed": dict(summary.malformed),
        "malformed_rollouts": summary.malformed_rollouts,
        "faults": dict(summary.faults),
        "missing": summary.missing,
        "advice": list(summary.advice),
        "floor": None if floor is None else _floor(floor),
        "results": [_result(outcome) for outcome in in_order(outcomes)],
    }


def comparison_json(comparison: Comparison, *, a: str = "A", b: str = "B") -> Json:
    """A comparison with its verdict in words beside the numbers, and `hard` beside any other metric. `difference` is
    b - a.
    """
    return {
        "a": a,
        "b": b,
        "metric": str(comparison.metric),
        "verdict": comparison.verdict,
        "words": comparison.words(a, b),
        "notes": list(comparison.notes),
        "overall": _contrast(comparison.overall),
        "hard": _contrast(comparison.hard),
        "by_archetype": {kind: _contrast(contrast) for kind, contrast in comparison.by_kind.items()},
        "gained": [asdict(flip) for flip in comparison.gained],
        "lost": [asdict(flip) for flip in comparison.lost],
        "missing": {
            "a": asdict(comparison.missing_a),
            "b": asdict(comparison.missing_b),
            "bounded": comparison.bounded,
            "dropped": [f"{split}/{index}" for split, index in comparison.dropped],
        },
    }


def _contrast(contrast: Contrast) -> Json:
    return {
        "n": contrast.tasks,
        "a": _estimate(contrast.a),
        "b": _estimate(contrast.b),
        "difference": _estimate(contrast.difference),
        "p": contrast.p,
        "p_holm": contrast.adjusted,
        "test": contrast.test,
        "detectable": contrast.detectable,
        "verdict": contrast.verdict,
        "level": contrast.difference.interval.level,
        "bounded": contrast.bounded,
    }


def _figures(figures: Figures) -> Json:
    named = {
        "pass_rate": figures.pass_rate,
        "avg_reward": figures.mean_reward,
        "perfect_rate": figures.perfect_rate,
        "avg_soft": figures.mean_soft,
    }
    values = {name: None if estimate is None else estimate.value for name, estimate in named.items()}
    return {**values, "intervals": {name: _ends(estimate) for name, estimate in named.items()}}


def _group(figures: Figures) -> Json:
    return {"n": figures.tasks, "rollouts": figures.rollouts, "faults": figures.faults, **_figures(figures)}


def _ends(estimate: Estimate | None) -> list[float] | None:
    return None if estimate is None else [estimate.interval.low, estimate.interval.high]


def _estimate(estimate: Estimate) -> Json:
    return {"value": estimate.value, "interval": _ends(estimate), "n": estimate.tasks}


def _floor(floor: Floor) -> Json:
    policies, references = (
        {
            policy.name: {"pass_rate": _estimate(policy.pass_rate), "avg_reward": _estimate(policy.mean_reward)}
            for policy in ranked
        }
        for ranked in (floor.policies, floor.references)
    )
    return {"best": floor.best.name, "policies": policies, "references": references}


def _result(outcome: Outcome) -> Json:
    """A rollout. A fault has no score, so its score fields are null and no reader averages them by accident."""
    ticket, scored = outcome.ticket, not outcome.fault
    return {
        "id": f"{ticket.split}/{ticket.index}",
        "draw": ticket.draw,
        "kind": outcome.label.kind,
        "difficulty": outcome.label.difficulty,
        "hard": outcome.hard if scored else None,
        "soft": outcome.soft if scored else None,
        "reward": outcome.reward if scored else None,
        "perfect": outcome.soft == 1.0 if scored else None,
        "reason": outcome.reason,
        "fault": outcome.fault,
        "truncated": outcome.truncated,
        "malformed": list(outcome.malformed),
        "turns": outcome.turns,
        "tokens": outcome.usage.tokens,
    }
