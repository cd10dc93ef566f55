"""Makes tasks.jsonl: a month's orders in each, and the totals that are right. Run it here: python make_tasks.py"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

CUSTOMERS = ("Ada", "Bruno", "Chiara", "Dmitri", "Esi", "Farid", "Greta", "Hugo", "Ines", "Jonas")
SHOPS = ("the bakery", "the bicycle shop", "the bookshop", "the florist", "the garage", "the pharmacy")
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August")
STATES = ("paid", "paid", "paid", "cancelled", "refunded")
ROWS = 48


def task(number: int) -> dict[str, Any]:
    rng = random.Random(f"totals {number}")
    shop, month = SHOPS[number % len(SHOPS)], MONTHS[number // len(SHOPS)]
    customers = rng.sample(CUSTOMERS, 4)
    lines, totals = ["order,customer,amount,status"], dict.fromkeys(customers, 0)
    for order in range(12):
        customer, state = customers[order % 4], "paid" if order < 4 else rng.choice(STATES)
        cents = rng.randrange(100, 9000)
        lines.append(f"{1000 * number + order},{customer},{cents / 100:.2f},{state}")
        totals[customer] += {"paid": cents, "cancelled": 0, "refunded": -cents}[state]
    return {
        "id": f"T{number:02}",
        "prompt": f"Make the totals of {month} for {shop}.",
        "files": {"orders.csv": "\n".join(lines) + "\n"},
        "totals": totals,
    }


if __name__ == "__main__":
    Path("tasks.jsonl").write_text("".join(json.dumps(task(number)) + "\n" for number in range(ROWS)))
