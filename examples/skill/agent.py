"""A coding agent that is a program: it reads SKILL.md and does what that says, and no more.

It stands for codex or claude where neither is at hand: `-m "agent:python agent.py"`. That cancelled orders do not count
and that refunds are taken off is nothing it would think of by itself; a skill has to say so.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path


def main() -> None:
    skill = Path("SKILL.md").read_text() if Path("SKILL.md").is_file() else ""
    if "totals.json" not in skill:
        print("I do not know what to write.")
        return
    totals: dict[str, int] = {}
    with Path("orders.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if row["status"] == "cancelled" and "cancelled" in skill:
                continue
            sign = -1 if row["status"] == "refunded" and "refunded" in skill else 1
            cents = sign * round(float(row["amount"]) * (100 if "cents" in skill else 1))
            totals[row["customer"]] = totals.get(row["customer"], 0) + cents
    Path("totals.json").write_text(json.dumps(totals))
    print(f"Wrote the totals of {len(totals)} customers to totals.json.")


main()
