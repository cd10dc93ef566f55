"""Votes: majority, ties, and stopping early without another outcome."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.envs.groupqc.pack.schema import TicketVerdict
from whet.envs.groupqc.verdict.votes import Ballot, DecodeSettings, Votes, draws_wanted, settled, still_needed
from whet.errors import WhetError

DRAWS = st.lists(st.sampled_from(["pass", "fail", None]), min_size=1, max_size=9)


def stopped_early(calls: list[TicketVerdict | None]) -> Votes:
    votes = Votes()
    while wanted := draws_wanted(votes, len(calls), sequential=True):
        taken = len(votes.calls)
        votes = Votes((*votes.calls, *calls[taken : taken + wanted]))
    return votes


def test_a_tie_means_fail() -> None:
    assert Votes(("pass", "fail")).majority == "fail"


def test_invalid_draws_do_not_vote() -> None:
    assert Votes(("pass", None, None)).majority == "pass"


def test_a_ticket_without_a_valid_draw_has_no_majority() -> None:
    votes = Votes((None, None))
    assert (votes.majority, votes.agreement, votes.difficulty, votes.confidence) == (None, 0.0, 0.5, 0.0)


def test_agreement_is_among_valid_draws_and_confidence_among_all() -> None:
    votes = Votes(("pass", "pass", "fail", None))
    assert (votes.agreement, votes.confidence) == (2 / 3, 0.5)


def test_only_a_wrong_majority_is_hard_wrong() -> None:
    votes = Votes(("pass", "pass", "fail"))
    assert (votes.hard_wrong("pass"), votes.hard_wrong("fail")) == (0.0, 2 / 3)


@given(DRAWS)
def test_stopping_when_settled_never_changes_the_majority(calls: list[TicketVerdict | None]) -> None:
    assert stopped_early(calls).majority == Votes(tuple(calls)).majority


@given(DRAWS)
def test_voting_stops_exactly_when_no_future_could_change_the_majority(calls: list[TicketVerdict | None]) -> None:
    taken, left = calls[: len(calls) // 2], min(len(calls) - len(calls) // 2, 3)
    futures = itertools.product(["pass", "fail", None], repeat=left)
    outcomes = {Votes((*taken, *future)).majority for future in futures}
    assert settled(Votes(tuple(taken)), len(taken) + left) == (len(outcomes) == 1)


def test_three_draws_that_agree_are_decided_by_two() -> None:
    assert len(stopped_early(["fail", "fail", "pass"]).calls) == 2


def test_four_draws_are_decided_by_two_fails_because_a_tie_fails() -> None:
    assert still_needed(Votes(), 4) == 2


def test_without_stopping_every_draw_is_taken() -> None:
    assert draws_wanted(Votes(("pass", "pass")), 5, sequential=False) == 3


def test_a_prefix_of_the_plan_is_spread_over_the_grid() -> None:
    ballot = Ballot((DecodeSettings(0.3), DecodeSettings(0.7)), samples=2)
    assert [ballot.decode(draw).temperature for draw in range(ballot.draws)] == [0.3, 0.7, 0.3, 0.7]


@pytest.mark.parametrize("text", ["warm", "9", "0.3/0", "0.3/1.5"])
def test_a_decode_that_cannot_be_is_refused(text: str) -> None:
    with pytest.raises(WhetError, match="decode"):
        DecodeSettings.parse(text)


def test_an_empty_vote_is_refused() -> None:
    with pytest.raises(WhetError, match="at least one"):
        Ballot((), 1)
