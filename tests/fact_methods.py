"""The fact tasks for every learner that reads: one optimiser that uses what stands in its prompt and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from builders import FromFunction
from fact_tasks import Facts, FactTask, reader, target

from whet.config.load import validate
from whet.learn.learner import learner_named
from whet.models.base import Request
from whet.run.api import train
from whet.run.train import TrainResult

Answer = Callable[[Request], str]


def any_reader(task: FactTask) -> Answer:
    """The reader of `fact_tasks`, for the prompts of GEPA and of ACE too."""
    plain = reader(task)

    def answer(request: Request) -> str:
        asked, shown = request.messages[0].text, request.messages[-1].text
        if asked.startswith("I provided an assistant"):
            text = shown.split("```", 2)[1].strip("\n")
            lines = [*filter(None, text.split("\n")), *_lines(task, shown, "# Example ", task.facts_in(text))]
            return "```\n" + "\n".join(lines) + "\n```"
        if asked.startswith("You reflect"):
            known = task.facts_in(shown.partition("<attempts>")[0])
            found = _lines(task, shown, "### ", known)
            return json.dumps({"insights": [{"key_insight": line} for line in found], "bullet_tags": []})
        if asked.startswith("You curate"):
            told = dict.fromkeys(re.findall(r'"key_insight": "([^"]+)"', shown))
            return json.dumps({"operations": [{"type": "ADD", "section": "Facts", "content": line} for line in told]})
        return plain(request)

    return answer


def _lines(task: FactTask, shown: str, mark: str, known: Facts) -> list[str]:
    """What the attempts give away that is not known yet, as sentences."""
    found: Facts = {}
    for attempt in shown.split(f"\n{mark}")[1:]:
        expected = re.search(r"(?m)^Expected: (.+)$", attempt)
        learnt = task.learnt(attempt, expected[1]) if expected else None
        if learnt and learnt[0] not in known:
            found[learnt[0]] = learnt[1]
    return [task.said.format(key=key, fact=fact) for key, fact in sorted(found.items())]


def learnt_by(learner: str, task: FactTask, folder: Path, **sections: Any) -> TrainResult:
    """A whole run of a learner at its defaults, `sections` over them."""
    data = {
        "learner": learner,
        "env": {"name": f"data:{task.write(folder)}", "args": {"check": task.check}},
        "target": {"model": "test:function"},
        "optimizer": {"model": "test:function"},
        **sections,
    }
    proposer = FromFunction(any_reader(task))
    proposer.fingerprint = "any-reader-1"
    settings = validate(learner_named(learner).config, data, "test")
    return train(settings, model=FromFunction(target(task)), optimizer=proposer, runs=folder, name="run")
