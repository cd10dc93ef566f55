"""What weights can do at all on `ordebug`, before they are reinforced: many attempts at each problem, by fault type.

python bench/rl_support.py --weights hf:smollm2+DIR --work DIR [--rungs small@select,medium@select] [-n 100]
                           [--repeats 8] [--temperatures 1.0 0.7 0] [--json FILE]

Reinforcement makes sure of what is solved at times; what is solved in none of many attempts gives it nothing to go by.
So beside the mean stand the shares of problems solved in every attempt, and in none, and how attempts that failed
ended: handed in, or not. At temperature 0 one attempt is made. Problems are those that arms are chosen by, never those
of split test.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from rl import SAMPLING, KeptOpen
from rl_problems import RUNGS, rung_of

import whet
from whet.errors import WhetError
from whet.evals.estimate import Interval, wilson
from whet.models.base import Model
from whet.run.workspace import open_run
from whet.types import Score

ALL = "all"


def played(
    model: Model, rung: str, n: int | None, repeats: int, temperature: float, runs: Path
) -> list[dict[str, Any]]:
    """The attempts at problems of a rung: task, kind, and what their score says."""
    try:
        args, split, usual = rung_of(rung)
    except KeyError:
        raise SystemExit(f"{rung} is no rung; there are {', '.join(f'{name}@select' for name in RUNGS)}") from None
    if split == "test":
        raise SystemExit(f"{rung}: problems of split test are for arms alone; say {rung}@select")
    given = [f"env.args.{name}={value}" for name, value in args.items()]
    given += [*SAMPLING, f"target.sampling.temperature={temperature:g}", "target.sampling.max_tokens=288"]
    made = whet.evaluate("ordebug", model, n=n or usual, repeats=repeats, split=split, overrides=given, runs=runs)
    return [
        {"task": rollout.ticket.index, "kind": rollout.label.kind, "score": rollout.outcome}
        for rollout in open_run(made.folder, runs).rollouts()
        if isinstance(rollout.outcome, Score)
    ]


def by_kind(attempts: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """For all problems and for those of each fault type: what was solved, how surely, and how the rest ended."""
    told: dict[str, dict[int, list[Score]]] = defaultdict(lambda: defaultdict(list))
    for attempt in attempts:
        for kind in (ALL, attempt["kind"]):
            told[kind][attempt["task"]].append(attempt["score"])
    return {kind: _figures(list(tasks.values())) for kind, tasks in sorted(told.items(), key=lambda it: it[0] != ALL)}


def _figures(tasks: Sequence[Sequence[Score]]) -> dict[str, Any]:
    shares = [fmean(score.hard for score in scores) for scores in tasks]
    failed = [score for scores in tasks for score in scores if not score.hard]
    return {
        "problems": len(tasks),
        "attempts": sum(map(len, tasks)),
        "solved": fmean(shares),
        "always": fmean(share == 1 for share in shares),
        "never": fmean(share == 0 for share in shares),
        "failed": dict(Counter(score.reason for score in failed).most_common()),
        "pointed": fmean(score.parts.get("recall", 0.0) > 0 for score in failed) if failed else None,
    }


def shown(spread: Interval | None) -> str:
    return f"[{spread.low:.2f}, {spread.high:.2f}]" if spread else ""


def lines(name: str, found: Mapping[str, Mapping[str, Any]]) -> list[str]:
    told = [f"{name}: {found[ALL]['problems']} problems, {found[ALL]['attempts']} attempts"]
    for kind, its in found.items():
        spread = wilson(round(its["never"] * its["problems"]), its["problems"])
        ends = ", ".join(f"{reason} {count}" for reason, count in its["failed"].items())
        told.append(
            f"  {kind:8} solved {its['solved']:.2f}, always {its['always']:.2f}, never {its['never']:.2f} "
            f"{shown(spread)}; failed: {ends or 'none'}"
        )
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", required=True, help="an address, such as hf:smollm2+DIR")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--rungs", default="small@select,medium@select")
    parser.add_argument("-n", type=int, help="problems of a rung; default: as many as arms are measured on")
    parser.add_argument("--repeats", type=int, default=8, help="attempts at each")
    parser.add_argument("--temperatures", type=float, nargs="+", default=[1.0, 0.7, 0.0])
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    try:
        model, found = KeptOpen(given.weights), dict[str, Any]()
    except WhetError as problem:
        raise SystemExit(f"rl_support.py: {problem}") from None
    for temperature in given.temperatures:
        repeats = given.repeats if temperature else 1
        for rung in given.rungs.split(","):
            name = f"{rung} at {temperature:g}"
            runs = given.work / name.replace(" ", "_")
            found[name] = by_kind(played(model, rung, given.n, repeats, temperature, runs))
            print("\n".join(lines(name, found[name])), flush=True)
            if given.json:
                given.json.write_text(json.dumps({"weights": given.weights, "found": found}, indent=1))
    asyncio.run(model.end())


if __name__ == "__main__":
    main()
