from __future__ import annotations

from itertools import combinations

import pytest
from evals.outcomes import fault, outcome, repeated
from hypothesis import given
from hypothesis import strategies as st

from whet.errors import WhetError
from whet.evals.attempts import by_task
from whet.evals.passk import ladder, pass_at_k, pass_hat_k, pass_ladder


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_both_are_the_share_of_all_choices_of_k_draws(case: tuple[int, int, int]) -> None:
    draws, solved, k = case
    choices = list(combinations([1] * solved + [0] * (draws - solved), k))
    assert pass_at_k(solved, draws, k) == pytest.approx(sum(any(one) for one in choices) / len(choices))
    assert pass_hat_k(solved, draws, k) == pytest.approx(sum(all(one) for one in choices) / len(choices))


@pytest.mark.parametrize(("solved", "draws", "k"), [(3, 2, 1), (1, 2, 3), (1, 2, 0), (-1, 2, 1)])
def test_what_no_draws_can_tell_is_refused(solved: int, draws: int, k: int) -> None:
    with pytest.raises(WhetError, match="undefined"):
        pass_at_k(solved, draws, k)


@pytest.mark.parametrize(
    ("draws", "rungs"), [(0, ()), (1, (1,)), (2, (1, 2)), (5, (1, 2, 4, 5)), (8, (1, 2, 4, 8)), (12, (1, 2, 4, 8, 12))]
)
def test_the_ladder_doubles_and_ends_at_the_repeats(draws: int, rungs: tuple[int, ...]) -> None:
    assert ladder(draws) == rungs


def test_tasks_are_averaged_at_each_k() -> None:
    rungs = {rung.k: rung for rung in pass_ladder(by_task(repeated([0, 1, 2, 4], 4)))}
    assert rungs[1].once.value == rungs[1].always.value == pytest.approx(7 / 16)
    assert rungs[2].once.value == pytest.approx((0 + 1 / 2 + 5 / 6 + 1) / 4)
    assert rungs[2].always.value == pytest.approx((0 + 0 + 1 / 6 + 1) / 4)
    assert (rungs[4].once.value, rungs[4].always.value) == (0.75, 0.25)


def test_a_task_that_lost_draws_to_faults_counts_as_far_as_it_goes() -> None:
    rollouts = [*repeated([2, 2], 2), outcome(2, 1), fault(2, draw=1)]
    rungs = {rung.k: rung.once.tasks for rung in pass_ladder(by_task(rollouts))}
    assert rungs == {1: 3, 2: 2}
