"""An environment of verifiers 0.3 whose grader raises on a reply that is no number, which the library counts as 0."""

from __future__ import annotations

from typing import Any

import verifiers as vf
from datasets import Dataset


def close(completion: Any, answer: str) -> float:
    return 1.0 / (1 + abs(int(completion[-1]["content"]) - int(answer)))


def load_environment(n: int = 50) -> vf.Environment:
    rows = [{"question": f"What is half of {2 * k}?", "answer": str(k)} for k in range(n)]
    return vf.SingleTurnEnv(dataset=Dataset.from_list(rows), rubric=vf.Rubric(funcs=[close]))
