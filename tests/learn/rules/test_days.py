"""The day of a rule follows from every ticket that it would speak of, whatever else in the book decides it too."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from whet.envs.language import WrittenRule
from whet.learn.rules.days import DayPosterior, day_posterior, named_day
from whet.learn.rules.types import PoolAttempt
from whet.types import Label, Rule, Task

STRICT = Rule("G2", "Fail where it is marked.", predicate={"mark": True})


class DayLanguage:
    """Rules up to a day or from one on, and one on marked tickets."""

    def openings(self, tasks: Sequence[Task]) -> tuple[Any, ...]:
        return ()

    def write(self, opening: Any, features: Any) -> WrittenRule:
        raise NotImplementedError

    def says(self, predicate: Mapping[str, Any], task: Task) -> str | None:
        day = task.data["submitted"]
        if "mark" in predicate:
            return "fail" if task.data["mark"] else None
        holds = day < predicate["before"] if "before" in predicate else day >= predicate["from"]
        return "fail" if holds else None

    def unruled(self, task: Task) -> str | None:
        return "pass"


def day_of(number: int) -> str:
    return (datetime.date(2026, 1, 1) + datetime.timedelta(days=number)).isoformat()


def attempt(number: int, fails: bool, mark: bool = False) -> PoolAttempt:
    task = Task("train", number, Label("t"), (), {}, {"submitted": day_of(number), "mark": mark})
    return PoolAttempt(task, "fail" if fails else "pass", "pass")


def until(number: int) -> WrittenRule:
    return WrittenRule(f"Fail before {day_of(number)}.", {"before": day_of(number)})


def posterior(attempts: Sequence[PoolAttempt], written: WrittenRule, *others: Rule) -> DayPosterior:
    found = day_posterior(DayLanguage(), written, others, attempts)
    assert found is not None
    return found


def number_of(found: DayPosterior, price: float) -> int:
    return found.day(price) - datetime.date(2026, 1, 1).toordinal()


def test_the_day_lies_between_the_last_ticket_that_it_fails_and_the_first_that_it_does_not() -> None:
    attempts = [attempt(number, number < 100) for number in range(0, 200, 3)]
    found = posterior(attempts, until(60))
    assert 99 < number_of(found, 1.0) <= 102
    assert found.tickets == len(attempts)


def test_in_a_gap_a_release_that_costs_more_than_a_block_moves_the_day_out() -> None:
    attempts = [attempt(number, number < 100) for number in (*range(0, 81, 4), *range(120, 200, 4))]
    found = posterior(attempts, until(81))
    dear, even, cheap = (number_of(found, price) for price in (3.0, 1.0, 1 / 3))
    assert 81 <= cheap < even < dear <= 121
    assert found.cost(found.named, 3.0) > found.cost(found.day(3.0), 3.0)


def test_tickets_that_a_rule_too_strict_fails_already_tell_the_day_too() -> None:
    """Those between the day that was found and the right one are all marked, and the policy has them right."""
    free = [attempt(number, number < 100) for number in range(0, 200, 4) if not 60 <= number < 100]
    marked = [attempt(number, number < 100, mark=True) for number in range(1, 200, 4)]
    found = posterior([*free, *marked], until(60), STRICT)
    assert 97 < number_of(found, 3.0) <= 101


def test_tickets_that_another_convention_settles_tell_nothing() -> None:
    """Marked tickets fail on any day: as if the rule held all year, had they counted as the others do."""
    free = [attempt(number, number < 100) for number in range(0, 200, 4)]
    marked = [attempt(number, fails=True, mark=True) for number in range(1, 200, 2)]
    found = posterior([*free, *marked], until(60), STRICT)
    assert 96 < number_of(found, 3.0) <= 101


@pytest.mark.parametrize("odd", [5, 20, 150, 190])
def test_one_ticket_with_a_strange_truth_does_not_move_it(odd: int) -> None:
    attempts = [attempt(number, (number < 100) != (number == odd)) for number in range(0, 200, 5)]
    assert 95 < number_of(posterior(attempts, until(60)), 1.0) <= 101


def test_a_rule_that_holds_from_a_day_on_is_placed_as_well() -> None:
    attempts = [attempt(number, number >= 100) for number in range(0, 200, 5)]
    written = WrittenRule(f"Fail from {day_of(150)} on.", {"from": day_of(150)})
    found = posterior(attempts, written)
    dear, even = number_of(found, 3.0), number_of(found, 1.0)
    assert 95 < dear <= even <= 100
    assert found.moved(found.named - 50).predicate == {"from": day_of(100)}
    assert day_of(100) in found.moved(found.named - 50).text


def test_a_rule_without_a_day_has_none() -> None:
    assert named_day(WrittenRule("Fail where it is marked.", {"mark": True})) is None
    assert named_day(WrittenRule("Fail before 2026-13-41.", {"before": "2026-13-41"})) is None
    assert named_day(WrittenRule("Fail before noon.", {"before": "2026-01-01"})) is None, "its words name no day"
    assert day_posterior(DayLanguage(), WrittenRule("Marked.", {"mark": True}), (), [attempt(1, True)]) is None
    assert day_posterior(DayLanguage(), until(60), (), []) is None
