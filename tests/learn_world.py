"""What the small worlds of the learners share: sections over a base, and a whole run with functions for models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from builders import FromFunction

from whet.config.train import TrainConfig
from whet.envs.base import Environment
from whet.models.base import Request
from whet.run.api import train
from whet.run.train import TrainResult
from whet.types import Playbook

Answer = Callable[[Request], Any]


def laid_over(base: Mapping[str, Any], sections: Mapping[str, Any]) -> dict[str, Any]:
    """A config's data with `sections` over it, key by key."""
    made = dict(base)
    for name, section in sections.items():
        made[name] = {**made.get(name, {}), **section} if isinstance(section, dict) else section
    return made


def trained_by(
    settings: TrainConfig,
    env: Environment,
    models: tuple[Answer, Answer],
    named: str,
    place: tuple[Path, str],
    playbook: Playbook | None = None,
    **options: Any,
) -> TrainResult:
    """A whole run of target and optimiser, both functions. `named`: the optimiser's fingerprint; `place`: where."""
    target, optimiser = map(FromFunction, models)
    optimiser.fingerprint = named
    runs, name = place
    return train(
        settings, env=env, model=target, optimizer=optimiser, playbook=playbook, runs=runs, name=name, **options
    )
