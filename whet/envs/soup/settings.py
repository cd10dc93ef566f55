"""The arguments of `soup`: what is dealt, what is graded, how large splits are, what an attempt may use."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, get_type_hints

from whet.envs.arguments import Argument, accept
from whet.envs.soup.archetype import Difficulty, TaskKind
from whet.envs.soup.desk import Address
from whet.envs.soup.prompt import Rung
from whet.envs.soup.score import SoupRewards
from whet.envs.soup.stages import stage_at
from whet.errors import WhetError, nearest

Level = Literal["mixed", "primer", "easy", "medium", "hard"]


@dataclass(frozen=True, slots=True)
class SoupSettings:
    """Everything that an environment is built from."""

    rung: Rung = "extractor"
    difficulty: Level = "mixed"
    archetypes: tuple[str, ...] = ()
    address: Address | Literal["mixed"] = "mixed"
    limits: bool = True
    schedule: str = ""
    stage: int = 1
    seed: int = 42
    train: int | None = None
    eval: int = 500
    epoch: int = 12_000
    turns: int = 10
    output: int = 10_000
    timeout: float = 30.0
    rewards: SoupRewards = SoupRewards()


ARGUMENTS = (
    Argument("rung", Rung, "extractor", "what is graded: extractor (a program on unseen pages) or answer (one page)"),
    Argument("difficulty", Level, "mixed", "only archetypes of this difficulty; mixed: all but the primer"),
    Argument("archetypes", list[str], [], "only these, as in ['record.order_amount']"),
    Argument(
        "address",
        Literal["mixed", "given", "described", "meaning"],
        "mixed",
        "how questions say where to look: by class, by words of the page, by meaning",
    ),
    Argument("limits", bool, True, "whether one task in eight cannot be answered"),
    Argument("schedule", str, "", "a curriculum by name; with stage, it sets rung and difficulty"),
    Argument("stage", int, 1, "the stage of the schedule, from 1"),
    Argument("seed", int, 42, "another seed deals other train and eval tasks; the bench stays"),
    Argument("train", int | None, None, "how many train tasks there are; none: without end"),
    Argument("epoch", int, 12_000, "how many train tasks make an epoch"),
    Argument("eval", int, 500, "how many eval tasks there are"),
    Argument("turns", int, 10, "replies that an attempt may take, the last one included"),
    Argument("timeout", float, 30.0, "seconds that a program, or a submission on all its pages, may run"),
    Argument("output", int, 10_000, "characters of a program's output that are shown"),
    Argument("rewards", dict, None, "what things are worth, as in rewards.limit=0.5"),
)

_POSITIVE = ("epoch", "eval", "turns", "timeout", "output", "train")


def settings(args: Mapping[str, Any]) -> SoupSettings:
    """The settings that the arguments say; every mistake is one `WhetError`."""
    given = accept("soup", ARGUMENTS, args)
    if given.get("schedule"):
        staged = stage_at(given["schedule"], given.get("stage", 1)).args
        if clash := sorted(staged.keys() & given.keys()):
            raise WhetError(f"soup: the schedule sets {clash[0]!r}; leave one of the two out")
        given |= staged
    elif "stage" in given:
        raise WhetError("soup: 'stage' belongs to a schedule: give schedule='bootstrap' too")
    for name in _POSITIVE:
        if given.get(name) is not None and not given[name] > 0:
            raise WhetError(f"soup: {name!r} must be more than 0, not {given[name]!r}")
    given["archetypes"] = tuple(given.get("archetypes", ()))
    given["rewards"] = _rewards(given.get("rewards") or {})
    return dataclasses.replace(SoupSettings(), **given)


def _rewards(table: Mapping[str, Any]) -> SoupRewards:
    hints = get_type_hints(SoupRewards)
    known = [Argument(part.name, hints[part.name], part.default) for part in fields(SoupRewards)]
    rewards = SoupRewards(**accept("soup rewards", known, table))
    if rewards.correct <= 0 or rewards.limit <= 0 or rewards.calls < 1:
        raise WhetError("soup: rewards.correct, rewards.limit and rewards.calls must be more than 0")
    return rewards


def chosen(every: Mapping[str, TaskKind], wanted: SoupSettings) -> tuple[TaskKind, ...]:
    """The archetypes that these settings deal; a `WhetError` where there are none."""
    for name in wanted.archetypes:
        if name not in every:
            raise WhetError(f"soup has no archetype {name!r}.{nearest(name, every)}")
    levels = ("easy", "medium", "hard") if wanted.difficulty == "mixed" else (wanted.difficulty,)
    names = wanted.archetypes
    found = [made for made in every.values() if (made.name in names if names else made.difficulty in levels)]
    if names and wanted.difficulty != "mixed":
        found = [made for made in found if made.difficulty == wanted.difficulty]
    if not found:
        raise WhetError(f"soup: no archetype named is of difficulty {wanted.difficulty!r}")
    return spread(found)


def spread(members: Sequence[TaskKind]) -> tuple[TaskKind, ...]:
    """The archetypes in an order in which difficulties are mixed evenly from the first to the last."""
    order: tuple[Difficulty, ...] = ("primer", "easy", "medium", "hard")
    ranked = []
    for level in order:
        group = [made for made in members if made.difficulty == level]
        ranked += [((place + 0.5) / len(group), order.index(level), made) for place, made in enumerate(group)]
    return tuple(made for _, _, made in sorted(ranked, key=lambda entry: entry[:2]))
