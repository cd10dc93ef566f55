"""A taskset of verifiers 0.4 whose grader cannot take every reply: it raises on one that is no number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import verifiers.v1 as vf

__all__ = ["HalvesTaskset"]


class HalfData(vf.TaskData):
    answer: int


class HalfTask(vf.Task[HalfData]):
    @vf.reward
    async def close(self, trace: Any) -> float:
        return 1.0 / (1 + abs(int(trace.last_reply or "") - self.data.answer))


class HalvesConfig(vf.TasksetConfig):
    n: int = 50


class HalvesTaskset(vf.Taskset[HalfTask, HalvesConfig]):
    def load(self) -> Iterable[HalfTask]:
        for k in range(self.config.n):
            yield HalfTask(HalfData(prompt=f"What is half of {2 * k}?", answer=k), self.config.task)
