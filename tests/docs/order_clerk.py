"""A Python function in place of the demo's model: it knows every order by heart, and writes one down in the right form
where the prompt shows it the form; otherwise it repeats what it was told."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import Any

ORDERS = Path(__file__).parents[2] / "examples" / "orders.csv"


@cache
def answers() -> dict[str, str]:
    with ORDERS.open(newline="", encoding="utf-8") as file:
        return {row["message"].strip(): row["order"] for row in csv.DictReader(file)}


def answer(request: Any) -> str:
    *before, question = [message.text for message in request.messages]
    shown = any(" | " in text and "quantity |" not in text for text in before)
    message = question.partition("\n\n")[2].strip()
    return answers().get(message, "I do not know this order") if shown else message
