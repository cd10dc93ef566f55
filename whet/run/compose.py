"""What a caller may hand over instead of naming it in a config, and the environment that a config names."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path

from whet.config.schema import PolicyConfig
from whet.envs.base import Environment
from whet.envs.registry import load_environment
from whet.models.base import Model
from whet.rollout.sources import Sources
from whet.types import Playbook


@dataclass(frozen=True, slots=True)
class Given:
    """Objects that a caller hands over instead of naming them in the config."""

    env: Environment | None = None
    model: Model | None = None
    playbook: Playbook | None = None
    optimizer: Model | None = None
    run: Path | None = None
    """The folder of a run that was begun: it is made from what it keeps, not from what lies around."""

    @property
    def sources(self) -> Sources | None:
        return None if self.run is None else Sources.of(self.run)


def build_environment(config: PolicyConfig, given: Given) -> Environment:
    if given.env is not None:
        return given.env
    sources = given.sources
    if sources is None:
        return load_environment(config.env.name, config.env.args)
    env = sources.environment(config.env.name, config.env.args)
    for file in sources.changed():
        told = f"{file} has changed since {sources.run} began, which goes on with its own copy"
        warnings.warn(told, stacklevel=2)
    return env
