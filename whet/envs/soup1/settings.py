"""The arguments of `soup@1`: what is dealt, how large splits are, what an attempt may use, what everything is worth."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, get_type_hints

from whet.envs.arguments import Argument, accept
from whet.envs.soup1.deck import ArchetypeChoice, Level, Mode, checked_weights
from whet.envs.soup1.schedules import stage_args
from whet.envs.soup1.score import FirstSoupRewards
from whet.errors import WhetError


@dataclass(frozen=True, slots=True)
class FirstSoupSettings:
    """Everything that an environment is built from."""

    choice: ArchetypeChoice = ArchetypeChoice()
    rewards: FirstSoupRewards = FirstSoupRewards()
    seed: int = 42
    train: int | None = None
    epoch: int = 12_000
    eval: int = 500
    turns: int = 10
    timeout: float = 30.0
    output: int = 10_000


ARGUMENTS = (
    Argument("mode", Mode, "all", "which archetypes: all, mvp (phase 1), phase2, tiered, bootstrap, hard_only"),
    Argument("difficulty", Level, "mixed", "only archetypes of this difficulty"),
    Argument("archetypes", list[str], [], "only these, as in ['core.extract_links']"),
    Argument("weights", dict, None, "share of each difficulty in train and eval, as in weights.hard=0.6"),
    Argument("schedule", str, "", "a curriculum by name; with stage, it sets mode and difficulty"),
    Argument("stage", int, 1, "the stage of the schedule, from 1"),
    Argument("seed", int, 42, "another seed deals other train and eval tasks; the bench stays"),
    Argument("train", int | None, None, "how many train tasks there are; none: without end"),
    Argument("epoch", int, 12_000, "how many train tasks make an epoch"),
    Argument("eval", int, 500, "how many eval tasks there are"),
    Argument("turns", int, 10, "replies that an attempt may take, the final one included"),
    Argument("timeout", float, 30.0, "seconds that a program may run"),
    Argument("output", int, 10_000, "characters of a program's output that are shown"),
    Argument("process", bool | None, None, "credit for the way of a wrong answer; default: in mode bootstrap alone"),
    Argument("rewards", dict, None, "what things are worth, as in rewards.limit=1.0"),
)

_POSITIVE = ("epoch", "eval", "turns", "timeout", "output")


def settings(args: Mapping[str, Any]) -> FirstSoupSettings:
    """The settings that the arguments say; every mistake is one `WhetError`."""
    given = accept("soup@1", ARGUMENTS, args)
    if "schedule" in given:
        staged = stage_args(given.pop("schedule"), given.pop("stage", 1))
        if clash := sorted(staged.keys() & given.keys()):
            raise WhetError(f"soup@1: the schedule sets {clash[0]!r}; leave one of the two out")
        given |= staged
    elif "stage" in given:
        raise WhetError("soup@1: 'stage' belongs to a schedule: give schedule='bootstrap' too")
    for name in _POSITIVE:
        if name in given and not given[name] > 0:
            raise WhetError(f"soup@1: {name!r} must be more than 0, not {given[name]!r}")
    if given.get("train") is not None and given["train"] < 1:
        raise WhetError(f"soup@1: 'train' must be more than 0, not {given['train']!r}")
    choice = ArchetypeChoice(
        given.pop("mode", "all"),
        given.pop("difficulty", "mixed"),
        tuple(given.pop("archetypes", ())),
        checked_weights(given["weights"]) if given.get("weights") is not None else None,
    )
    given.pop("weights", None)
    rewards = _rewards(given.pop("rewards", None) or {}, given.pop("process", None), choice.mode)
    return dataclasses.replace(FirstSoupSettings(), choice=choice, rewards=rewards, **given)


def _rewards(table: Mapping[str, Any], process: bool | None, mode: Mode) -> FirstSoupRewards:
    hints = get_type_hints(FirstSoupRewards)
    known = [
        Argument(component.name, hints[component.name], component.default)
        for component in fields(FirstSoupRewards)
        if component.name != "process"
    ]
    values = accept("soup@1 rewards", known, table)
    rewards = FirstSoupRewards(**values, process=mode == "bootstrap" if process is None else process)
    if rewards.correct <= 0 or rewards.limit <= 0 or rewards.calls < 1:
        raise WhetError("soup@1: rewards.correct, rewards.limit and rewards.calls must be more than 0")
    return rewards
