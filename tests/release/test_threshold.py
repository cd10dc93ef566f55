"""The threshold of a release: what is chosen on one sample of tickets holds on the next, as often as it says."""

from __future__ import annotations

import math
import random

import pytest

from whet.errors import WhetError
from whet.evals.estimate import exact_upper
from whet.release.threshold import ScoredTicket, bounded, choose, most_released, needed

ALLOWED, CHECK = 0.02, 5000


def failing_scores(chance: random.Random, count: int) -> list[float]:
    """Failing tickets of a policy in haste, which passes all: each threshold lets another share of them through."""
    return [chance.random() for _ in range(count)]


def failed_checks(check: int, streams: int = 200) -> int:
    """How many of so many thresholds, each chosen on 650 failing tickets, failed on 1,300 others."""
    failed = 0
    for seed in range(streams):
        chance = random.Random(seed)
        tickets = [ScoredTicket("s", True, score, True) for score in failing_scores(chance, 650)]
        rule = choose(tickets, ALLOWED, check=check)
        assert rule.threshold is not None
        released = sum(score >= rule.threshold for score in failing_scores(chance, 1300))
        failed += exact_upper(released, 1300) > ALLOWED
    return failed


def test_a_threshold_that_must_stand_a_check_stands_it_and_one_by_its_bound_alone_often_does_not() -> None:
    assert failed_checks(check=1300) <= 0.05 * 200 + 6  # twice the deviation of such a count
    assert failed_checks(check=0) > 0.12 * 200


def test_the_chance_of_a_failed_check_is_what_drawing_both_samples_gives() -> None:
    """The bound is the mean over the shares at which a check begins to fail; drawn, it comes out the same."""
    chance = random.Random(3)
    failing, again = 500, 1250
    most = most_released(again, ALLOWED)
    for wrong in range(6):
        drawn = 0
        for _ in range(4000):
            share = chance.betavariate(most + 1, again - most)
            drawn += binomial(chance, failing, share) <= wrong
        assert bounded(wrong, failing, ALLOWED, 0.95, again) == (drawn / 4000 <= 0.05), (wrong, drawn)


def binomial(chance: random.Random, n: int, share: float) -> int:
    """A draw by its gaps, which are few where the share is small."""
    count, at = 0, 0
    while True:
        at += 1 + int(math.log(1.0 - chance.random()) / math.log1p(-share))
        if at > n:
            return count
        count += 1


def test_a_check_needs_more_tickets_and_says_how_many() -> None:
    assert needed(0.02) == 149
    assert needed(0.02, check=1300) == 234
    few = [ScoredTicket(f"s{number}", False, 1.0, number % 4 == 0) for number in range(800)]
    assert "at least 240 failing" in choose(few, ALLOWED, check=CHECK).said()


def test_a_policy_that_errs_at_its_highest_score_is_told_so() -> None:
    tickets = [ScoredTicket(f"s{number}", number < 12, 1.0, number % 4 == 0) for number in range(2000)]
    rule = choose(tickets, ALLOWED, check=CHECK)
    assert rule.threshold is None
    assert "at the highest score 3 of 500 failing tickets would be, and 1 may" in rule.said()


def test_a_check_that_can_show_nothing_is_refused_in_one_line() -> None:
    tickets = [ScoredTicket(f"s{number}", True, 1.0, number % 4 == 0) for number in range(400)]
    with pytest.raises(WhetError, match=r"--check 100: 25 of so many tickets fail.*at least 596"):
        choose(tickets, ALLOWED, check=100)
