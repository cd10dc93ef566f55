"""A tool for all attempts together, which advertises itself without a prefix."""

from __future__ import annotations

import verifiers.v1 as vf


class AlmanacToolset(vf.Toolset[vf.SharedToolsetConfig]):
    TOOL_PREFIX = None

    async def setup(self) -> None:
        self.words = ["even", "odd"]

    @vf.tool
    def parity(self, number: int) -> str:
        """Whether a number is even or odd."""
        return self.words[number % 2] * (1 if number >= 0 else 30_000)


if __name__ == "__main__":
    AlmanacToolset.run()
