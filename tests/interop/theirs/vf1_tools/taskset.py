"""Baskets to be added up. What the tools said is part of the reward, so it has to be the same wherever they ran."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any

import verifiers.v1 as vf

from vf1_tools.almanac import AlmanacToolset
from vf1_tools.till import TillState, TillToolset


class BasketData(vf.TaskData):
    pen: int
    cup: int


class BasketTaskConfig(vf.TaskConfig):
    tools: vf.ToolsetConfig = vf.ToolsetConfig()


class BasketTask(vf.Task[BasketData, TillState, BasketTaskConfig]):
    @classmethod
    def toolsets(cls, config: BasketTaskConfig) -> list[vf.Toolset]:
        return [TillToolset(config.tools)]

    @vf.reward
    async def correct(self, trace: Any) -> float:
        return float(trace.last_reply == str(self.data.pen + self.data.cup))

    @vf.reward(weight=0.1)
    async def added(self, trace: Any) -> float:
        return float(trace.state.sums)

    @vf.reward(weight=0.001)
    async def heard(self, trace: Any) -> float:
        said = [
            (call.name, call.arguments) for message in trace.assistant_messages for call in message.tool_calls or ()
        ]
        told = [(message.name, message.content) for message in trace.tool_messages]
        return float(zlib.crc32(repr((said, told)).encode()) % 1000)

    @vf.metric
    async def turns(self, trace: Any) -> float:
        return float(trace.num_turns)


class BasketConfig(vf.TasksetConfig):
    n: int = 50
    task: BasketTaskConfig = BasketTaskConfig()
    almanac: vf.SharedToolsetConfig = vf.SharedToolsetConfig()


class BasketTaskset(vf.Taskset[BasketTask, BasketConfig]):
    @classmethod
    def toolsets(cls, config: BasketConfig) -> list[vf.Toolset]:
        return [AlmanacToolset(config.almanac)]

    def load(self) -> Iterable[BasketTask]:
        for k in range(self.config.n):
            prompt = f"Basket {k}: what do a pen and a cup cost together?"
            data = BasketData(prompt=prompt, system_prompt="Ask the till.", pen=k + 2, cup=3 * k)
            yield BasketTask(data, self.config.task)
