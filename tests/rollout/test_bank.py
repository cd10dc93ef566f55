"""Of a bank of worked examples each task gets the nearest: never itself, never one of its group."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.config.playbooks import read_playbook, write_playbook
from whet.envs.neighbours import Neighbours
from whet.errors import WhetError
from whet.keys import policy_digest, question_digest
from whet.learn.documents import write_folder
from whet.rollout.placement import for_task, place
from whet.types import Example, Message, Playbook, Policy, ToolCall, assistant, tool_result, user

FRUIT = ("apples and pears", "apples in boxes", "bolts of steel", "boxes of steel bolts", "pears")
BANK = tuple(Example(f"Please send me {what} today", what.upper()) for what in FRUIT)


def shown(playbook: Playbook, question: str) -> list[str]:
    return [example.answer for example in for_task(playbook, (user(question),)).examples]


def test_the_most_like_stands_last_and_the_rest_of_the_bank_nowhere() -> None:
    placed = place(Playbook(bank=BANK, nearest=2), (user("Please send me apples and figs today"),))
    assert [message.text for message in placed[1::2]] == ["APPLES IN BOXES", "APPLES AND PEARS"]
    assert placed[-1] == user("Please send me apples and figs today")
    assert len(placed) == 5


def test_a_task_is_never_shown_its_own_example_however_it_is_spaced() -> None:
    asked = "please send  me BOLTS of steel today"
    assert "BOLTS OF STEEL" not in shown(Playbook(bank=BANK, nearest=5), asked)
    assert len(shown(Playbook(bank=BANK, nearest=5), asked)) == 4


def test_a_task_is_never_shown_an_example_of_its_group() -> None:
    asked = "Please send me bolts of copper today"
    tied = tuple(Example(example.question, example.answer, kin=(question_digest(asked),)) for example in BANK[2:4])
    assert set(shown(Playbook(bank=(*BANK[:2], *tied), nearest=4), asked)) == {"APPLES AND PEARS", "APPLES IN BOXES"}


def test_what_stands_before_every_task_is_not_shown_twice() -> None:
    both = Playbook(examples=BANK[:1], bank=BANK, nearest=1)
    assert shown(both, "Please send me apples and pears and figs today") == ["APPLES AND PEARS", "PEARS"]


def test_a_bank_of_which_nothing_is_shown_changes_no_prompt() -> None:
    assert place(Playbook(bank=BANK), (user("task"),)) == (user("task"),)


def test_calls_of_examples_have_ids_that_no_other_has() -> None:
    call = ToolCall("1", "look_up", {"item": "bolts"})
    steps = (Message("assistant", "", (call,)), tool_result(call, "12 pieces"))
    worked = tuple(Example(f"How many {what}?", "12", steps) for what in ("bolts", "lamps"))
    placed = place(Playbook(examples=worked), (user("How many pumps?"),))
    calls = [call.id for message in placed for call in message.calls]
    assert calls == [message.call_id for message in placed if message.call_id]
    assert len(set(calls)) == 2
    assert worked[0].told == '[call look_up {"item": "bolts"}]\n[result] 12 pieces\n12'


def test_the_bank_is_part_of_the_policy() -> None:
    playbooks = (
        Playbook(),
        Playbook(bank=BANK, nearest=1),
        Playbook(bank=BANK, nearest=2),
        Playbook(bank=BANK[1:], nearest=1),
    )
    assert len({policy_digest(Policy("m", playbook=playbook)) for playbook in playbooks}) == 4


def test_a_policy_without_a_bank_is_called_what_it_was_called_before_there_were_banks() -> None:
    policy = Policy("m", playbook=Playbook("b", (Example("q", "a"),), {"f": "x"}, "h", ("r",)))
    assert policy_digest(policy) == "bb139519a2c1165dd82c820811a37613"


def test_a_playbook_with_a_bank_can_be_written_and_read(tmp_path) -> None:  # type: ignore[no-untyped-def]
    call = ToolCall("1", "look_up", {"item": "bolts"}, "{}")
    steps = (Message("assistant", "", (call,)), tool_result(call, "12"), assistant("Hm."))
    playbook = Playbook("body", bank=(Example("q", "a", steps, ("0123",)), *BANK), nearest=3)
    (tmp_path / "p.json").write_bytes(write_playbook(playbook))
    assert read_playbook(str(tmp_path / "p.json")) == playbook
    write_folder(tmp_path / "folder", Playbook("body", bank=playbook.bank, nearest=4))
    assert read_playbook(str(tmp_path / "folder")) == Playbook("body", bank=playbook.bank, nearest=4)


@pytest.mark.parametrize("wrong", ['{"bank": [{"question": "q"}]}', '{"nearest": -1}', '{"nearest": "all"}'])
def test_a_bank_that_is_none_is_refused(tmp_path, wrong: str) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "p.json").write_text(wrong)
    with pytest.raises(WhetError, match=r"of the bank|whole number"):
        read_playbook(str(tmp_path / "p.json"))


@given(st.lists(st.text(max_size=30), max_size=12), st.text(max_size=30), st.integers(0, 14))
def test_any_texts_have_an_order(texts: list[str], asked: str, many: int) -> None:
    found = Neighbours(texts).nearest(asked, many, without=[0])
    assert len(found) == min(many, max(0, len(texts) - 1))
    assert found == Neighbours(list(texts)).nearest(asked, many, without=[0])
    assert set(found) <= set(range(1, len(texts)))


def test_a_word_in_another_form_is_found_by_its_pieces() -> None:
    assert Neighbours(["repairing a bicycle", "the price of bread"]).nearest("repaired bicycles", 1) == [0]
