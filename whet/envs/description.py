"""What there is to know about an environment before a model is let at it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whet.envs.arguments import Argument
from whet.envs.base import stratify
from whet.envs.registry import arguments_at, load_environment
from whet.envs.trivial import trivial_baselines
from whet.types import SPLITS, Label, Split, Task

LOOKED_AT = 200
"""How many labels are looked at to tell which kinds there are."""


@dataclass(frozen=True, slots=True)
class Description:
    """One environment: what it takes, what is in it, and a task as an example."""

    address: str
    about: str
    fingerprint: str
    arguments: Sequence[Argument]
    sizes: Mapping[Split, int | None]
    labels: Sequence[Label]
    baselines: Sequence[str]
    example: Task
    standing: str = ""


def describe(address: str, args: Mapping[str, Any] | None = None) -> Description:
    """Load the environment at `address` and look at it."""
    env = load_environment(address, args)
    sizes = {split: env.size(split) for split in SPLITS}
    first: Split = next((split for split in SPLITS if sizes[split] != 0), "train")
    count = min(LOOKED_AT, sizes[first] or LOOKED_AT)
    strata = stratify((index, env.label(first, index)) for index in range(count))
    return Description(
        address,
        env.about,
        env.fingerprint,
        arguments_at(address),
        sizes,
        [Label(kind, difficulty) for kind, difficulty in sorted(strata)],
        list({**trivial_baselines(env), **env.baselines()}),
        env.task(first, 0),
        env.standing(),
    )


def sample(address: str, split: Split, n: int, args: Mapping[str, Any] | None = None) -> list[Task]:
    """The first `n` tasks of a split, or as many as it has."""
    env = load_environment(address, args)
    size = env.size(split)
    return [env.task(split, index) for index in range(n if size is None else min(n, size))]
