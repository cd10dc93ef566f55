"""A taskset of verifiers 0.4: sums with a system prompt, a weighted second reward and a metric."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import verifiers.v1 as vf

__all__ = ["SumsTaskset"]


class SumData(vf.TaskData):
    answer: str


class SumTask(vf.Task[SumData]):
    @vf.reward
    async def correct(self, trace: Any) -> float:
        return float((trace.last_reply or "").strip() == self.data.answer)

    @vf.reward(weight=0.25)
    async def brief(self, trace: Any) -> float:
        return 1.0 / max(1, len(trace.last_reply or ""))

    @vf.metric
    async def length(self, trace: Any) -> float:
        return float(len(trace.last_reply or ""))


class SumsConfig(vf.TasksetConfig):
    n: int = 50


class SumsTaskset(vf.Taskset[SumTask, SumsConfig]):
    def load(self) -> Iterable[SumTask]:
        for k in range(self.config.n):
            data = SumData(prompt=f"What is {k} + {k + 1}?", system_prompt="Answer in digits.", answer=str(2 * k + 1))
            yield SumTask(data, self.config.task)
