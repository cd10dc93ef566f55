"""A rule book stands where the mission's prompt has its rules."""

from __future__ import annotations

from dataclasses import replace

import pytest

from whet.envs.groupqc.environment import GroupQc
from whet.models.scripted import Scripted
from whet.rollout.conversation import Conversation
from whet.rollout.placement import place_rules
from whet.rollout.player import Player, Seat
from whet.types import Image, Playbook, Policy, Rule, user

BOOK = (
    Rule("S1", "Look twice."),
    Rule("G0", "All must be green."),
    Rule("G2", "Red fails."),
    Rule("G10", "Blue passes."),
)


@pytest.mark.parametrize("mission", ["fire door", "extinguisher", "BBU接地线检查", "RRU线缆"])
@pytest.mark.parametrize("shown", ["seed", "none"])
def test_the_missions_own_rules_as_a_book_give_the_missions_own_prompt(mission: str, shown: str) -> None:
    env = GroupQc("", {"mission": _known(mission), "rules": shown})
    whole = GroupQc("", {"mission": _known(mission)})
    for index in range(4):
        task = env.task("train", index)
        book = Playbook(rules=tuple(env.rule_book(task)))
        step = next(env.play(task))
        assert place_rules(book, step.messages, step.rules) == whole.task("train", index).messages


def test_rules_of_a_book_take_the_place_of_the_missions_own() -> None:
    env = GroupQc("", {"pack": "firesafety"})
    task = env.task("train", 0)
    own = env.rule_book(task)
    step = next(env.play(task))
    text = place_rules(Playbook(rules=BOOK), step.messages, step.rules)[-1].text
    assert (
        "Focus: All must be green.\nStructural rules:\n1. Look twice.\nRules:\n1. Red fails.\n2. Blue passes.\n" in text
    )
    assert not any(rule.text in text for rule in own)
    assert text.endswith(task.messages[-1].text[-200:])


def test_what_is_not_active_is_not_told_and_an_empty_list_has_no_heading() -> None:
    env = GroupQc("", {"pack": "firesafety"})
    step = next(env.play(env.task("train", 0)))
    quiet = tuple(replace(rule, status="shadow") if rule.sort == "G" else rule for rule in BOOK)
    text = place_rules(Playbook(rules=quiet), step.messages, step.rules)[-1].text
    assert "Red fails" not in text
    assert "\nRules:" not in text


def test_without_a_place_of_its_own_a_book_stands_at_the_beginning_of_the_question() -> None:
    placed = place_rules(Playbook(rules=BOOK), (user("Which colour?"),))
    assert placed[-1].text.startswith(
        "Rules:\n1. Look twice.\n2. All must be green.\n3. Red fails.\n4. Blue passes.\n\nW"
    )
    picture = Image("0" * 64)
    assert place_rules(Playbook(rules=BOOK[1:2]), (user((picture, "?")),))[-1].content == (
        "Rules:\n1. All must be green.\n\n",
        picture,
        "?",
    )


def test_the_conversation_says_the_rules_and_its_turn_keeps_them() -> None:
    env = GroupQc("", {"pack": "firesafety"})
    task = env.task("train", 0)
    model = Scripted(lambda request: "Verdict: pass\nReason: fine")
    seat = Seat(Policy(model.fingerprint, playbook=Playbook(body="Be brief.", rules=BOOK)), Player(model))
    plain = Seat(Policy(model.fingerprint), Player(model))
    conversation = Conversation(task, env.play(task), {"target": seat}, "ab" * 16)
    other = Conversation(task, env.play(task), {"target": plain}, "ab" * 16)
    request = conversation.next()
    assert "Red fails." in request.messages[-1].text
    assert "Red fails." not in request.messages[0].text
    assert conversation.request_hash() != other.request_hash()


def _known(mission: str) -> str:
    names = GroupQc("", {})._missions
    return mission if mission in names else next(name for name in names if mission.split()[0] in name.casefold())
