from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.envs.base import Environment, Play
from whet.errors import WhetError
from whet.evals.sample import stratified_sample, window
from whet.types import Label, Split, Task


class Labelled(Environment):
    """Nothing but labels, and a count of how often they were asked for."""

    name = "labelled"
    fingerprint = "labelled-1"

    def __init__(self, kinds: str, size: int | None) -> None:
        self.kinds = kinds
        self.tasks = size
        self.asked = 0

    def size(self, split: Split) -> int | None:
        return self.tasks

    def label(self, split: Split, index: int) -> Label:
        self.asked += 1
        return Label(self.kinds[index % len(self.kinds)], "hard" if index % 7 == 0 else "easy")

    def task(self, split: Split, index: int) -> Task:
        raise NotImplementedError

    def play(self, task: Task) -> Play:
        raise NotImplementedError


@dataclass(frozen=True)
class Case:
    kinds: str
    size: int
    n: int
    seed: int


@st.composite
def cases(draw: st.DrawFn) -> Case:
    size = draw(st.integers(1, 200))
    return Case(
        draw(st.text("abcd", min_size=1, max_size=9)), size, draw(st.integers(1, size)), draw(st.integers(0, 9))
    )


@given(cases())
def test_every_stratum_gets_its_share_up_to_rounding(case: Case) -> None:
    env = Labelled(case.kinds, case.size)
    sample = stratified_sample(env, "test", case.n, case.seed)
    assert len(set(sample)) == len(sample) == case.n
    population = Counter(env.label("test", index) for index in range(case.size))
    taken = Counter(env.label("test", index) for index in sample)
    assert all(abs(taken[label] - case.n * count / case.size) < 1 for label, count in population.items())


@given(cases())
def test_the_same_seed_gives_the_same_order(case: Case) -> None:
    first = stratified_sample(Labelled(case.kinds, case.size), "test", case.n, case.seed)
    assert stratified_sample(Labelled(case.kinds, case.size), "test", case.n, case.seed) == first


def test_another_seed_or_split_gives_another_sample() -> None:
    env = Labelled("ab", 1000)
    samples = {stratified_sample(env, split, 20, seed) for split in ("select", "test") for seed in (0, 1)}
    assert len(samples) == 4


def test_the_sample_is_not_the_first_tasks() -> None:
    assert max(stratified_sample(Labelled("ab", 1000), "test", 20, 0)) > 500


def test_a_prefix_is_a_sample_of_its_own() -> None:
    env = Labelled("aaab", 4000)
    sample = stratified_sample(env, "test", 400, 3)
    for prefix in (20, 40, 100, 200):
        rare = sum(env.label("test", index).kind == "b" for index in sample[:prefix])
        assert abs(rare - prefix / 4) <= 2


def test_a_larger_sample_of_equal_strata_keeps_the_smaller_one() -> None:
    env = Labelled("abcd", 2800)
    assert set(stratified_sample(env, "test", 56, 5)) <= set(stratified_sample(env, "test", 280, 5))


def test_all_of_a_finite_split_is_every_task_once_in_a_mixed_order() -> None:
    sample = stratified_sample(Labelled("ab", 50), "test", None, 0)
    assert sorted(sample) == list(range(50))
    assert list(sample) != list(range(50))


def test_labels_are_asked_for_once_each() -> None:
    env = Labelled("abc", 3000)
    stratified_sample(env, "test", 10, 0)
    assert env.asked == 3000


@pytest.mark.parametrize(("n", "seen"), [(5, 1000), (100, 1000), (150, 1500)])
def test_an_unbounded_split_is_sampled_across_its_window(n: int, seen: int) -> None:
    env = Labelled("ab", None)
    sample = stratified_sample(env, "train", n, 0)
    assert len(sample) == n
    assert env.asked == window(n) == seen
    assert max(sample) < seen


@pytest.mark.parametrize(
    ("size", "n", "said"),
    [
        (10, 0, "at least 1"),
        (10, -3, "at least 1"),
        (10, 11, "has 10 tasks, not 11"),
        (0, None, "no tasks"),
        (None, None, "unbounded"),
    ],
)
def test_what_cannot_be_sampled_is_refused(size: int | None, n: int | None, said: str) -> None:
    with pytest.raises(WhetError, match=said):
        stratified_sample(Labelled("a", size), "test", n, 0)
