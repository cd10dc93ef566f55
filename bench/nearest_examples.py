"""Worked examples chosen for each task, with the embedded model and no key: the gain over the best trivial policy.

    python bench/nearest_examples.py [--quick] [--json FILE] [--only NAME]

Each set of tasks is made from a seed and written as a CSV file: an order in words, to be answered in the form of a
house. The form, and the code of each article, stand nowhere but in the training rows; copying the nearest training
answer gets the code right and the number wrong. The claim is the sealed test of an ordinary `whet train` run with
`examples.choice = "nearest"`; the best trivial policy is the best of the floor of the same run, `nearest` (the answer
of the most similar training row) among them. Besides, a family of reasoning-gym, and two
environments with a tool: `bays.py`, where its output is to be copied, and `examples/stock.py`.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from whet.config.load import validate
from whet.evals.compare import Comparison, compare
from whet.learn.reflact.config import ReflactConfig
from whet.ledger.store import Ledger
from whet.run.floor import FLOOR, played_for
from whet.run.train import run_training
from whet.types import Outcome

ROWS = 180

FULL = {"tasks": 40, "batch_size": 40, "select": 24, "test": 40}
SMALL = {"tasks": 12, "batch_size": 12, "select": 12, "test": 12}
QUICK = {"tasks": 24, "batch_size": 24, "select": 16, "test": 20}

Row = dict[str, str]

ARTICLES = {
    "lemons": "LEM", "olive oil": "OIL", "rye bread": "RYE", "goat cheese": "GOA", "green tea": "TEA", "honey": "HON",
    "walnuts": "WAL", "sea salt": "SAL", "plums": "PLU", "lentils": "LEN", "cocoa": "COC", "mustard": "MUS",
}  # fmt: skip
ASKS = ("Please send {n} {unit} of {what}.", "We need {n} {unit} of {what} by Friday.", "{n} {unit} of {what}, please.")
UNITS = ("boxes", "crates", "sacks")


def order_line(rng: random.Random) -> Row:
    """A code and a number: 'Please send 14 boxes of honey.' is 'HON-14'."""
    what, number = rng.choice(sorted(ARTICLES)), rng.randrange(11, 99)
    text = rng.choice(ASKS).format(n=number, unit=rng.choice(UNITS), what=what)
    return {"text": text, "answer": f"{ARTICLES[what]}-{number}"}


def due_date(rng: random.Random) -> Row:
    """A date in the house's form: 'Invoice of 3 March, payable at once.' is '03/MAR'."""
    months = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ]
    month, day = rng.choice(months), rng.randrange(10, 29)
    ask = rng.choice(("Invoice of {d} {m}, payable at once.", "The meeting is on {d} {m}.", "Due {d} {m} at noon."))
    return {"text": ask.format(d=day, m=month), "answer": f"{day}/{month[:3].upper()}"}


def room_key(rng: random.Random) -> Row:
    """A room and a name: 'Room 214 is for Ms Ortega tonight.' is '214:Ortega'."""
    names = [
        "Ortega",
        "Lindqvist",
        "Baker",
        "Moreau",
        "Tanaka",
        "Novak",
        "Rossi",
        "Keller",
        "Silva",
        "Dubois",
        "Hansen",
        "Kowalski",
    ]
    name, room = rng.choice(names), rng.randrange(101, 599)
    ask = rng.choice(
        ("Room {r} is for Ms {n} tonight.", "Mr {n} would like room {r}.", "Put {n} into room {r}, please.")
    )
    return {"text": ask.format(r=room, n=name), "answer": f"{room}:{name}"}


GYM: dict[str, dict[str, Any]] = {
    "needle_haystack": {"min_num_statements": 3, "max_num_statements": 6},
}
"""Families of reasoning-gym, with arguments that a small model's room allows."""

TOOLS = {"bays": "bench/bays.py:Bays", "stock": "examples/stock.py:Stock"}
"""Environments with a tool: in the first its output is the answer, in the second the answer takes arithmetic."""

