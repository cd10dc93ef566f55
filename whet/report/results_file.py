"""A file of results (`results.json`, also one of another run's or of a publication) as the record of a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from whet.errors import WhetError
from whet.evals.estimate import LEVEL, Estimate, Interval, mean_estimate
from whet.evals.summary import in_scale
from whet.report.fold import GroupScore, RunFacts, StageCost


def results_records(path: Path) -> list[RunFacts]:
    """What figures need of a file of results, or of an ablation's, which has several; refused where there is none."""
    try:
        data = orjson.loads(path.read_bytes())
    except (OSError, ValueError) as problem:
        raise WhetError(f"{path}: cannot be read as results ({problem})") from None
    if isinstance(data, list) and data and all(isinstance(row, dict) and "select_hard" in row for row in data):
        return [_preset(path, row) for row in data]
    return [_evaluation(path, data)]


def _preset(path: Path, row: Mapping[str, Any]) -> RunFacts:
    """An arm of `ablation.json`."""
    told = {"pass_rate": row["select_hard"], "intervals": {"pass_rate": row.get("interval")}}
    name = str(row.get("preset", path.stem))
    return RunFacts(name, path.parent, kind="ablation", state="complete", score=_estimate(told, 0), on="select")


def _evaluation(path: Path, data: Any) -> RunFacts:
    if not isinstance(data, dict) or not isinstance(data.get("pass_rate"), int | float):
        raise WhetError(f"{path}: holds no results (no pass_rate); name results.json of an evaluation, or a run")
    score = _estimate(data, int(data.get("num_examples") or 0))
    used = data.get("usage") or {}
    tokens = int(used.get("prompt_tokens") or 0) + int(used.get("completion_tokens") or 0)
    name = path.parent.name if path.name == "results.json" else path.stem
    return RunFacts(
        name,
        path.parent,
        kind="eval",
        env=str(data.get("env", "")),
        model=str(data.get("model", "")),
        state="complete",
        rollouts=int(data.get("num_rollouts") or 0),
        score=score,
        on=str(data.get("split", "")),
        notes=tuple(map(str, data.get("notes", ()))),
        kinds=_groups(data.get("by_archetype")),
        difficulties=_groups(data.get("by_difficulty")),
        grid=_grid(data.get("results")),
        reasons=data.get("reasons") or {},
        costs=(StageCost("eval", int(used.get("calls") or 0), tokens, used.get("usd")),),
    )


def _estimate(data: Mapping[str, Any], tasks: int) -> Estimate:
    value = float(data["pass_rate"])
    ends = (data.get("intervals") or {}).get("pass_rate") or [value, value]
    return Estimate(value, Interval(float(ends[0]), float(ends[1]), float(data.get("level") or LEVEL)), tasks)


def _groups(data: Any) -> tuple[GroupScore, ...]:
    known = {name: held for name, held in (data or {}).items() if held.get("pass_rate") is not None}
    return tuple(
        GroupScore(name, _estimate(held, int(held.get("n") or 0)), int(held.get("rollouts") or 0))
        for name, held in sorted(known.items(), key=lambda item: in_scale(item[0]))
    )


def _grid(results: Any) -> dict[tuple[str, str], GroupScore]:
    """Kind by difficulty, from the rollouts of the file."""
    tasks: dict[tuple[str, str], dict[str, list[float]]] = {}
    for row in results or ():
        if row.get("hard") is not None:
            cell = tasks.setdefault((str(row.get("kind", "")), str(row.get("difficulty", ""))), {})
            cell.setdefault(str(row["id"]), []).append(float(row["hard"]))
    found = {}
    for cell_name, held in tasks.items():
        rate = mean_estimate([sum(values) / len(values) for values in held.values()])
        if rate is not None:
            found[cell_name] = GroupScore(" ".join(cell_name), rate, sum(map(len, held.values())))
    return found
