"""The committed hashes of the bench: a generator that makes other tasks makes another bench, and is seen to.

A hash covers the task, its page and truths among it, and what stands in its unseen pages before the filler. To commit
the bench anew: `python -c "from whet.envs.soup import manifest; manifest.write()"`.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import orjson

from whet.envs.soup.archetypes import kinds
from whet.envs.soup.draw import draw
from whet.envs.soup.environment import SEED, Soup
from whet.keys import task_digest

BENCH = Path(__file__).with_name("bench.json")
DIGITS = 12
"""Of each hash: enough to see a change, and some 900 of them are 14 kB."""


def hashes(first: int | None = None) -> dict[str, list[str]]:
    """The hashes of the bench's first tasks, or of all, by archetype."""
    env = Soup()
    found: dict[str, list[str]] = {}
    for index in range(first if first is not None else env.size("test") or 0):
        task = env.task("test", index)
        known = found.setdefault(task.label.kind, [])
        drawn = draw(kinds()[task.label.kind], "test", len(known), SEED)
        unseen = [repr(drawn.draft(number)) for number in range(1, len(drawn.pages))]
        whole = orjson.dumps([task_digest(task), drawn.truths, unseen])
        known.append(hashlib.sha256(whole).hexdigest()[:DIGITS])
    return found


def committed() -> dict[str, list[str]]:
    known: dict[str, list[str]] = orjson.loads(BENCH.read_bytes())
    return known


def changed(first: int | None = None) -> list[str]:
    """The bench's first tasks, or all, that are not as committed: archetype and ordinal."""
    known = committed()
    return [
        f"{kind} {ordinal}"
        for kind, made in hashes(first).items()
        for ordinal, digest in enumerate(made)
        if digest not in known.get(kind, [])[ordinal : ordinal + 1]
    ]


def write() -> None:
    """Commits the bench as it is made now."""
    lines = [f"{orjson.dumps(kind).decode()}: {orjson.dumps(made).decode()}" for kind, made in hashes().items()]
    BENCH.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
