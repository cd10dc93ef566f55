"""Tasks whose answers rest on facts of a house that no model can know, and an optimiser that can only read.

Three of them: a private code for each subject, a convention of naming, private units. The target does what the playbook
says and nothing else. The optimiser uses what stands in its prompt and nothing else: it looks for pairs of a question
and what was expected, and writes down what they have in common.
"""

from __future__ import annotations

import csv
import json
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builders import FromFunction

from whet.config.load import validate
from whet.learn.reflact.config import ReflactConfig
from whet.models.base import Request
from whet.run.api import train
from whet.run.train import TrainResult

Facts = dict[str, str]
"""What is known by its key: a subject's code, a department's short name, a unit's factor."""

SUBJECTS = ("refund", "parcel", "invoice", "login", "warranty", "address", "coupon", "survey")
DEPARTMENTS = {"sales": "sx", "legal": "jur", "finance": "bk", "research": "lab", "garage": "kfz"}
UNITS = {"crates": 7, "pallets": 52, "sacks": 3, "drums": 11}


@dataclass(frozen=True, slots=True)
class FactTask:
    """One kind of task: rows of question and answer, and how a fact is said, read off a pair, and used."""

    name: str
    check: str
    row: Callable[[random.Random, int], tuple[str, str]]
    learnt: Callable[[str, str], tuple[str, str] | None]
    """Key and fact that a question and its right answer give away."""
    said: str
    """How a fact is written into a playbook, with {key} and {fact}."""
    answered: Callable[[str, Facts], str]

    def facts_in(self, text: str) -> Facts:
        pattern = re.escape(self.said).replace(r"\{key\}", r"(\w+)").replace(r"\{fact\}", r"(\w+)")
        return dict(re.findall(pattern, text))

    def write(self, folder: Path, rows: int = 120) -> Path:
        rng = random.Random(f"facts/{self.name}")
        file = folder / f"{self.name}.csv"
        with file.open("w", newline="") as handle:
            writer = csv.writer(handle)
            writer.writerow(["question", "answer"])
            writer.writerows(self.row(rng, number) for number in range(rows))
        return file


WORDS = [
    "amber",
    "birch",
    "cedar",
    "delta",
    "ember",
    "flint",
    "grove",
    "haven",
    "inlet",
    "jetty",
    "knoll",
    "lagoon",
    "meadow",
    "north",
    "orchard",
    "plain",
]


def _filler(rng: random.Random, number: int) -> str:
    return f"{number * 37 % 9973} {' '.join(rng.sample(WORDS, 6))}"


def _code_row(rng: random.Random, number: int) -> tuple[str, str]:
    subject = SUBJECTS[number % len(SUBJECTS)]
    return f"Message about {subject}: {_filler(rng, number)}", f"Q{SUBJECTS.index(subject) * 17 + 11}X"


def _name_row(rng: random.Random, number: int) -> tuple[str, str]:
    department = sorted(DEPARTMENTS)[number % len(DEPARTMENTS)]
    year, month = rng.randint(2001, 2029), rng.randint(1, 12)
    asked = f"File name for the {department} report of {year}-{month:02d} {_filler(rng, number)}"
    return asked, f"{DEPARTMENTS[department]}_{month:02d}{year}"


def _unit_row(rng: random.Random, number: int) -> tuple[str, str]:
    unit, count = sorted(UNITS)[number % len(UNITS)], rng.randint(2, 99)
    return f"How many pieces are {count} {unit}? Note {_filler(rng, number)}", str(count * UNITS[unit])


def _code_learnt(question: str, right: str) -> tuple[str, str] | None:
    found = re.search(r"about (\w+):", question)
    return (found[1], right) if found else None


def _name_learnt(question: str, right: str) -> tuple[str, str] | None:
    found = re.search(r"the (\w+) report of (\d+)-(\d+)", question)
    named = re.fullmatch(r"(\w+?)_(\d+)", right)
    return (found[1], named[1]) if found and named and named[2] == found[3] + found[2] else None


