from __future__ import annotations

from evals.outcomes import outcome, pattern

from whet.evals.summary import summarize
from whet.types import Outcome, Usage


def cut(share: int, of: int, tokens: int) -> list[Outcome]:
    """`share` of `of` rollouts end at the limit; the others take `tokens`."""
    usage = Usage(1, 10, tokens)
    return [outcome(index, 0, truncated=index < share, usage=usage) for index in range(of)]


def test_a_sound_evaluation_needs_no_advice() -> None:
    assert summarize(pattern("1100"), max_tokens=1024).advice == ()


def test_a_few_cut_replies_ask_for_twice_the_limit() -> None:
    (line,) = summarize(cut(5, 100, 600), max_tokens=1000).advice
    assert line == "5 of 100 rollouts (5.0 %) were cut off by the token limit of 1000: try max_tokens = 2048"


def test_many_cut_replies_ask_for_four_times_the_limit() -> None:
    (line,) = summarize(cut(30, 100, 600), max_tokens=1024).advice
    assert line.endswith("try max_tokens = 4096")


def test_long_replies_among_short_ones_are_looked_at_before_the_limit_is_raised() -> None:
    (line,) = summarize(cut(30, 100, 40), max_tokens=1024).advice
    assert "at most 40 tokens a turn: look for loops" in line


def test_one_cut_reply_in_a_hundred_is_not_worth_a_word() -> None:
    assert summarize(cut(1, 100, 600), max_tokens=1024).advice == ()


def test_without_a_known_limit_the_advice_is_to_raise_it() -> None:
    (line,) = summarize(cut(30, 100, 600)).advice
    assert line.endswith("raise max_tokens")


def test_a_call_that_was_cut_off_counts_as_cut() -> None:
    (line,) = summarize([outcome(0, 0, malformed=("cut_off",), usage=Usage(1, 1, 900))], max_tokens=1024).advice
    assert line.startswith("1 of 1 rollouts (100.0 %) were cut off")


def test_each_kind_of_malformed_call_has_its_own_remedy() -> None:
    rollouts = [outcome(0, 0, malformed=("bad_json", "bad_json")), outcome(1, 0, malformed=("prose",)), outcome(2)]
    summary = summarize(rollouts)
    assert (summary.malformed, summary.malformed_rollouts) == ({"bad_json": 2, "prose": 1}, 2)
    assert [line.split(": ")[0] for line in summary.advice] == [
        "1 of 3 rollouts (33.3 %) had a malformed call (bad_json)",
        "1 of 3 rollouts (33.3 %) had a malformed call (prose)",
    ]


def test_faults_come_first_with_the_way_to_redo_them() -> None:
    assert summarize(pattern("11x")).advice[0].endswith("redo them with --retry-faults")
