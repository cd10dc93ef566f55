"""Coding agents: commands that work in a folder of their own."""

from __future__ import annotations

from whet.models.base import Model
from whet.models.options import ModelOptions
from whet.models.scheme import scheme


@scheme("agent", "agent:codex, agent:claude, or agent:COMMAND with {prompt_file}, {workspace} and {output_file}")
def agent(address: str, options: ModelOptions) -> Model:
    from whet.models.agent.model import open_agent

    return open_agent(address, options)
