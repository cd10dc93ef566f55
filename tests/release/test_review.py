"""The review queue: open, claimed, resolved; two reviewers; what they decide comes back as labels."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from ticket_desk import promoted, ruled, spoken, tickets

from whet.envs.groupqc.environment import GroupQc
from whet.errors import WhetError
from whet.release.cases import ReviewCase
from whet.release.decider import open_decider
from whet.release.decision import DecisionRule, WorkDecision
from whet.release.review import ReviewQueue, queue_of, write_labels
from whet.release.trail import Trail
from whet.release.upkeep import redact_ticket

PASSES = "Verdict: pass\nReason: Image1: fine"


def queue(releases: Path, lines: list[bytes], *, double: float = 0.0) -> ReviewQueue:
    """A queue with a case for each ticket: the champion passes them, and nothing bounds false releases."""
    model = spoken(lambda request: PASSES)
    champion = promoted(releases, model)
    ruled(releases, champion, DecisionRule(double=double, salt="salt"))

    async def work() -> list[WorkDecision]:
        async with open_decider(champion, releases, model=model) as decider:
            return [await decider.decide(line) for line in lines]

    found = asyncio.run(work())
    assert all(decision.case for decision in found)
    return queue_of(releases)


def test_a_case_goes_from_open_to_claimed_to_resolved(tmp_path: Path) -> None:
    review = queue(tmp_path, tickets(2))
    first, _ = review.cases()
    assert review.claim(first.number, "ann").state == "claimed"
    assert review.resolve(first.number, "ann", "fail", comment="rust\non the hose").outcome == "fail"
    assert [case.state for case in review.cases()] == ["resolved", "open"]
    review.trail.close()
    assert Trail.of(tmp_path).verify() == []


def test_two_reviewers_on_one_case_are_refused_and_nothing_changes(tmp_path: Path) -> None:
    review = queue(tmp_path, tickets(1))
    (case,) = review.cases()
    review.claim(case.number, "ann")
    before = review.trail.head()
    for move in (
        lambda: review.claim(case.number, "bob"),
        lambda: review.resolve(case.number, "bob", "pass"),
        lambda: review.hand_back(case.number, "bob"),
    ):
        with pytest.raises(WhetError, match="ann is at it"):
            move()
    assert review.trail.head() == before
    assert review.hand_back(case.number, "ann").state == "open"
    assert review.claim(case.number, "bob").holder == "bob"


@pytest.mark.parametrize(
    ("number", "reviewer", "verdict", "said"),
    [
        (10_000, "ann", "pass", "there is no case"),
        (0, "ann", "maybe", "is no verdict"),
        (0, "", "pass", "say who reviews"),
        (0, "a\x1bb", "pass", "say who reviews"),
        (0, "ann", "pass", "nobody has claimed it"),
    ],
)
def test_a_move_that_cannot_be_made_is_one_line(
    tmp_path: Path, number: int, reviewer: str, verdict: str, said: str
) -> None:
    review = queue(tmp_path, tickets(1))
    case = review.cases()[0].number
    with pytest.raises(WhetError, match=said):
        review.resolve(number or case, reviewer, verdict)


def test_two_reviewers_who_disagree_are_followed_by_a_third(tmp_path: Path) -> None:
    review = queue(tmp_path, tickets(1), double=1.0)
    number = review.cases()[0].number

    def said(who: str, verdict: str) -> ReviewCase:
        review.claim(number, who)
        return review.resolve(number, who, verdict)

    assert said("ann", "pass").state == "open"
    with pytest.raises(WhetError, match="has decided it already"):
        review.claim(number, "ann")
    second = said("bob", "fail")
    assert (second.state, second.code) == ("open", "disagreement")
    third = said("cy", "fail")
    assert (third.state, third.outcome) == ("resolved", "fail")
    figures = review.figures()
    assert (figures.doubled, figures.doubled_agreed) == (1, 0)


@pytest.mark.parametrize("again", ["Ann", "ANN ", "ａｎｎ", "a\u0301nn"])
def test_one_person_in_two_spellings_is_one_reviewer(again: str, tmp_path: Path) -> None:
    review = queue(tmp_path, tickets(1), double=1.0)
    number = review.cases()[0].number
    first = "ánn" if again.startswith("a\u0301") else "ann"
    review.claim(number, first)
    review.resolve(number, first, "pass")
    before = review.trail.head()
    with pytest.raises(WhetError, match="has decided it already"):
        review.claim(number, again)
    assert review.trail.head() == before


def test_a_case_of_a_ticket_that_changed_is_not_decided_by_mistake(tmp_path: Path) -> None:
    line = tickets(1)[0]
    row = json.loads(line)
    row["per_image"][next(iter(row["per_image"]))] += " (retaken)"
    review = queue(tmp_path, [line, json.dumps(row).encode()])
    old, new = sorted(review.cases(), key=lambda case: case.number)
    review.claim(old.number, "ann")
    with pytest.raises(WhetError, match="handed in again"):
        review.resolve(old.number, "ann", "fail")
    with pytest.raises(WhetError, match="it changed; look again"):
        review.resolve(old.number, "ann", "fail", ticket=new.ticket)
    assert review.resolve(old.number, "ann", "fail", as_it_was=True).outcome == "fail"


def test_decisions_come_back_as_labels_with_provenance_that_training_takes(tmp_path: Path) -> None:
    review = queue(tmp_path, tickets(6))
    for case, verdict in zip(review.cases(), ("pass", "fail") * 3, strict=True):
        review.claim(case.number, "ann")
        review.resolve(case.number, "ann", verdict)
    file = tmp_path / "labels.jsonl"
    assert write_labels(review, file) == 6
    rows = [json.loads(line) for line in file.read_bytes().splitlines()]
    assert [row["label"] for row in rows] == ["pass", "fail"] * 3
    assert rows[0]["label_source"] == "review:no_threshold"
    assert rows[0]["provenance"]["reviewers"] == ["ann"]
    assert rows[0]["provenance"]["champion"] == "site@v1"
    env = GroupQc(str(file), {})
    assert sum(env.size(split) or 0 for split in ("train", "select", "test")) == 6


def test_a_redacted_ticket_gives_no_label_and_cannot_be_read_in_any_file(tmp_path: Path) -> None:
    review = queue(tmp_path, tickets(2))
    name = review.decision(review.cases()[0]).name
    for case in review.cases():
        review.claim(case.number, "ann")
        own = case.ticket == review.cases()[0].ticket
        review.resolve(case.number, "ann", "pass", comment=f"spoke to {name}" if own else "")
    ticket = review.cases()[0].ticket
    review.trail.close()
    list(redact_ticket(tmp_path, ticket, (), "asked to be forgotten", "dpo"))
    assert len(list(review.labels())) == 1
    assert Trail.of(tmp_path).verify() == []
    assert review.decision(review.cases()[0]).name == ""
    held = [file for file in tmp_path.rglob("*") if file.is_file() and name.encode() in file.read_bytes()]
    assert not held


def test_a_case_that_was_turned_around_with_sqlite_is_found(tmp_path: Path) -> None:
    import sqlite3

    review = queue(tmp_path, tickets(1))
    with sqlite3.connect(review.trail.path) as db:
        db.execute("UPDATE cases SET state = 'resolved', outcome = 'pass'")
    assert any("not what its entries say" in line for line in review.trail.verify())
