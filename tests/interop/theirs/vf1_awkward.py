"""A taskset of verifiers 0.4 whose tools are awkward in the way that `how` says. Its module serves nothing when run."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import verifiers.v1 as vf
from mcp.types import ImageContent

__all__ = ["AwkwardTaskset"]


class AwkwardConfig(vf.TaskConfig):
    tools: vf.ToolsetConfig = vf.ToolsetConfig()


class AwkwardToolset(vf.Toolset[vf.ToolsetConfig]):
    TOOL_PREFIX = None

    @vf.tool
    def hang(self) -> str:
        """Does not return."""
        time.sleep(3600)
        return ""

    @vf.tool
    def picture(self) -> ImageContent:
        """Is not text."""
        return ImageContent(type="image", data="aGk=", mime_type="image/png")


class AwkwardTask(vf.Task[vf.TaskData, vf.State, AwkwardConfig]):
    @classmethod
    def toolsets(cls, config: AwkwardConfig) -> list[vf.Toolset]:
        return [AwkwardToolset(config.tools)]

    @vf.reward
    async def right(self, trace: Any) -> float:
        return float(trace.last_reply == "yes")


class SetUpTask(AwkwardTask):
    async def setup(self, trace: Any, runtime: Any) -> None:
        """Needs a runtime, so it is played by a harness."""


class AwkwardTasksetConfig(vf.TasksetConfig):
    task: AwkwardConfig = AwkwardConfig()
    set_up: bool = False


class AwkwardTaskset(vf.Taskset[AwkwardTask, AwkwardTasksetConfig]):
    def load(self) -> Iterable[AwkwardTask]:
        kind = SetUpTask if self.config.set_up else AwkwardTask
        for word in ("one", "two", "three"):
            yield kind(vf.TaskData(prompt=f"Say yes, {word}."), self.config.task)
