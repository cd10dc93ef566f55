"""Edits on a structured playbook: found exactly once, never moved, never into another field."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.learn.reflact.edits import apply_item, apply_items, find, size
from whet.learn.reflact.records import AddExample, AddNote, Draft, Edit, EditOutcome
from whet.types import Example, Playbook

BODY = "# Rules\n\nCheck the sum.\nAnswer in one word.\n\nNever guess."
FULL = Playbook(BODY, (Example("q", "a"),), {"ref.md": "Units are metres."}, "Keep calm.", ("Mind the sign.",))


def applied(edit: Edit, playbook: Playbook = FULL) -> tuple[Playbook, EditOutcome]:
    return apply_item(playbook, edit)


@pytest.mark.parametrize(
    ("edit", "body"),
    [
        (Edit("append", "Be brief."), f"{BODY}\n\nBe brief."),
        (
            Edit("insert_after", "Twice.", "Check the sum"),
            "# Rules\n\nCheck the sum.\nTwice.\nAnswer in one word.\n\nNever guess.",
        ),
        (
            Edit("replace", "Answer in two words.", "Answer in one word."),
            "# Rules\n\nCheck the sum.\nAnswer in two words.\n\nNever guess.",
        ),
        (Edit("delete", "", "Never guess."), "# Rules\n\nCheck the sum.\nAnswer in one word."),
    ],
)
def test_each_operation_changes_the_body_and_nothing_else(edit: Edit, body: str) -> None:
    after, row = applied(edit)
    assert row.status == f"applied_{edit.op}"
    assert after == Playbook(body, FULL.examples, FULL.files, FULL.hindsight, FULL.reminders)


def test_a_target_that_is_missing_is_not_moved_to_the_end() -> None:
    after, row = applied(Edit("insert_after", "New.", "Check the product."))
    assert after == FULL
    assert row.status == "skipped_unmatched"
    assert "Check the sum." in row.detail


def test_a_target_found_twice_is_refused() -> None:
    _, row = apply_item(Playbook("Add it.\nAdd it."), Edit("delete", "", "Add it."))
    assert row.status == "skipped_ambiguous"


def test_spaces_are_forgiven_where_the_match_stays_unique() -> None:
    after, row = applied(Edit("replace", "Ask first.", "Answer  in one\n word."))
    assert row.applied
    assert "Ask first." in after.body


def test_an_append_of_what_is_there_is_a_duplicate() -> None:
    _, row = applied(Edit("append", "  never GUESS. "))
    assert row.status == "skipped_duplicate"


def test_a_replacement_by_the_same_text_is_no_edit() -> None:
    _, row = applied(Edit("replace", "Never guess.", "Never guess."))
    assert row.status == "skipped_duplicate"


@pytest.mark.parametrize("field", ["guidance", "notes", "examples", "slow_update", "APPENDIX"])
def test_a_protected_field_is_out_of_reach(field: str) -> None:
    after, row = applied(Edit("append", "x", where=field))
    assert (after, row.status) == (FULL, "skipped_protected")


def test_an_edit_that_runs_into_what_follows_the_body_finds_no_target() -> None:
    """In one long string a target could begin in the body and end inside the guidance, and destroy its marker."""
    rendered = FULL.text
    across = rendered[rendered.index("Never guess.") : rendered.index("Keep calm.") + 4]
    after, row = applied(Edit("replace", "gone", across))
    assert (after, row.status) == (FULL, "skipped_unmatched")


def test_a_rewrite_cannot_lose_guidance_notes_examples_or_files() -> None:
    after, _ = apply_item(FULL, Draft("All new."))
    assert after == Playbook("All new.", FULL.examples, FULL.files, FULL.hindsight, FULL.reminders)


def test_files_are_edited_by_name_and_new_ones_made_by_append() -> None:
    after, _ = apply_items(
        FULL,
        [Edit("replace", "Units are feet.", "Units are metres.", "ref.md"), Edit("append", "print(1)", where="a.py")],
        9999,
    )
    assert after.files == {"ref.md": "Units are feet.", "a.py": "print(1)"}
    assert after.body == BODY


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../b"])
def test_no_edit_makes_a_file_outside(name: str) -> None:
    after, row = applied(Edit("append", "x", where=name))
    assert (after, row.status) == (FULL, "skipped_unmatched")


def test_an_unknown_operation_is_named() -> None:
    _, row = applied(Edit("prepend", "x"))
    assert row.status == "skipped_unknown_op"
    assert "append" in row.detail


def test_an_edit_beyond_the_length_budget_is_left_out_and_the_next_still_fits() -> None:
    after, rows = apply_items(Playbook(), [Edit("append", "x" * 900), Edit("append", "short")], 500)
    assert [row.status for row in rows] == ["skipped_too_long", "applied_append"]
    assert after.body == "short"


def test_a_playbook_that_is_already_too_long_may_still_shrink() -> None:
    after, rows = apply_items(Playbook("a" * 300 + "\n" + "b" * 300), [Edit("delete", "", "b" * 300)], 200)
    assert rows[0].applied
    assert size(after) < 600


def test_notes_that_differ_in_case_and_punctuation_are_one() -> None:
    _, row = apply_item(FULL, AddNote("mind the SIGN!"))
    assert row.status == "skipped_duplicate"


def test_an_example_takes_the_place_of_another() -> None:
    after, row = apply_item(FULL, AddExample(Example("q2", "a2"), "train/1", 0))
    assert row.status == "applied_exchange_example"
    assert after.examples == (Example("q2", "a2"),)


def test_a_question_stands_among_the_examples_once() -> None:
    _, row = apply_item(FULL, AddExample(Example("q", "other"), "train/1"))
    assert row.status == "skipped_duplicate"


texts = st.text(st.sampled_from("ab \n."), max_size=30)
edits = st.builds(Edit, st.sampled_from(["append", "insert_after", "replace", "delete", "?"]), texts, texts)


@given(texts, st.lists(edits, max_size=6))
def test_whatever_is_proposed_other_fields_stay_and_every_item_has_a_row(body: str, items: list[Edit]) -> None:
    before = Playbook(body, FULL.examples, FULL.files, FULL.hindsight, FULL.reminders)
    after, rows = apply_items(before, items, 10_000)
    assert len(rows) == len(items)
    assert (after.examples, after.files, after.hindsight, after.reminders) == (
        before.examples,
        before.files,
        before.hindsight,
        before.reminders,
    )
    if not any(row.applied for row in rows):
        assert after == before


@given(texts, texts)
def test_what_is_found_says_the_target(text: str, target: str) -> None:
    found = find(text, target)
    if not isinstance(found, str):
        start, end = found
        assert text[start:end].split() == target.split()