def _unit_learnt(question: str, right: str) -> tuple[str, str] | None:
    found = re.search(r"are (\d+) (\w+)\?", question)
    if not found or not right.isdigit() or int(right) % int(found[1]):
        return None
    return found[2], str(int(right) // int(found[1]))


def _code_answer(question: str, facts: Facts) -> str:
    known = _code_learnt(question, "")
    return facts.get(known[0] if known else "", "?")


def _name_answer(question: str, facts: Facts) -> str:
    found = re.search(r"the (\w+) report of (\d+)-(\d+)", question)
    return f"{facts[found[1]]}_{found[3]}{found[2]}" if found and found[1] in facts else "report.txt"


def _unit_answer(question: str, facts: Facts) -> str:
    found = re.search(r"are (\d+) (\w+)\?", question)
    return str(int(found[1]) * int(facts[found[2]])) if found and found[2] in facts else "0"


TASKS = (
    FactTask("codes", "exact", _code_row, _code_learnt, "Messages about {key} get the code {fact}.", _code_answer),
    FactTask("names", "exact", _name_row, _name_learnt, "Reports of {key} are named {fact}_MMYYYY.", _name_answer),
    FactTask("units", "number", _unit_row, _unit_learnt, "One of {key} holds {fact} pieces.", _unit_answer),
)


def target(task: FactTask) -> Callable[[Request], str]:
    """Does what its playbook says."""

    def answer(request: Request) -> str:
        told = "\n".join(message.text for message in request.messages[:-1])
        return task.answered(request.messages[-1].text, task.facts_in(told))

    return answer


def reader(task: FactTask) -> Callable[[Request], str]:
    """An optimiser that writes down what it is shown, and knows nothing else."""

    def answer(request: Request) -> str:
        instructions, shown = request.messages[0].text, request.messages[1].text
        if instructions.startswith("You merge"):
            lines = dict.fromkeys(
                line
                for content in re.findall(r'"content": "((?:[^"\\]|\\.)*)"', shown)
                for line in content.split("\\n")
            )
            return json.dumps({"reasoning": "", "edits": [_append("\n".join(line for line in lines if line))]})
        if instructions.startswith("You choose which"):
            return json.dumps({"selected_indices": [0, 1, 2, 3]})
        known = task.facts_in(_section(shown, "playbook"))
        found: Facts = {}
        for attempt in shown.split("\n### ")[1:]:
            expected = re.search(r"(?m)^Expected: (.+)$", attempt)
            learnt = task.learnt(attempt, expected[1]) if expected else None
            if learnt and learnt[0] not in known:
                found[learnt[0]] = learnt[1]
        lines = [task.said.format(key=key, fact=fact) for key, fact in sorted(found.items())]
        edits = [_append("\n".join(lines))] if lines else []
        return json.dumps({"batch_size": 8, "failure_summary": [], "patch": {"reasoning": "", "edits": edits}})

    return answer


def _append(content: str) -> Mapping[str, str]:
    return {"op": "append", "content": content}


def _section(text: str, name: str) -> str:
    found = re.search(rf"(?s)<{name}>\n(.*?)\n</{name}>", text)
    return found[1] if found else ""


def learnt(task: FactTask, folder: Path, **sections: Any) -> TrainResult:
    """A whole run at the defaults, `sections` over them."""
    data = {
        "env": {"name": f"data:{task.write(folder)}", "args": {"check": task.check}},
        "target": {"model": "test:function"},
        "optimizer": {"model": "test:function"},
        **sections,
    }
    proposer = FromFunction(reader(task))
    proposer.fingerprint = "reader-1"
    return train(
        validate(ReflactConfig, data, "test"),
        model=FromFunction(target(task)),
        optimizer=proposer,
        runs=folder,
        name="run",
    )
