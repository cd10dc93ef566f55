"""The miner finds what reviewers never wrote down, from what a policy is shown and truths of train tickets alone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from whet.envs.data import DataEnvironment
from whet.envs.groupqc.environment import GroupQc
from whet.envs.groupqc.verdict.language import TicketLanguage
from whet.learn.rules.book import Operation, RuleBook
from whet.learn.rules.induction import RELEASED, at_stake, mine, worth
from whet.learn.rules.miner import Miner
from whet.learn.rules.predicate import WordLanguage, language_of, verdict_of
from whet.learn.rules.types import PoolAttempt, RuleStep, TriedOperation
from whet.learn.sealed import SealedEnvironment
from whet.types import Label, Rollout, Rule, Score, Task, Ticket, Usage

ROUTE = "Escape route check"
TICKETS = 240


@pytest.fixture(scope="module")
def route() -> GroupQc:
    return GroupQc("", {"pack": "firesafety", "mission": ROUTE, "conventions": 0})


@pytest.fixture(scope="module")
def tickets(route: GroupQc) -> list[Task]:
    return [route.task("train", index) for index in range(TICKETS)]


def judged(language: TicketLanguage, tasks: Sequence[Task], told: Sequence[Any] = ()) -> tuple[PoolAttempt, ...]:
    """Attempts of a policy that goes by the checklist and by these rules, to the letter."""
    return tuple(PoolAttempt(task, task.truth["label"], language.judged(told, task)) for task in tasks)


def proposed(env: Any, attempts: tuple[PoolAttempt, ...], book: RuleBook, most: int = 3, **more: Any) -> Any:
    step = RuleStep(SealedEnvironment(env), book, (), attempts, mission=ROUTE, **more)
    return asyncio.run(Miner().propose(step, most)).operations


def book_of(*rules: Rule) -> RuleBook:
    return RuleBook((Rule("G0", "All must be in order."), *rules), len(rules) + 1)


# --------------------------------------------------------------------------------------------- tickets


def test_round_after_round_the_planted_conventions_come_to_light(route: GroupQc, tickets: list[Task]) -> None:
    language = route.rule_language(tickets[0])
    fresh = [route.task("select", index) for index in range(200)]
    told: list[Any] = []
    for _ in range(5):
        known = [Rule(f"G{number}", "…", predicate=predicate) for number, predicate in enumerate(told, 1)]
        found = mine(language, judged(language, tickets, told), known)
        told += [found[0].written.predicate] if found else []
    right = [sum(a.right for a in judged(language, fresh, rules)) / len(fresh) for rules in ((), told)]
    ceiling = [known.as_data() for known in route.conventions(ROUTE)]
    best = sum(attempt.right for attempt in judged(language, fresh, ceiling)) / len(fresh)
    assert right[0] < 0.75
    assert best > 0.95
    assert right[1] - right[0] > 0.6 * (best - right[0])


def test_a_mined_rule_is_a_sentence_with_a_predicate_and_cites_train_tickets(
    route: GroupQc, tickets: list[Task]
) -> None:
    operations = proposed(route, judged(route.rule_language(tickets[0]), tickets), book_of())
    assert 0 < len(operations) <= 3
    for operation in operations:
        assert operation.op == "upsert"
        assert operation.source == "miner"
        assert operation.predicate["effect"] in ("require", "waive")
        assert all(task.startswith("train/") for task in operation.evidence)
        assert operation.text[0].isupper()
        assert operation.text.endswith(".")
        language = route.rule_language(tickets[0])
        said = {language.says(operation.predicate, task) for task in tickets}
        assert said in ({None, "fail"}, {None, "pass"}), "it fires on some tickets and is silent on others"


def test_the_sentences_are_in_the_language_of_the_pack() -> None:
    env = GroupQc("", {"pack": "bbu", "mission": "BBU接地线检查", "conventions": 0})
    tasks = [env.task("train", index) for index in range(160)]
    operations = proposed(env, judged(env.rule_language(tasks[0]), tasks), book_of())
    assert operations
    assert all("判不通过" in operation.text for operation in operations)


def test_the_miner_looks_at_no_truth_that_is_not_in_the_attempts(route: GroupQc, tickets: list[Task]) -> None:
    """The truth of a task itself is replaced by a sentinel: what is proposed stays the same."""
    attempts = judged(route.rule_language(tickets[0]), tickets)
    blind = tuple(replace(attempt, task=replace(attempt.task, truth="SENTINEL")) for attempt in attempts)
    assert proposed(route, blind, book_of()) == proposed(route, attempts, book_of())


def test_where_the_checklist_decides_there_is_nothing_to_find() -> None:
    env = GroupQc("", {"pack": "firesafety", "mission": ROUTE, "conventions": "none"})
    tasks = [env.task("train", index) for index in range(TICKETS)]
    assert proposed(env, judged(env.rule_language(tasks[0]), tasks), book_of()) == ()


def test_a_rule_that_is_too_strict_is_to_go(route: GroupQc, tickets: list[Task]) -> None:
    language = route.rule_language(tickets[0])
    known = [planted.as_data() for planted in route.conventions(ROUTE)]
    strict = {"effect": "require", "condition": {"category": "fire door"}}
    book = book_of(Rule("G1", "Fail unless a fire door is seen.", predicate=strict))
    attempts = judged(language, tickets, [*known, strict])
    operations = proposed(route, attempts, book)
    assert [(operation.op, operation.target) for operation in operations][:1] == [("remove", "G1")]
    tried = TriedOperation(Operation("remove", target="G1"), 1, "rejected", book=book.told)
    assert not [each for each in proposed(route, attempts, book, tried=(tried,)) if each.op == "remove"]


def test_what_the_book_says_already_is_not_brought_again(route: GroupQc, tickets: list[Task]) -> None:
    attempts = judged(route.rule_language(tickets[0]), tickets)
    first = proposed(route, attempts, book_of())[0]
    held = book_of(Rule("G1", first.text))
    assert first.text not in {operation.text for operation in proposed(route, attempts, held)}


def test_a_rule_must_put_more_right_than_wrong_and_length_has_its_price() -> None:
    assert worth(9, 0) > 0
    assert worth(5, 5) < 0
    assert worth(9, 0, 3) < worth(9, 0, 2) < worth(9, 0, 1)


def test_a_failing_ticket_let_pass_costs_more_than_a_ticket_put_right_gains(
    route: GroupQc, tickets: list[Task]
) -> None:
    language = route.rule_language(tickets[0])
    opening = next(each for each in language.openings(tickets) if each.verdict == "pass")
    score = Score(1, 1.0, 1.0, {"failing": 1.0})
    rollout = Rollout(Ticket("train", "train", 0), Label("t"), "k", "", "p", (), score, Usage())
    caught = [PoolAttempt(task, "fail", "fail", rollout=rollout) for task in tickets]
    unreported = [replace(attempt, rollout=None) for attempt in caught]
    dear, plain = (at_stake(opening, attempts, 0).counts(opening.applies) for attempts in (caught, unreported))
    assert plain[1] > 0
    assert dear == (0, RELEASED * plain[1])


# --------------------------------------------------------------------------------------------- predicates


@pytest.mark.parametrize(
    "predicate",
    [
        {"effect": "require"},
        {"effect": "require", "condition": {"category": "unicorn"}},
        {"effect": "waive", "condition": {"category": "corridor"}, "need": "unicorn", "status": "absent"},
        {"effect": "praise", "condition": {"category": "corridor"}},
    ],
)
def test_what_is_no_predicate_never_fires(route: GroupQc, tickets: list[Task], predicate: dict[str, Any]) -> None:
    language = route.rule_language(tickets[0])
    with pytest.raises(ValueError, match=r"\w"):
        language.says(predicate, tickets[0])
    assert verdict_of(language, Rule("G1", "…", predicate=predicate), tickets[0]) is None


def test_a_planted_convention_says_what_it_decides(route: GroupQc, tickets: list[Task]) -> None:
    """The language runs conventions as the world does."""
    language = route.rule_language(tickets[0])
    for planted in route.conventions(ROUTE):
        verdict = "fail" if planted.effect == "require" else "pass"
        for task in tickets[:80]:
            changed = language.judged([planted.as_data()], task) != language.judged([], task)
            says = language.says(planted.as_data(), task)
            assert says in (None, verdict)
            assert not changed or says == verdict


# --------------------------------------------------------------------------------------------- words


@pytest.fixture
def letters(tmp_path: Any) -> DataEnvironment:
    """Letters to a desk: who was charged twice goes to billing, whatever else is said."""
    rows = ["text,label"]
    for number in range(120):
        about = ("my parcel is late", "the app is slow", "i was charged twice")[number % 3]
        desk = "billing" if number % 3 == 2 else "support"
        rows.append(f"letter {number * 7919} says that {about} and asks for help,{desk}")
    file = tmp_path / "letters.csv"
    file.write_text("\n".join(rows) + "\n")
    return DataEnvironment(str(file), {"check": "choice", "choices": ["billing", "support"], "answer": "label"})


def test_a_multiple_choice_is_mined_by_the_words_of_its_prompts(letters: DataEnvironment) -> None:
    tasks = [letters.task("train", index) for index in range(letters.size("train") or 0)]
    attempts = tuple(PoolAttempt(task, letters.right(task), "support") for task in tasks)
    (first, *_) = proposed(letters, attempts, book_of())
    assert first.predicate["choice"] == "billing"
    assert set(first.predicate["words"]) <= {"charged", "twice", "was"}
    assert first.text.startswith("If the word")
    language = language_of(letters, tasks, ["billing", "support"])
    assert isinstance(language, WordLanguage)
    assert all(language.says(first.predicate, task) in (None, letters.right(task)) for task in tasks)


def test_words_without_a_choice_are_no_rule(letters: DataEnvironment) -> None:
    with pytest.raises(ValueError, match="names a choice"):
        WordLanguage(["a", "b"]).says({"effect": "choose", "choice": "a", "words": []}, letters.task("train", 0))
