"""A small world for rule search: crates that pass or fail, two habits that stand nowhere, a rule that is too strict, a
target that follows the rules it is told, and an optimiser that knows good rules, useless ones and one that harms."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from learn_world import laid_over, trained_by
from reflact_world import timeless

from whet.config.load import validate
from whet.envs.base import Baseline, Environment, Messages, Play, ask
from whet.keys import seed_for
from whet.learn.rules.config import RulesConfig
from whet.models.base import Request
from whet.run.train import TrainResult
from whet.types import Label, Playbook, Rollout, Rule, Score, Split, Task, user

COLOURS, SITES, SEALS = ("red", "blue", "green", "grey"), ("north", "south"), ("whole", "whole", "whole", "broken")
FRAGILE = ("fragile", "plain")

CHECKLIST = "A broken seal fails; all else passes."
RED = "A red crate from the north fails."
GREY = "A grey crate that is fragile fails."
STRICT = "A blue crate fails."
NULLS = ("Read the crate twice.", "Be fair to every crate.", "Think of the whole crate.")
HARM = "A crate from the south passes, whatever its seal."
GOOD = (RED, GREY)

BLUE = {"verdict": "fail", "colour": "blue"}
"""The predicate of the strict rule, in the language of spoken crates."""


def shown(index: int, split: str) -> dict[str, str]:
    rng = random.Random(seed_for("crates", split, index))
    return {
        "colour": rng.choice(COLOURS),
        "site": rng.choice(SITES),
        "seal": rng.choice(SEALS),
        "load": rng.choice(FRAGILE),
    }


def judged(crate: Mapping[str, str], rules: Sequence[str]) -> str:
    """What a list of rules says of a crate; later ones go over earlier ones."""
    call = "fail" if crate["seal"] == "broken" else "pass"
    if RED in rules and (crate["colour"], crate["site"]) == ("red", "north"):
        call = "fail"
    if GREY in rules and (crate["colour"], crate["load"]) == ("grey", "fragile"):
        call = "fail"
    if STRICT in rules and crate["colour"] == "blue":
        call = "fail"
    if HARM in rules and crate["site"] == "south":
        call = "pass"
    return call


class Crates(Environment):
    """Pass or fail a crate."""

    name = "crates"
    fingerprint = "crates-1"
    chooses = True
    tie = "fail"

    def __init__(self, train: int = 60, select: int = 100, test: int = 60, missions: int = 1) -> None:
        self._sizes = {"train": train, "select": select, "test": test}
        self._missions = missions

    def size(self, split: Split) -> int | None:
        return self._sizes[split]

    def label(self, split: Split, index: int) -> Label:
        return Label("crate")

    def task(self, split: Split, index: int) -> Task:
        crate = shown(index, split)
        text = (
            f"Crate {split}{index}-K: " + ", ".join(f"{name} {value}" for name, value in crate.items()) + ". Verdict?"
        )
        data = {"mission": f"yard {index % self._missions}", **crate}
        return Task(split, index, Label("crate"), (user(text),), judged(crate, GOOD), data)

    def play(self, task: Task) -> Play:
        reply = yield from ask(task.messages)
        call = self._call(reply.text)
        right = call == task.truth
        released, blocked = call == "pass" and not right, call == "fail" and not right
        parts = {
            "false_release": float(released),
            "false_block": float(blocked),
            "invalid": float(call is None),
            "failing": float(task.truth == "fail"),
            "passing": float(task.truth == "pass"),
        }
        reason = "correct" if right else "false_release" if released else "false_block" if blocked else "invalid"
        return Score(int(right), float(right), float(right), parts, reason)

    def verdict(self, task: Task, rollout: Rollout) -> str | None:
        return self._call(rollout.turns[-1].reply.text)

    def right(self, task: Task) -> str:
        return str(task.truth)

    def rule_book(self, task: Task) -> Sequence[Rule]:
        return (Rule("S1", "Judge one crate at a time."), Rule("G0", CHECKLIST), Rule("G1", STRICT))

    def baselines(self) -> dict[str, Baseline]:
        def oracle(task: Task, said: Messages) -> str:
            return str(task.truth)

        return {"oracle": oracle}

    @staticmethod
    def _call(text: str) -> str | None:
        return text if text in ("pass", "fail") else None


class CrateLanguage:
    """A predicate names a verdict and what a crate must look like for it."""

    def says(self, predicate: Mapping[str, Any], task: Task) -> str | None:
        fits = all(task.data[name] == value for name, value in predicate.items() if name != "verdict")
        return str(predicate["verdict"]) if fits else None

    def unruled(self, task: Task) -> str:
        return "fail" if task.data["seal"] == "broken" else "pass"


class SpokenCrates(Crates):
    """Crates whose rules run."""

    def rule_language(self, task: Task) -> Any:
        return CrateLanguage()


def target(request: Request) -> str:
    """Follows the rules in its prompt, and errs in 4 of 100 draws."""
    text = request.messages[-1].text
    asked = text[text.rindex("Crate ") :]
    crate = dict(re.findall(r"(colour|site|seal|load) (\w+)", asked))
    told = [rule for rule in (*GOOD, STRICT, HARM) if rule in text]
    call = judged(crate, told)
    luck = random.Random(seed_for("crate target", asked, request.sampling.seed or 0)).random()
    return {"pass": "fail", "fail": "pass"}[call] if luck < 0.04 else call


def proposing(*operations: Any) -> Callable[[Request], str]:
    """An optimiser that always proposes the same."""

    def answer(request: Request) -> str:
        return json.dumps({"operations": list(operations)})

    return answer


def upsert(text: str, **more: Any) -> dict[str, Any]:
    return {"op": "upsert", "text": text, "reason": "seen in the cases", **more}


def optimiser(request: Request) -> str:
    """One good rule that the book lacks, a useless one, and now and then one that harms."""
    instructions, told = request.messages
    assert instructions.text.startswith("You keep the rule book")
    rng = random.Random(seed_for("crate optimiser", str(request.sampling.seed)))
    book = re.search(r"(?s)<the book>\n(.*?)\n</the book>", told.text)
    assert book is not None
    missing = [rule for rule in GOOD if rule not in book[1]]
    return json.dumps({"operations": [upsert(rule) for rule in (*missing[:1], rng.choice(NULLS), HARM)]})


def config(**sections: Any) -> RulesConfig:
    base: dict[str, Any] = {
        "env": {"name": "crates"},
        "target": {"model": "test:function"},
        "optimizer": {"model": "test:function"},
        "train": {"steps": 6, "patience": 2},
    }
    return validate(RulesConfig, laid_over(base, sections), "test")


def searched(
    folder: Path,
    settings: RulesConfig | None = None,
    *,
    optimiser: Callable[[Request], Any] = optimiser,
    target: Callable[[Request], Any] = target,
    env: Environment | None = None,
    playbook: Playbook | None = None,
    **options: Any,
) -> TrainResult:
    """A whole run; it lies in `folder / yard 0 / run`."""
    models = (target, optimiser)
    return trained_by(
        settings or config(), env or Crates(), models, "crate-optimiser-1", (folder, "run"), playbook, **options
    )


def without_moments(folder: Path) -> dict[str, bytes]:
    """Every readable file of a run by name, without what a clock says."""
    said = rb'"(timestamp|updated_at)":\s*"[^"]*"'
    return {name: re.sub(said, b"", data) for name, data in timeless(folder).items()}
