"""Reference policies in the play: deterministic, in both protocols, and as good as they should be."""

from __future__ import annotations

import pytest
from envs.ordebug.puzzles import acts, crossed, doubled, driven, flipped, made, played, task, twofold, typed

from whet.envs.ordebug.baselines import all_baselines, replayed
from whet.envs.ordebug.environment import instance_of
from whet.envs.ordebug.instance import Instance
from whet.envs.ordebug.play import OrDebugSettings
from whet.envs.ordebug.protocol import Protocol, said_before
from whet.rollout.drive import Transcript
from whet.types import Message

BROKEN = {one.__name__: one() for one in (flipped, crossed, typed, doubled, twofold)}
NAMES = ("random", "drop-first-iis", "elastic", "greedy", "search", "oracle")


def attempt(name: str, one: Instance, protocol: Protocol = "text") -> Transcript:
    settings = OrDebugSettings(protocol=protocol)
    asked = task(one, settings)
    policy = all_baselines(protocol, instance_of)[name]
    return driven(one, lambda said, _: policy(asked, said), settings)


def test_the_oracle_adds_a_row_that_is_missing_and_dropping_or_searching_does_not() -> None:
    one = made("tiny_near_missing")
    assert {name: attempt(name, one).score.hard for name in ("oracle", "drop-first-iis", "elastic", "search")} == {
        "oracle": 1, "drop-first-iis": 0, "elastic": 0, "search": 0,
    }  # fmt: skip


def test_the_six_of_them_are_there() -> None:
    assert tuple(all_baselines("text", instance_of)) == NAMES


@pytest.mark.parametrize("protocol", ["text", "tools"])
@pytest.mark.parametrize("name", BROKEN)
def test_the_oracle_earns_full_credit(name: str, protocol: Protocol) -> None:
    score = attempt("oracle", BROKEN[name], protocol).score
    assert (score.hard, score.soft, score.parts["precision"], score.parts["recall"]) == (1, 1.0, 1.0, 1.0)


@pytest.mark.parametrize("name", NAMES)
def test_both_protocols_tell_the_same_story(name: str) -> None:
    text, tools = (attempt(name, flipped(), protocol).score for protocol in ("text", "tools"))
    assert text == tools


@pytest.mark.parametrize("name", NAMES)
def test_a_policy_does_the_same_again(name: str) -> None:
    one, again = (attempt(name, twofold()) for _ in range(2))
    assert [reply.text for reply in one.replies] == [reply.text for reply in again.replies]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("broken", BROKEN)
def test_every_policy_ends_by_submitting_sound_actions(name: str, broken: str) -> None:
    parts = attempt(name, BROKEN[broken]).score.parts
    assert (parts["submitted"], parts["malformed"], parts["refused"]) == (1.0, 0.0, 0.0)


@pytest.mark.parametrize("name", ["drop-first-iis", "elastic", "greedy"])
@pytest.mark.parametrize("broken", BROKEN)
def test_shortcuts_reach_feasibility(name: str, broken: str) -> None:
    assert attempt(name, BROKEN[broken]).score.parts["feasible"] == 1.0


@pytest.mark.parametrize("broken", ["flipped", "crossed", "typed", "twofold"])
def test_dropping_rows_repairs_nothing_that_was_changed(broken: str) -> None:
    assert attempt("drop-first-iis", BROKEN[broken]).score.hard == 0


def test_the_search_finds_a_flipped_sense() -> None:
    assert attempt("search", flipped()).score.hard == 1


def test_the_state_is_read_from_the_conversation() -> None:
    lines = acts("set_rhs r1 30", "set_rhs nowhere 1", "set_rhs r1 31", "undo", "what", "drop r3")
    seen = played(flipped(), [*lines, *acts("submit")])
    said: list[Message] = [reply.as_message() for reply in seen.replies]
    model = replayed(flipped().sabotaged, tuple(said_before(said, "text")))
    assert model.row("r1").rhs == 30.0
    assert "r3" not in model.row_index