SETS: dict[str, Callable[[random.Random], Row]] = {"orders": order_line, "dates": due_date, "rooms": room_key}


def written(name: str, folder: Path) -> Path:
    """The rows of a set, all different, as a file."""
    rng, rows = random.Random(name), dict[str, Row]()
    while len(rows) < ROWS:
        row = SETS[name](rng)
        rows.setdefault(row["text"], row)
    path = folder / f"{name}.csv"
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, ["text", "answer", "split"])
        table.writeheader()
        for at, row in enumerate(rows.values()):
            table.writerow({**row, "split": "train" if at < 90 else "val" if at < 120 else "test"})
    return path


def trained(name: str, folder: Path, quick: bool) -> dict[str, Any]:
    """One run, and what its best policy gained over the initial one and over the best trivial one."""
    if name in TOOLS:
        env: dict[str, Any] = {"name": str(Path(__file__).parents[1] / TOOLS[name])}
    elif name in GYM:
        env = {"name": f"reasoning-gym/{name}", "args": GYM[name]}
    else:
        env = {
            "name": f"data:{written(name, folder)}",
            "args": {"prompt": "{text}", "answer": "answer", "check": "exact", "split": "split"},
        }
    section = {"proposer": "examples", "epochs": 1, **(SMALL if quick and name in TOOLS else QUICK if quick else FULL)}
    data = {
        "env": env,
        "target": {
            "model": "embedded:smollm2",
            "sampling": {"temperature": 0.0, "max_tokens": 48 if name in TOOLS else 16},
        },
        "train": section,
        "examples": {"choice": "nearest", "tries": 1, "probe": 8, "take": 3, "most": 3},
        "limits": {"turns": 4},
    }
    config = validate(ReflactConfig, data, "bench")
    began = time.process_time()
    result = run_training(config, runs=folder / "runs")
    with Ledger.read(result.folder) as ledger:
        played = list(ledger.outcomes())
    assert result.tested is not None
    best = result.tested.outcomes["best"]
    floor = played_for(played, FLOOR)
    trivial = max(floor, key=lambda policy: sum(outcome.hard for outcome in floor[policy]))
    return {
        "set": name,
        "accepted": sum(judgement.accepted for judgement in result.judge.judgements),
        "initial": _mean(result.tested.outcomes["initial"]),
        "best": _mean(best),
        "trivial": trivial,
        "trivial_score": _mean(floor[trivial]),
        "nearest_answer": _mean(floor.get("nearest", ())),
        "gain_over_trivial": _gain(floor[trivial], best),
        "decisions": [str(judgement.decision) for judgement in result.judge.judgements],
        "cpu_s": round(time.process_time() - began),
    }


def _mean(outcomes: Any) -> float | None:
    return round(sum(outcome.hard for outcome in outcomes) / len(outcomes), 3) if outcomes else None


def _gain(trivial: list[Outcome], best: tuple[Outcome, ...]) -> list[float]:
    """The paired difference with its interval."""
    compared: Comparison = compare(trivial, best)
    found = compared.overall.difference
    return [round(figure, 3) for figure in (found.value, found.interval.low, found.interval.high)]


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("--json", type=Path)
    arguments.add_argument("--only", action="append")
    given = arguments.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for name in given.only or (*SETS, *GYM, *TOOLS):
            found.append(trained(name, Path(folder), given.quick))
            print(json.dumps(found[-1]), flush=True)
    rows = [
        {
            "name": f"nearest_examples.{row['set']}", "value": row["gain_over_trivial"][1],
            "unit": "low end of the gain",
            "bar": 0.0 if row["set"] not in TOOLS else None,
            "holds": row["gain_over_trivial"][1] > 0 if row["set"] not in TOOLS else None,
            "peer": f"floor {row['trivial']}", "peer_value": row["trivial_score"], "ratio": None, "condition": row,
        }
        for row in found
    ]  # fmt: skip
    if given.json:
        given.json.write_text(json.dumps({"rows": rows}, indent=1))


if __name__ == "__main__":
    main()
