"""What a caller may hand over instead of naming it in a config, and the environment that a config names."""

from __future__ import annotations

from dataclasses import dataclass

from whet.config.schema import PolicyConfig
from whet.envs.base import Environment
from whet.envs.registry import load_environment
from whet.models.base import Model
from whet.types import Playbook


@dataclass(frozen=True, slots=True)
class Given:
    """Objects that a caller hands over instead of naming them in the config."""

    env: Environment | None = None
    model: Model | None = None
    playbook: Playbook | None = None
    optimizer: Model | None = None


def build_environment(config: PolicyConfig, given: Given) -> Environment:
    return given.env or load_environment(config.env.name, config.env.args)
