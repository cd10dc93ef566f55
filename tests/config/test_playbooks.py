"""A playbook comes from Markdown, JSON or a folder, and a broken one is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from whet.config.playbooks import read_playbook, write_playbook
from whet.errors import WhetError
from whet.types import Example, Playbook

WHOLE = Playbook("Body.", (Example("q", "a"),), {"ref/x.md": "text"})


def test_blank_is_the_empty_playbook() -> None:
    assert read_playbook("blank").blank


def test_markdown_is_a_body(tmp_path: Path) -> None:
    (tmp_path / "p.md").write_text("# Skill\n\nDo it.\n")
    assert read_playbook(str(tmp_path / "p.md")) == Playbook("# Skill\n\nDo it.")


def test_json_holds_all_of_it(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_bytes(write_playbook(WHOLE))
    assert read_playbook(str(tmp_path / "p.json")) == WHOLE


def test_a_folder_is_a_skill_with_examples_and_files(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_text("Body.\n")
    (tmp_path / "examples.jsonl").write_text('{"question": "q", "answer": "a"}\n')
    (tmp_path / "ref").mkdir()
    (tmp_path / "ref" / "x.md").write_text("text")
    assert read_playbook(str(tmp_path)) == WHOLE


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.md", None, "no such playbook"),
        ("p.json", b"{", "not valid JSON"),
        ("p.json", b"[]", "an object with bank, body, examples, files, hindsight, nearest, reminders, rules"),
        ("p.json", b'{"examples": [{"question": "q"}]}', "example 1 needs"),
        (
            "p.json",
            b'{"boddy": ""}',
            "an object with bank, body, examples, files, hindsight, nearest, reminders, rules",
        ),
        ("p.md", b"\xff\xfe\x00", "cannot be read"),
    ],
)
def test_a_broken_playbook_is_named(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(WhetError, match=message) as raised:
        read_playbook(str(tmp_path / name))
    assert name in str(raised.value)


def test_a_folder_without_a_skill_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match=r"needs a SKILL\.md"):
        read_playbook(str(tmp_path))
