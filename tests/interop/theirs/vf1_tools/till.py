"""Tools that know the task and count in its state what was asked of them."""

from __future__ import annotations

from typing import Any

import verifiers.v1 as vf


class TillState(vf.State):
    sums: int = 0


class TillToolset(vf.Toolset[vf.ToolsetConfig, TillState]):
    TOOL_PREFIX = "till"

    async def setup_task(self, task: Any) -> None:
        self.prices = {"pen": task.pen, "cup": task.cup}

    @vf.tool
    def price(self, item: str) -> int:
        """What an item costs."""
        return self.prices[item]

    @vf.tool
    async def add(self, left: int, right: int) -> int:
        """The sum of two prices."""
        self.state.sums += 1
        return left + right


if __name__ == "__main__":
    TillToolset.run()
