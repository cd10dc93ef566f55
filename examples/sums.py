"""An environment in a few lines: sums and differences. Try it with: whet envs check examples/sums.py:Sums"""

from __future__ import annotations

import random

from whet.envs.base import Baseline, Environment, Play, ask
from whet.envs.splits import draw
from whet.types import Label, Split, Task, failed, solved, user


class Sums(Environment):
    name = "sums"
    about = "sums and differences of two numbers"

    def __init__(self, select: int = 400, test: int = 400) -> None:
        self.sizes: dict[Split, int | None] = {"train": None, "select": select, "test": test}

    def size(self, split: Split) -> int | None:
        return self.sizes[split]

    def label(self, split: Split, index: int) -> Label:
        return Label(("add", "subtract")[index % 2], ("easy", "hard")[index // 2 % 2])

    def task(self, split: Split, index: int) -> Task:
        label = self.label(split, index)
        sign = "+" if label.kind == "add" else "-"
        limit = 30 if label.difficulty == "easy" else 1000

        def numbers(seed: int) -> tuple[int, int]:
            rng = random.Random(seed)
            return rng.randrange(limit), rng.randrange(limit)

        left, right = draw(("sums", sign, limit), split, index, numbers, content=lambda pair: f"{pair} {sign}")
        question = f"What is {left} {sign} {right}? Reply with the number only."
        return Task(split, index, label, (user(question),), truth=left + right if sign == "+" else left - right)

    def play(self, task: Task) -> Play:
        reply = yield from ask(task.messages)
        said = reply.text.strip().rstrip(".")
        return solved() if said == str(task.truth) else failed("wrong" if said else "no_answer", f"said {said[:80]!r}")

    def baselines(self) -> dict[str, Baseline]:
        return {"oracle": lambda task, said: str(task.truth)}
