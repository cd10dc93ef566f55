"""Says what a folder is worth: the share of customers whose total is right. Nothing that the policy wrote is run."""

from __future__ import annotations

import json
from pathlib import Path

LONGEST = 100_000


def main() -> None:
    wanted = json.loads(Path("TASK.json").read_text())["totals"]
    found = Path("workspace/totals.json")
    if not found.is_file():
        return tell(0.0, "there is no totals.json")
    try:
        given = json.loads(found.read_text()[:LONGEST])
    except ValueError as error:
        return tell(0.0, f"totals.json is not JSON: {error}")
    if not isinstance(given, dict):
        return tell(0.0, "totals.json must hold an object of customers and totals")
    names = sorted({*wanted, *given})
    wrong = [
        f"{name} should be {wanted.get(name, 'left out')}, is {given.get(name, 'missing')!r:.40}"
        for name in names
        if wanted.get(name) != given.get(name)
    ]
    return tell(1.0 - len(wrong) / len(names), "; ".join(wrong[:10]))


def tell(score: float, feedback: str) -> None:
    print(json.dumps({"score": score, "feedback": feedback}))


main()
