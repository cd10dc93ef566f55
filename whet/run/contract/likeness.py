"""Near-duplicates in an environment: how many clusters its tasks form, and what select and test share with train."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from whet.envs.base import Environment
from whet.envs.near import NearIndex, Resemblance
from whet.types import SPLITS, Split

MOST_TASKS = 1000
"""Tasks of a split that are looked at."""

MOST_SECONDS = 10.0
"""Building tasks for this long is enough; at least `LEAST_TASKS` of each split are built."""

LEAST_TASKS = 40


@dataclass(frozen=True, slots=True)
class Likeness:
    """What the prompts of an environment have in common."""

    tasks: int
    clusters: int
    largest: int
    across: Mapping[Split, Resemblance]
    """By split: how many of its tasks have a near-duplicate in train."""
    example: tuple[str, str] | None

    def words(self) -> str:
        shares = [
            f"{100 * found.share:.0f} % of {split} ({found.count} of {found.of}) near one in train"
            for split, found in self.across.items()
        ]
        return f"{self.tasks} tasks in {self.clusters} clusters, the largest of {self.largest}; {', '.join(shares)}"

    def detail(self) -> str:
        if self.example is None:
            return ""
        train, other = (" ".join(text.split())[-160:] for text in self.example)
        return f"for example {train!r} in train and {other!r}"


def likeness_of(env: Environment) -> Likeness:
    """Look at the first tasks of every split."""
    ends = time.monotonic() + MOST_SECONDS
    texts: list[str] = []
    places: dict[Split, list[int]] = {}
    filled = [split for split in SPLITS if env.size(split) != 0]
    for position, split in enumerate(filled):
        size = env.size(split)
        until = ends - MOST_SECONDS * (len(filled) - 1 - position) / len(filled)
        places[split] = []
        for index in range(min(MOST_TASKS, MOST_TASKS if size is None else size)):
            if index >= LEAST_TASKS and time.monotonic() > until:
                break
            places[split].append(len(texts))
            texts.append("\n".join(message.text for message in env.task(split, index).messages))
    index_of = NearIndex(texts)
    clusters = index_of.clusters()
    train = places.get("train", [])
    across: dict[Split, Resemblance] = {
        split: index_of.resemblance(places[split], train) for split in filled if split != "train" and train
    }
    pair = next((found.first for found in across.values() if found.first), None)
    example = None if pair is None else (texts[pair[1]], texts[pair[0]])
    return Likeness(len(texts), len(clusters), max(map(len, clusters)), across, example)
