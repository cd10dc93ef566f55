"""The world of kinds with ACE for a learner: a reflector and a curator that know the rules, and whole runs."""

from __future__ import annotations

import json
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
from whet.learn.ace.config import AceConfig
from whet.models.base import Request
from whet.run.train import TrainResult
from whet.types import Playbook

BULLET = re.compile(r"(?m)^\[(b\d+)\] \(.*?\) (.+)$")


def reflects(request: Request) -> bool:
    return request.messages[0].text.startswith("You reflect")


def roles(request: Request) -> str:
    """Reflector: the rule of each kind that failed, and a sentence of chance. Curator: adds what it is told."""
    shown = request.messages[1].text
    rng = random.Random(seed_for("ace", str(request.sampling.seed)))
    if not reflects(request):
        told = re.findall(r'"key_insight": "([^"]+)"', shown)
        added = [{"type": "ADD", "section": "Words", "content": text} for text in dict.fromkeys(told)]
        return json.dumps({"reasoning": "", "operations": added})
    attempts = re.split(r"(?m)^### ", shown)[1:]
    failed = {kind for kind in KINDS for attempt in attempts if "not solved" in attempt and f"({kind} " in attempt}
    solved = {kind for kind in KINDS for attempt in attempts if "Graded: solved" in attempt and f"({kind} " in attempt}
    tags = []
    for name, text in BULLET.findall(shown):
        about = [kind for kind in KINDS if kind in text]
        tags += [{"id": name, "tag": "helpful"} for kind in about if kind in solved]
        tags += [{"id": name, "tag": "harmful"} for kind in about if kind in failed]
        loud = re.findall(r"(?m)^\[assistant\] [A-Z]{4,}$", shown)  # an answer in upper case gives away who is to blame
        tags += [{"id": name, "tag": "harmful"} for _ in loud if text == HARM]
    pool = [*(RULES[kind] for kind in sorted(failed)[:2]), rng.choice(NULLS), *([HARM] if rng.random() < 0.2 else [])]
    insights = [{"error": "e", "root_cause": "r", "correct_approach": "c", "key_insight": text} for text in pool]
    return json.dumps({"reasoning": "", "insights": insights, "bullet_tags": tags})


def useless(request: Request) -> str:
    """Words without any effect, other ones at every call."""
    if not reflects(request):
        return json.dumps(
            {"operations": [{"type": "ADD", "section": "x", "content": f"Note {request.sampling.seed}."}]}
        )
    return json.dumps({"insights": [{"key_insight": "There is always something to note."}], "bullet_tags": []})


def config(**sections: Any) -> AceConfig:
    base: dict[str, Any] = {
        "learner": "ace",
        "env": {"name": "kinds"},
        "target": {"model": "test:function"},
        "optimizer": {"model": "test:function"},
        "train": {"epochs": 2, "batch_size": 12},
    }
    return validate(AceConfig, laid_over(base, sections), "test")


def trained(
    folder: Path,
    settings: AceConfig | None = None,
    *,
    optimiser: Callable[[Request], Any] = roles,
    target: Callable[[Request], Any] = target,
    env: Environment | None = None,
    playbook: Playbook | None = None,
    **options: Any,
) -> TrainResult:
    place = folder.parent, folder.name
    models = (target, optimiser)
    return trained_by(settings or config(), env or Kinds(), models, "roles-1", place, playbook, **options)
