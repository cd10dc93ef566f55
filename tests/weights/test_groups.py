"""Filling a batch with groups that teach something: exactly the missing ones are played again, within a bound."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from whet.errors import WhetError
from whet.learn.weights.config import CurriculumSection, GrpoSection
from whet.learn.weights.groups import Attempt, Group, GroupBatch, fill
from whet.learn.weights.grpo import GroupRollouts
from whet.learn.weights.supply import TaskSupply
from whet.types import Fault, Label, Reply, Rollout, Score, Ticket, Turn, user


def attempt(task: int, draw: int, reward: float | None, *, drawn: tuple[int, ...] = (7, 1)) -> Attempt:
    turn = Turn("target", (user("go"),), Reply("h", completion_ids=drawn), None, (3, 4))
    outcome = Fault("broken", "tool", "gone") if reward is None else Score(int(reward > 0), reward, reward)
    ticket = Ticket("train", "train", task, draw)
    return Attempt(Rollout(ticket, Label("k"), f"{task}-{draw}", "", "p", (turn,), outcome), "v", reward)


def world(*, flat: set[int] = frozenset(), broken: set[int] = frozenset(), silent: set[int] = frozenset()):  # type: ignore[no-untyped-def]
    """Plays tasks and writes down which were asked for, round by round."""
    rounds: list[list[int]] = []

    def play(tasks: Sequence[int]) -> list[Group]:
        rounds.append(list(tasks))
        made = []
        for task in tasks:
            rewards = [None, 1.0] if task in broken else [0.5, 0.5] if task in flat else [0.0, 1.0]
            drawn = () if task in silent else (7, 1)
            made.append(Group(task, tuple(attempt(task, at, r, drawn=drawn) for at, r in enumerate(rewards))))
        return made

    return play, rounds


def test_flat_groups_are_replaced_and_the_valid_ones_kept() -> None:
    play, rounds = world(flat={1, 2, 4})
    batch = fill(4, itertools.count(), play, dynamic=True, rounds=5)
    assert rounds == [[0, 1, 2, 3], [4, 5], [6]]
    assert [group.task for group in batch.groups] == [0, 3, 5, 6]
    assert (batch.signal, batch.silent, batch.generated_per_trained) == (1.0, 0, 7 / 4)


def test_without_dynamic_sampling_flat_groups_stay() -> None:
    play, rounds = world(flat={1, 2})
    batch = fill(4, itertools.count(), play, dynamic=False, rounds=5)
    assert rounds == [[0, 1, 2, 3]]
    assert batch.signal == 0.5


def test_refilling_is_bounded_and_what_is_missing_is_silent() -> None:
    play, rounds = world(flat=set(range(1, 100)))
    batch = fill(3, itertools.count(), play, dynamic=True, rounds=3)
    assert [len(tasks) for tasks in rounds] == [3, 2, 2]
    assert (len(batch.groups), batch.silent) == (3, 2)
    assert batch.generated_per_trained == 7.0


def test_a_group_that_met_a_fault_or_drew_nothing_is_replaced_with_or_without_dynamic_sampling() -> None:
    for dynamic in (True, False):
        play, rounds = world(broken={0}, silent={1})
        batch = fill(2, itertools.count(), play, dynamic=dynamic, rounds=3)
        assert [group.task for group in batch.groups] == [2, 3]
        assert len(rounds) == 2


def test_groups_that_can_never_be_trained_on_end_the_run_with_the_reason() -> None:
    play, _ = world(silent=set(range(100)))
    with pytest.raises(WhetError, match=r"0 of 2 groups can be trained on after 3 rounds.*nothing was drawn"):
        fill(2, itertools.count(), play, dynamic=True, rounds=3)
    play, _ = world(broken=set(range(100)))
    with pytest.raises(WhetError, match="broken at tool: gone"):
        fill(2, itertools.count(), play, dynamic=False, rounds=3)


@pytest.mark.parametrize("dynamic", [True, False])
def test_a_fault_at_the_bound_leaves_a_silent_place_and_the_rest_is_learnt(dynamic: bool) -> None:
    """Where no rollout is left to replace the group that met it, and where the last round met one too."""
    play, rounds = world(broken={1})
    batch = fill(3, itertools.count(), play, dynamic=dynamic, rounds=3, most=3)
    assert rounds == [[0, 1, 2]]
    assert [group.task for group in batch.groups] == [0, 2, 0]
    assert (batch.silent, batch.signal) == (1, 2 / 3)
    play, rounds = world(broken=set(range(1, 100)))
    batch = fill(2, itertools.count(), play, dynamic=dynamic, rounds=2)
    assert ([group.task for group in batch.groups], batch.silent, batch.signal) == ([0, 0], 1, 0.5)


def test_where_faults_took_the_last_rollouts_the_bound_is_named() -> None:
    play, _ = world(broken=set(range(100)))
    with pytest.raises(WhetError, match=r"train.max_rollouts leaves no more.*broken at tool: gone"):
        fill(2, itertools.count(), play, dynamic=True, rounds=3, most=2)


def test_a_difference_however_small_is_signal() -> None:
    assert not Group(0, (attempt(0, 0, 0.1), attempt(0, 1, 0.1 + 1e-9))).flat
    assert Group(0, (attempt(0, 0, 0.1), attempt(0, 1, 0.1))).flat


def group(task: int, *rewards: float | None) -> Group:
    return Group(task, tuple(attempt(task, draw, reward) for draw, reward in enumerate(rewards)))


def test_a_task_is_flat_where_all_attempts_of_all_its_groups_earned_the_same() -> None:
    """Two flat groups that earned different things are not, and one that met a fault says nothing."""
    same, differing = [group(0, 0.5, 0.5), group(0, 0.5, 0.5)], [group(1, 0.0, 1.0), group(1, 1.0, 1.0)]
    apart, faulty, half = (
        [group(2, 0.0, 0.0), group(2, 1.0, 1.0)],
        [group(3, None, 0.0)],
        [group(4, None), group(4, 1.0)],
    )
    batch = GroupBatch(attempted=[*same, *differing, *apart, *faulty, *half])
    assert batch.flat_by_task == {0: True, 1: False, 2: False, 4: True}


def test_the_supply_hears_of_every_task_that_was_played_for_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of those that were replaced too: what was flat sits out, what met a fault or taught something comes again."""
    play, rounds = world(flat={1, 2}, broken={3})
    monkeypatch.setattr("whet.learn.weights.grpo.play_groups", lambda stage, tasks, *_: play(tasks))
    made = TaskSupply(dict.fromkeys(range(6), Label("k")), CurriculumSection(rest=1), seed=1, steps=8)
    live: Any = SimpleNamespace(at=nullcontext)
    stage: Any = SimpleNamespace(policy_at=str)
    rollouts = GroupRollouts(stage, made, GrpoSection(generations=2).settled(), 1, live)
    trainer = SimpleNamespace(
        state=SimpleNamespace(global_step=0),
        accelerator=SimpleNamespace(num_processes=1),
        args=SimpleNamespace(use_vllm=False),
    )
    rollouts(["any"] * 6, trainer)
    assert sorted(task for tasks in rounds for task in tasks) == [0, 1, 2, 3, 4, 5]
    assert sorted(itertools.islice(made.draw(1), 4)) == [0, 3, 4, 5]
    assert set(itertools.islice(made.draw(1), 6)) == set(range(6))
