"""Demonstrations act on nothing that was not shown, quote what is asked for, and end in the repair."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import pytest
from envs.ordebug.puzzles import driven, made

from whet.envs.ordebug.demonstrations import acted_on, demonstration
from whet.envs.ordebug.instance import Instance
from whet.envs.ordebug.ladder import MISSING
from whet.envs.ordebug.play import OrDebugSettings
from whet.envs.ordebug.protocol import say

NAMES = (
    "tiny_near_A",
    "tiny_near_B",
    "tiny_near_C",
    "tiny_near_D",
    "small_far_A",
    "small_far_D",
    "small_near_mixed",
    "tiny_near_missing",
)
INSTANCES: list[Instance] = []


def instances() -> list[Instance]:
    if not INSTANCES:
        INSTANCES.extend(made(name, index) for name in NAMES for index in range(2 if name.startswith("tiny") else 1))
    return INSTANCES


def words(text: str) -> set[str]:
    return set(re.findall(r"[xr]\d+", text))


def told(one: Instance, settings: OrDebugSettings, seed: int) -> Iterator[tuple[object, set[str], set[str]]]:
    """Each action with the names in the prompt and in the answers before it; the whole must end in the repair."""
    steps = demonstration(one, settings, seed)
    heard: list[tuple[object, set[str], set[str]]] = []
    rest = iter(steps)

    def answer(said, asked):  # type: ignore[no-untyped-def]
        step = next(rest)
        answers = "\n".join(message.text for message in said[1:] if message.author == "user")
        heard.append((step.action, words(said[0].text), words(answers)))
        return say(step.action, settings.protocol, step.thought)

    played = driven(one, answer, settings)
    assert played.score.hard == 1, played.score.reason
    yield from heard


@pytest.mark.parametrize("reveal", ["full", "query"])
@pytest.mark.parametrize("spec", ["prose", "table"])
def test_every_element_acted_on_was_shown_by_an_answer_before(reveal: str, spec: str) -> None:
    settings = OrDebugSettings(reveal=reveal, spec=spec)  # type: ignore[arg-type]
    for place, one in enumerate(instances()):
        for action, prompt, answers in told(one, settings, place):
            names = acted_on(action)  # type: ignore[arg-type]
            rows = {name for name in names if name.startswith("r")}
            listed = prompt if one.kind == MISSING else set[str]()  # nothing contradicts, so all of it is read
            assert rows <= answers | listed
            assert names - rows <= answers | prompt


def test_a_column_whose_bounds_are_changed_was_shown_by_an_answer() -> None:
    for one in instances():
        if one.kind == "B":
            for action, _, answers in told(one, OrDebugSettings(), 1):
                if getattr(action, "edit", None) is not None:
                    assert acted_on(action) <= answers  # type: ignore[arg-type]


@pytest.mark.parametrize("spec", ["prose", "table"])
def test_the_thought_before_an_edit_quotes_the_specification(spec: str) -> None:
    settings = OrDebugSettings(spec=spec)  # type: ignore[arg-type]
    for place, one in enumerate(instances()):
        text = one.specification(spec).text  # type: ignore[arg-type]
        said = "\n".join(step.thought for step in demonstration(one, settings, place))
        quoted = re.findall(r'"([^"]+)"', said)
        assert all(passage in text for passage in quoted)
        if all(fault.form != "foreign_row" for fault in one.faults) and "B" not in {f.kind for f in one.faults}:
            assert quoted


def test_some_demonstrations_take_a_wrong_edit_back() -> None:
    names = [
        [step.action.name for step in demonstration(one, OrDebugSettings(), seed)]
        for one in instances()
        for seed in range(3)
    ]
    undone = sum("undo" in steps for steps in names)
    assert 0 < undone < len(names) / 2


def test_a_slip_is_marked_and_what_follows_takes_it_back() -> None:
    """Wrong steps are there to be answered to, so they are not learnt; every right one is."""
    slips = 0
    for one in instances():
        for seed in range(6):
            steps = demonstration(one, OrDebugSettings(max_steps=20), seed)
            for step, after in pairwise(steps):
                assert step.slip == (after.action.name == "undo")
                slips += step.slip
            assert not steps[-1].slip
    assert slips > 10


def test_after_a_slip_that_leaves_a_contradiction_it_is_said_that_it_did_not_help() -> None:
    said = [
        (step.thought, after.thought)
        for one in instances()
        for seed in range(6)
        for step, after in pairwise(demonstration(one, OrDebugSettings(max_steps=20), seed))
        if step.slip and "Not the same" in step.thought
    ]
    assert any("infeasible" in after or "did not help" in after for _, after in said)
    for wrong, after in said:
        quoted = re.findall(r'"([^"]+)"', wrong)
        assert quoted
        assert all(f'"{passage}"' in after for passage in quoted)


def test_a_demonstration_keeps_the_step_limit_without_detours() -> None:
    for one in instances():
        assert len(demonstration(one, OrDebugSettings(max_steps=8), 3)) <= 8 or len(one.faults) > 1


TABLE = OrDebugSettings(spec="table", max_steps=30)


def found_before_quoted(one: Instance, seed: int) -> list[tuple[str, str]]:
    """What each step but a slip quotes, with all that searches showed before it."""
    steps = demonstration(one, TABLE, seed, looked_up=1.0)
    rest, heard = iter(steps), []

    def answer(said, asked):  # type: ignore[no-untyped-def]
        step = next(rest)
        answers = "\n".join(message.text for message in said[1:] if message.author == "user")
        if not step.slip and step.action.name != "undo":
            heard.extend((passage, answers) for passage in re.findall(r'"([^"]+)"', step.thought))
        return say(step.action, TABLE.protocol, step.thought)

    assert driven(one, answer, TABLE).score.hard == 1
    return heard


def test_who_looks_requirements_up_quotes_what_a_search_has_shown() -> None:
    quoted = [pair for one in instances() if one.kind != MISSING for pair in found_before_quoted(one, 5)]
    assert len(quoted) > 20
    shown = sum(passage in answers for passage, answers in quoted)
    assert shown == len(quoted)


def test_nothing_is_searched_for_twice() -> None:
    for one in instances():
        searched = [step.action.names for step in demonstration(one, TABLE, 3, 1.0) if step.action.name == "find"]
        assert len(searched) == len(set(searched))


def test_a_share_of_the_demonstrations_looks_requirements_up() -> None:
    def share(looked_up: float) -> float:
        told = [demonstration(one, TABLE, seed, looked_up) for one in instances() for seed in range(20)]
        return sum(any(step.action.name == "find" for step in steps) for steps in told) / len(told)

    assert share(0.0) == 0
    assert 0.15 < share(0.25) < 0.35
    assert share(1.0) > 0.8


def test_looking_up_changes_nothing_else_that_is_told() -> None:
    def edits(looked_up: float) -> list[list[object]]:
        told = [demonstration(one, TABLE, seed, looked_up) for one in instances() for seed in range(4)]
        return [[step.action for step in steps if step.action.edit is not None] for steps in told]

    assert edits(1.0) == edits(0.0)


def test_looking_up_keeps_the_step_limit() -> None:
    for one in instances():
        settings = OrDebugSettings(spec="table", max_steps=8)
        assert len(demonstration(one, settings, 3, 1.0)) <= 8 or len(one.faults) > 1
