"""The world of kinds with GEPA for a learner: a reflection model that knows the rules, and whole runs."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from learn_world import laid_over, trained_by
from reflact_world import HARM, KINDS, NULLS, RULES, Kinds, target

from whet.config.load import validate
from whet.envs.base import Environment
from whet.keys import seed_for
from whet.learn.gepa.config import GepaConfig
from whet.models.base import Request
from whet.run.train import TrainResult
from whet.types import Playbook


def shown(prompt: str) -> tuple[str, list[str]]:
    """The text that a reflection is to change, and the kinds of the tasks that failed with it."""
    text = prompt.split("```", 2)[1].strip("\n")
    examples = re.split(r"(?m)^# Example \d+$", prompt)[1:]
    failed = [kind for example in examples for kind in KINDS if "Not solved" in example and f"{kind} task" in example]
    return text, failed


def reflection(request: Request) -> str:
    """Adds the rule of a kind that failed, a useless sentence, and now and then one that harms."""
    text, failed = shown(request.messages[0].text)
    rng = random.Random(seed_for("reflection", str(request.sampling.seed)))
    pool = [*(RULES[kind] for kind in failed[:1]), rng.choice(NULLS), *([HARM] if rng.random() < 0.2 else [])]
    lines = [*filter(None, text.split("\n")), *(rule for rule in pool if rule not in text)]
    return "Here it is.\n```\n" + "\n".join(lines) + "\n```"


def useless(request: Request) -> str:
    """Words without any effect, other ones at every call."""
    text, _ = shown(request.messages[0].text)
    return f"```\n{text}\nNote {request.sampling.seed}.\n```"


def config(**sections: Any) -> GepaConfig:
    base: dict[str, Any] = {
        "learner": "gepa",
        "env": {"name": "kinds"},
        "target": {"model": "test:function"},
        "optimizer": {"model": "test:function"},
        "gepa": {"calls": 200},
    }
    return validate(GepaConfig, laid_over(base, sections), "test")


def trained(
    folder: Path,
    settings: GepaConfig | None = None,
    *,
    optimiser: Callable[[Request], Any] = reflection,
    target: Callable[[Request], Any] = target,
    env: Environment | None = None,
    playbook: Playbook | None = None,
    **options: Any,
) -> TrainResult:
    place = folder.parent, folder.name
    models = (target, optimiser)
    return trained_by(settings or config(), env or Kinds(), models, "reflection-1", place, playbook, **options)
