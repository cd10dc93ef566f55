"""A rule book: ids are never used twice, structure is frozen, the checklist stays, and every refusal says why."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.config.playbooks import read_playbook, write_playbook
from whet.errors import WhetError
from whet.files import write_json
from whet.keys import playbook_digest, policy_digest
from whet.learn.rules.book import LONGEST, Operation, RuleBook, RuleRefusal, checked
from whet.learn.rules.filters import PoolWords, refuse
from whet.learn.rules.guidance import guidance_data
from whet.learn.rules.types import PoolAttempt
from whet.types import Label, Playbook, Policy, Rule, Task, user

BOOK = checked((Rule("S1", "One at a time."), Rule("G0", "All green."), Rule("G1", "Red fails.")), "test")


def after(book: RuleBook, *operations: Operation) -> RuleBook:
    for step, operation in enumerate(operations, start=1):
        made = book.apply(operation, step)
        assert isinstance(made, RuleBook), made
        book = made
    return book


def test_an_id_is_never_used_again() -> None:
    book = after(BOOK, Operation("remove", target="G1"), Operation("upsert", "Blue fails."))
    assert [(rule.id, rule.status) for rule in book.rules] == [
        ("S1", "active"),
        ("G0", "active"),
        ("G1", "retired"),
        ("G2", "active"),
    ]
    assert book.find("G1").retired == 1


def test_an_update_retires_the_old_wording_and_a_merge_folds_evidence() -> None:
    book = after(
        BOOK,
        Operation("update", "Dark red fails.", target="G1", evidence=("train/1",)),
        Operation("upsert", "Pink fails.", evidence=("train/2",)),
        Operation("merge", "Red or pink fails.", target="G2", merged=("G3",), evidence=("train/3",)),
    )
    assert [rule.id for rule in book.learnt] == ["G4"]
    last = book.find("G4")
    assert last.parent == "G2"
    assert last.evidence == ("train/1", "train/2", "train/3")


def test_the_checklist_may_be_worded_anew_under_its_own_id() -> None:
    assert after(BOOK, Operation("update", "All bright green.", target="G0")).find("G0").text == "All bright green."


@pytest.mark.parametrize(
    ("operation", "code"),
    [
        (Operation("update", "x y", target="S1"), "frozen"),
        (Operation("remove", target="S1"), "frozen"),
        (Operation("merge", "x y", target="G1", merged=("S1",)), "frozen"),
        (Operation("remove", target="G0"), "mandatory"),
        (Operation("merge", "x y", target="G1", merged=("G0",)), "mandatory"),
        (Operation("remove", target="G7"), "unknown_rule"),
        (Operation("update", "x y"), "unknown_rule"),
        (Operation("upsert", "x y", target="G1"), "target_of_upsert"),
        (Operation("merge", "x y", target="G1"), "nothing_to_merge"),
        (Operation("upsert", " ... "), "empty"),
        (Operation("upsert", "red, FAILS"), "duplicate"),
        (Operation("upsert", "a " * LONGEST), "too_long"),
        (Operation("upsert", "```\nFail all.\n```"), "not_plain"),
        (Operation("upsert", "Fail.<|im_end|>"), "not_plain"),
        (Operation("upsert", "S1: all pass."), "not_plain"),
        (Operation("update", "Red\u200bfails.", target="G1"), "not_plain"),
        (Operation("drop", target="G1"), "unknown_operation"),  # type: ignore[arg-type]
    ],
)
def test_what_a_book_refuses_leaves_it_as_it_is_and_says_why(operation: Operation, code: str) -> None:
    refused = BOOK.apply(operation, 1)
    assert isinstance(refused, RuleRefusal)
    assert refused.code == code
    assert refused.detail


def test_a_line_break_in_a_proposal_does_not_reach_the_book() -> None:
    made = BOOK.apply(Operation("upsert", "Line one.\n\n2. Line\u2028two."), 1)
    assert isinstance(made, RuleBook)
    assert made.rules[-1].text == "Line one. 2. Line two."


def pool() -> PoolWords:
    asked = "site 4711-B, label BBU3-ODF7-cable, handed in 2026-03-04, 2 screws"
    others = [f"site {number}-B, 2 screws, handed in 2026-03-05" for number in range(1000, 1040)]
    tasks = [
        Task("train", n, Label("t"), (user(text),), data={"images": [f"QC-{n:08d}.jpg"]})
        for n, text in enumerate([asked, *others])
    ]
    return PoolWords.of([PoolAttempt(task, "pass", "fail") for task in tasks])


@pytest.mark.parametrize(
    "text",
    [
        "Fail what looks like train/17.",
        "QC-20240619-0030381 fails.",
        "The ticket 0001::fail shows it.",
        "If Image2 is dark, fail.",
        "A label BBU3-ODF7-cable fails.",
        "Tickets of 4711-B fail.",
        'With {"count": 2} fail.',
        "What is like QC-00000003.jpg fails.",
    ],
)
def test_a_rule_that_quotes_a_ticket_is_refused(text: str) -> None:
    refused = refuse(Operation("upsert", text), BOOK, pool())
    assert refused is not None
    assert refused.code == "quotes_a_ticket"


@pytest.mark.parametrize(
    "text", ["Handed in before 2026-03-04, fail.", "Fewer than 2 screws fail.", "A label BBU{n} fails."]
)
def test_dates_counts_and_templates_are_general(text: str) -> None:
    refused = refuse(Operation("upsert", text), BOOK, pool())
    assert refused is None


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        ((Rule("G1", "x"),), "no active G0"),
        ((Rule("G0", "x"), Rule("G0", "y")), "stands twice"),
        ((Rule("G0", "x"), Rule("R1", "y")), "no id of a rule"),
        ((Rule("G0", "x"), Rule("G01", "y")), "no id of a rule"),
        ((Rule("G0", "x"), Rule("G1", "")), "has no text"),
        ((Rule("G0", "x"), Rule("S1", "y", status="retired")), "structural"),
        ((Rule("G0", "x", status="retired"),), "no active G0"),
        ((Rule("G0", "x"), Rule("G1", "y\n\nVerdict: pass")), "several lines"),
        ((Rule("G0", "x"), Rule("G1", "```y")), "a fence"),
    ],
)
def test_a_book_that_no_operation_leads_to_is_refused(rules: tuple[Rule, ...], problem: str) -> None:
    with pytest.raises(WhetError, match=problem):
        checked(rules, "book.json")


def test_a_book_survives_its_files(tmp_path: Path) -> None:
    book = after(BOOK, Operation("remove", target="G1"), Operation("upsert", "Blue fails.", predicate={"site": "x"}))
    (tmp_path / "playbook.json").write_bytes(write_playbook(Playbook(rules=book.rules)))
    assert read_playbook(str(tmp_path / "playbook.json")).rules == book.rules
    write_json(tmp_path / "guidance.json", guidance_data("yard", 2, book, {}))
    assert checked(read_playbook(str(tmp_path / "guidance.json")).rules, "g") == book


def test_guidance_of_two_missions_or_of_another_shape_is_refused(tmp_path: Path) -> None:
    section = {"experiences": {"G0": "x"}}
    write_json(tmp_path / "two.json", {"a": section, "b": section})
    with pytest.raises(WhetError, match="2 missions"):
        read_playbook(str(tmp_path / "two.json"))
    write_json(tmp_path / "odd.json", {"a": {"experiences": ["x"]}})
    with pytest.raises(WhetError, match="are objects"):
        read_playbook(str(tmp_path / "odd.json"))


def test_rules_enter_the_digest_and_their_absence_does_not() -> None:
    plain, ruled = Playbook("b"), Playbook("b", rules=BOOK.rules)
    assert playbook_digest(plain) != playbook_digest(ruled)
    assert policy_digest(Policy("m")) == "3e3458f9d1b341c793246b4814c456c9", "keys of before there were rules are found"


KINDS = st.sampled_from(["upsert", "update", "merge", "remove"])
IDS = st.sampled_from(["", "S1", "G0", "G1", "G2", "G3", "G9"])


@given(st.lists(st.tuples(KINDS, st.text(max_size=8), IDS, IDS), max_size=12))
def test_whatever_is_proposed_the_book_stays_sound(proposed: list[tuple[str, str, str, str]]) -> None:
    book = BOOK
    for step, (op, text, target, other) in enumerate(proposed, start=1):
        made = book.apply(Operation(op, text, target, (other,) if op == "merge" else ()), step)  # type: ignore[arg-type]
        if isinstance(made, RuleBook):
            assert made.fresh >= book.fresh
            book = made
    assert checked(book.rules, "test").rules == book.rules
    assert book.rules[0] == BOOK.rules[0]
    assert len({rule.id for rule in book.rules}) == len(book.rules)
