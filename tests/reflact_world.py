"""A small world to train in: tasks of four kinds, a target that solves a kind when its rule stands in the playbook,
and an optimiser that knows the rules, some useless ones and one that harms."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from learn_world import laid_over, trained_by

from whet.config.load import validate
from whet.envs.base import Baseline, Environment, Messages, Play, ask
from whet.keys import seed_for
from whet.learn.reflact.config import ReflactConfig
from whet.models.base import Request
from whet.run.train import TrainResult
from whet.types import Label, Playbook, Split, Task, failed, solved, user

KINDS = ("amber", "birch", "coral", "dune")
RULES = {kind: f"For {kind} tasks, answer with the word {kind} reversed." for kind in KINDS}
NULLS = ("Think before you answer.", "Be polite to everyone.", "Read the question twice.")
HARM = "Always answer in upper case."


class Kinds(Environment):
    """Say the kind's word backwards."""

    name = "kinds"
    fingerprint = "kinds-1"

    def __init__(self, train: int = 24, select: int = 24, test: int = 40) -> None:
        self._sizes = {"train": train, "select": select, "test": test}

    def size(self, split: Split) -> int | None:
        return self._sizes[split]

    def label(self, split: Split, index: int) -> Label:
        return Label(KINDS[index % 4], "easy")

    def task(self, split: Split, index: int) -> Task:
        kind = KINDS[index % 4]
        return Task(split, index, Label(kind, "easy"), (user(f"{kind} task {split}-{index}: answer"),), kind[::-1])

    def play(self, task: Task) -> Play:
        reply = yield from ask(task.messages)
        return solved() if reply.text.strip() == task.truth else failed("wrong", f"a {task.label.kind} task")

    def baselines(self) -> dict[str, Baseline]:
        def oracle(task: Task, said: Messages) -> str:
            return str(task.truth)

        return {"oracle": oracle}


def target(request: Request) -> str:
    """Solves a kind with its rule nine times in ten, without it one time in ten, with a worked example always."""
    text = "\n".join(message.text for message in request.messages[:-1])
    question = request.messages[-1].text
    kind = question.split()[0]
    luck = random.Random(seed_for("target", question, request.sampling.seed or 0)).random()
    known = RULES[kind] in text
    if f"{kind} task" in text:
        known = True
    if HARM in text and luck < 0.5:
        return kind[::-1].upper()
    return kind[::-1] if luck < (0.9 if known else 0.1) else "?"


async def slow_target(request: Request) -> str:
    await asyncio.sleep(0.01)
    return target(request)


def rules_in(text: str) -> list[str]:
    return [rule for rule in (*RULES.values(), *NULLS, HARM) if rule in text]


def optimiser(request: Request) -> str:
    """Reads what it is asked for off the instructions, and draws its proposals from the pool."""
    instructions, shown = request.messages[0].text, request.messages[1].text
    rng = random.Random(seed_for("optimiser", str(request.sampling.seed)))
    ids = re.findall(r"### (train/\d+)", shown)
    if instructions.startswith("You improve"):
        failing = "FAILED" in instructions
        kinds = sorted({kind for kind in KINDS if f"({kind} " in shown})
        pool = [RULES[kind] for kind in kinds] if failing else []
        pool = [*pool, rng.choice(NULLS), *([HARM] if rng.random() < 0.3 else [])]
        rng.shuffle(pool)
        summary = [{"failure_type": "unknown word", "description": "the word was not known", "tasks": ids[:2]}]
        return json.dumps(
            {
                "batch_size": len(ids),
                "failure_summary": summary if failing else [],
                "patch": {"reasoning": "r", "edits": [{"op": "append", "content": one} for one in pool[:2]]},
                "appendix_notes": [f"remember {rng.choice(KINDS)}"],
            }
        )
    if instructions.startswith("You merge"):
        found = dict.fromkeys(re.findall(r'"content": "([^"]+)"', shown))
        return json.dumps({"reasoning": "m", "edits": [{"op": "append", "content": one} for one in found]})
    if instructions.startswith("You choose which"):
        return json.dumps({"reasoning": "k", "selected_indices": [0, 1, 2, 3]})
    if instructions.startswith("You choose how many"):
        return json.dumps({"learning_rate": 2, "reasoning": "l", "confidence": 0.5, "risk_notes": []})
    if '"slow_update_content"' in instructions:
        return json.dumps({"reasoning": "s", "slow_update_content": "Keep following the rules."})
    if '"meta_skill_content"' in instructions:
        return json.dumps({"reasoning": "s", "meta_skill_content": "Rules by kind help."})
    if instructions.startswith("These reminders"):
        return json.dumps({"appendix_notes": ["remember the rules"]})
    return "I do not know what is asked."


def config(**sections: Any) -> ReflactConfig:
    """Two epochs of two steps each; `sections` go over it."""
    base: dict[str, Any] = {
        "env": {"name": "kinds"},
        "target": {"model": "test:function"},
        "optimizer": {"model": "test:function"},
        "train": {"epochs": 2, "batch_size": 12},
        "reflect": {"minibatch": 4, "calls": 0},
        "update": {"bring": "halves", "evidence": False},
        "slow": {"use": True},
        "meta": {"use": True},
        "gate": {"pace": "eager", "alpha": 0.05},
    }
    if "preset" in sections or sections.get("gate", {}).get("name"):
        del base["gate"]
    if "preset" in sections:
        del base["update"]
    return validate(ReflactConfig, laid_over(base, sections), "test")


def trained(
    folder: Path,
    settings: ReflactConfig | None = None,
    *,
    optimiser: Callable[[Request], Any] = optimiser,
    target: Callable[[Request], Any] = target,
    env: Environment | None = None,
    playbook: Playbook | None = None,
    **options: Any,
) -> TrainResult:
    """A whole run in `folder`."""
    models = (target, optimiser)
    return trained_by(
        settings or config(), env or Kinds(), models, "optimiser-1", (folder.parent, folder.name), playbook, **options
    )


def timeless(folder: Path) -> dict[str, bytes]:
    """Every readable file of a run by name, with what a clock says taken out."""
    found = {}
    for file in sorted(folder.rglob("*")):
        if not file.is_file() or file.name.startswith("ledger.") or file.suffix == ".lock":
            continue
        data = file.read_bytes()
        if file.suffix == ".json":
            data = json.dumps(_without_clock(json.loads(data)), sort_keys=True).encode()
        found[str(file.relative_to(folder))] = data
    return found


def _without_clock(value: Any) -> Any:
    if isinstance(value, dict):
        clock = ("timing", "wall_time_s", "time_s", "total_wall_time_s")
        return {key: _without_clock(one) for key, one in value.items() if key not in clock}
    return [_without_clock(one) for one in value] if isinstance(value, list) else value


def replays_without_a_call(trained: Callable[..., TrainResult], folder: Path) -> None:
    """A run that is complete, started again, asks nobody and leaves the same files."""
    before = timeless(trained(folder).folder)

    def dead(request: Request) -> str:
        raise AssertionError("everything is remembered")

    assert timeless(trained(folder, target=dead, optimiser=dead).folder) == before
