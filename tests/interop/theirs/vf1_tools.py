"""A taskset of verifiers 0.4 that needs several turns: the number to give is behind a tool."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import verifiers.v1 as vf

__all__ = ["DoorsTaskset"]


class DoorsToolset(vf.Toolset[vf.ToolsetConfig]):
    @vf.tool
    async def open_door(self, door: int) -> str:
        """What is behind a door."""
        return f"behind door {door} is {door * 7 + 3}"


class DoorData(vf.TaskData):
    door: int


class DoorTask(vf.Task[DoorData]):
    @classmethod
    def toolsets(cls, config: Any) -> list[Any]:
        return [DoorsToolset(vf.ToolsetConfig())]

    @vf.reward
    async def found(self, trace: Any) -> float:
        return float((trace.last_reply or "").strip() == str(self.data.door * 7 + 3))


class DoorsConfig(vf.TasksetConfig):
    n: int = 4


class DoorsTaskset(vf.Taskset[DoorTask, DoorsConfig]):
    def load(self) -> Iterable[DoorTask]:
        for k in range(self.config.n):
            yield DoorTask(DoorData(prompt=f"Which number is behind door {k}?", door=k), self.config.task)
