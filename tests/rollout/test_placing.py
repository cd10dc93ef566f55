"""Where a playbook stands in a conversation."""

from __future__ import annotations

from whet.rollout.placement import place
from whet.types import Example, Playbook, assistant, system, user


def test_a_blank_playbook_changes_nothing() -> None:
    assert place(Playbook(), (user("task"),)) == (user("task"),)


def test_the_body_joins_the_tasks_own_system_text() -> None:
    assert place(Playbook("skill"), (system("rules"), user("task"))) == (system("rules\n\nskill"), user("task"))


def test_examples_alone_need_no_system_text() -> None:
    placed = place(Playbook(examples=(Example("q", "a"),)), (user("task"),))
    assert placed == (user("q"), assistant("a"), user("task"))


def test_files_follow_the_body_under_their_names() -> None:
    placed = place(Playbook("skill", files={"b.md": "B", "a.md": "A"}), (user("task"),))
    assert placed[0] == system("skill\n\n## a.md\nA\n\n## b.md\nB")
