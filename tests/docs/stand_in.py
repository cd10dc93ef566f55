"""A Python function where a page names a model: reads orders once worked examples show how, answers sums and words."""

from __future__ import annotations

import re
from typing import Any

ORDER = re.compile(r"(\d+) \| [^|\n]+ \| [^|\n]+ \| \w+")


def answer(request: Any) -> str:
    """An order in the right form only where the prompt holds orders in it; otherwise a sum, or the first words."""
    said = [message.text for message in request.messages]
    question = said[-1]
    if any(ORDER.search(text) for text in said):
        number = re.search(r"\d+", question)
        return f"{number[0] if number else 1} | soup bowls | Dublin | Monday"
    found = re.search(r"(-?\d+) \+ (-?\d+)", question)
    return str(int(found[1]) + int(found[2])) if found else " ".join(question.split()[:6])
