"""Each system once with a small real model as target: sums of two digits, and a pool of sentences of unknown effect.

The server is the same; behind it stands Whet's embedded model, asked greedily, so equal requests have equal answers and
are computed once for all systems. What an exported skill is worth is measured on held-out sums.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from rows import Row

from reflact_peers.server import said
from reflact_peers.systems import PINS, SYSTEMS, run
from reflact_peers.world import Task, World, load_world
from whet.models.base import Model, Request
from whet.models.load import load_model
from whet.models.options import ModelOptions
from whet.types import Sampling, system, user

Json = dict[str, Any]

SAMPLING = Sampling(temperature=0.0, max_tokens=12)
SIZES = {"train": 18, "select": 18, "test": 28}


class Sums(World):
    """The 64 sums of two digits from 2 to 9, cut into splits by a seed."""

    check = "number"
    asked = re.compile(r"\b(?P<name>[2-9] \+ [2-9] =)")

    def tasks(self, seed: int) -> dict[str, list[Task]]:
        sums = [(first, second) for first in range(2, 10) for second in range(2, 10)]
        Random(f"sums/{seed}").shuffle(sums)
        made: dict[str, list[Task]] = {}
        for split, size in SIZES.items():
            some, sums = sums[:size], sums[size:]
            made[split] = [self._task(split, number, pair) for number, pair in enumerate(some)]
        return made

    def _task(self, split: str, number: int, pair: tuple[int, int]) -> Task:
        question = self.kinds["sums"].question.format(first=pair[0], second=pair[1])
        return Task(f"sums-{split}-{number:03d}", "sums", question, str(sum(pair)), 0.0)


@dataclass
class Embedded:
    """The embedded model as a plain function, with a memory of what it said."""

    model: Model
    loop: asyncio.AbstractEventLoop
    known: dict[tuple[str, str], str] = field(default_factory=dict)

    def say(self, told: str, asked: str) -> str:
        if (told, asked) not in self.known:
            request = Request((system(told), user(asked)), SAMPLING)
            reply = asyncio.run_coroutine_threadsafe(self.model.complete(request), self.loop).result()
            self.known[told, asked] = reply.text
        return self.known[told, asked]

    def answer(self, task: Task, messages: list[Json], _: Json) -> str:
        return self.say(said(messages, "system"), task.question)

    def score(self, skill: str, tasks: list[Task]) -> float:
        return sum(last_number(self.say(skill, task.question)) == task.answer for task in tasks) / len(tasks)


def last_number(text: str) -> str:
    found: list[str] = re.findall(r"\d+", text)
    return found[-1] if found else ""


@contextmanager
def embedded() -> Iterator[Embedded]:
    """The model in a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    model = load_model("embedded:smollm2", ModelOptions())
    try:
        yield Embedded(model, loop)
    finally:
        asyncio.run_coroutine_threadsafe(model.close(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)


def tried_on_real_model(quick: bool) -> Iterator[Row]:
    """A row for each peer: held-out score of Whet's skill beside its own."""
    budget = 60 if quick else 240
    loaded = load_world(Path(__file__).with_name("real.toml"))
    world = Sums(loaded.start, loaded.kinds, loaded.edits)
    with embedded() as model:
        test = world.tasks(0)["test"]
        before = model.score(world.start, test)
        found = {one: run(one, world, 0, budget, batch=9, answer=model.answer) for one in SYSTEMS}
        scores = {one: model.score(outcome.text, test) for one, outcome in found.items()}
    yield Row("real_model_start", before, "solved", condition=f"SmolLM2-135M, {len(test)} held-out sums, greedy")
    for peer, pin in PINS.items():
        ours, theirs = scores["whet"], scores[peer]
        calls = f"{found['whet'].target_calls} and {found[peer].target_calls} target calls"
        sizes = f"{found['whet'].bytes} and {found[peer].bytes} bytes, one seed"
        yield Row(
            name=f"real_model/{peer}",
            value=ours,
            unit="solved",
            bar=theirs,
            holds=ours >= theirs,
            peer=pin.replace("==", " "),
            peer_value=theirs,
            ratio=ours / theirs if theirs else 0.0,
            condition=f"{calls}, {sizes}",
        )
