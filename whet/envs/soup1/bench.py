"""The benchmark: 20 tasks of each archetype beyond the primer, dealt so that every prefix is balanced.

The manifest with the hash of each is committed: a generator that makes other tasks makes another benchmark.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import orjson

from whet.envs.soup1.archetype import Archetype
from whet.envs.soup1.deck import Deck
from whet.keys import task_digest
from whet.types import Task

EACH = 20
MANIFEST = Path(__file__).with_name("bench.json")
VERSION = 1


def deal(every: Mapping[str, Archetype]) -> Iterator[tuple[Archetype, int]]:
    """Archetype and ordinal of every task, in order."""
    members = [archetype for archetype in every.values() if archetype.difficulty != "primer"]
    deck = Deck([(Fraction(1), members)])
    return (deck.at(index) for index in range(EACH * len(members)))


def manifest(tasks: Sequence[Task]) -> dict[str, Any]:
    """What is committed: for each task its archetype and the hash of its content."""
    entries = [[task.label.kind, task_digest(task)] for task in tasks]
    return {"version": VERSION, "tasks": len(entries), "each": EACH, "entries": entries}


def committed() -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(MANIFEST.read_bytes())
    return found


def write(tasks: Sequence[Task]) -> None:
    """Commit these tasks as the benchmark."""
    made = manifest(tasks)
    lines = ",\n".join(orjson.dumps(entry).decode() for entry in made.pop("entries"))
    head = orjson.dumps(made).decode().removesuffix("}")
    MANIFEST.write_text(f'{head},"entries":[\n{lines}\n]}}\n', "utf-8")


def changed(tasks: Sequence[Task]) -> list[str]:
    """The tasks that are not what the manifest says, by id."""
    entries = committed()["entries"]
    ours = manifest(tasks)["entries"]
    if len(entries) != len(ours):
        return [f"{len(ours)} tasks, and {len(entries)} in the manifest"]
    return [task.id for task, entry, own in zip(tasks, entries, ours, strict=True) if entry != own]
