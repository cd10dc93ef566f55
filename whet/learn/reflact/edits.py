"""Applies items to a playbook. A target must be found exactly once; nothing is moved, guessed or silently dropped.

Body, examples, hindsight, reminders and files are fields: an edit names one text and cannot reach into another.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from whet.learn.reflact.records import OPS, AddExample, AddNote, Draft, Edit, EditOutcome, FillBank, Item
from whet.types import Playbook

PROTECTED = ("examples", "bank", "guidance", "hindsight", "notes", "reminders", "appendix", "slow_update")
"""Fields that an edit of the optimiser's may not name."""


def apply_items(playbook: Playbook, items: Iterable[Item], max_bytes: int) -> tuple[Playbook, tuple[EditOutcome, ...]]:
    """The playbook with `items` in it, one after the other, and what became of each."""
    rows: list[EditOutcome] = []
    for item in items:
        after, row = apply_item(playbook, item)
        if row.applied and size(after) > max(max_bytes, size(playbook)):
            row = EditOutcome(item, "skipped_too_long", f"{size(after)} bytes, at most {max_bytes}")
        if row.applied:
            playbook = after
        rows.append(row)
    return playbook, tuple(rows)


def size(playbook: Playbook) -> int:
    """Bytes of what the target reads in every prompt: text and files; examples are counted by number."""
    return len(playbook.text.encode()) + sum(len(text.encode()) for text in playbook.files.values())


def apply_item(playbook: Playbook, item: Item) -> tuple[Playbook, EditOutcome]:
    if isinstance(item, AddExample):
        return _with_example(playbook, item)
    if isinstance(item, FillBank):
        return _with_bank(playbook, item)
    if isinstance(item, AddNote):
        return _with_note(playbook, item)
    if isinstance(item, Draft):
        return replace(playbook, body=item.body.strip()), EditOutcome(item, "applied_rewrite")
    if isinstance(item, Edit):
        return _edited(playbook, item)
    raise TypeError(f"{type(item).__name__} is a suggestion for a rewrite, not an edit")


def _with_example(playbook: Playbook, item: AddExample) -> tuple[Playbook, EditOutcome]:
    examples = list(playbook.examples)
    if any(example.question == item.example.question for example in examples):
        return playbook, EditOutcome(item, "skipped_duplicate", "its question is among the examples")
    if item.instead is None:
        examples.append(item.example)
    elif item.instead < len(examples):
        examples[item.instead] = item.example
    else:
        return playbook, EditOutcome(item, "skipped_unmatched", f"there is no example {item.instead}")
    status = "applied_add_example" if item.instead is None else "applied_exchange_example"
    return replace(playbook, examples=tuple(examples)), EditOutcome(item, status)


def _with_bank(playbook: Playbook, item: FillBank) -> tuple[Playbook, EditOutcome]:
    known = {example.question for example in playbook.bank}
    new = tuple(example for example in item.examples if example.question not in known)
    if not new and playbook.nearest == item.nearest:
        return playbook, EditOutcome(item, "skipped_duplicate", "the bank holds all of it")
    return replace(playbook, bank=(*playbook.bank, *new), nearest=item.nearest), EditOutcome(item, "applied_fill_bank")


def _with_note(playbook: Playbook, item: AddNote) -> tuple[Playbook, EditOutcome]:
    if note_key(item.note) in {note_key(reminder) for reminder in playbook.reminders} or not note_key(item.note):
        return playbook, EditOutcome(item, "skipped_duplicate", "the reminder is there already")
    return replace(playbook, reminders=(*playbook.reminders, item.note)), EditOutcome(item, "applied_add_note")


def note_key(note: str) -> str:
    """Two reminders that differ in case, spaces and punctuation alone are one."""
    return " ".join(re.findall(r"\w+", note.lower()))


# --------------------------------------------------------------------------------------------- edits of text


def _edited(playbook: Playbook, edit: Edit) -> tuple[Playbook, EditOutcome]:
    if edit.where.lower() in PROTECTED:
        return playbook, EditOutcome(edit, "skipped_protected", f"{edit.where} is not written by edits")
    if edit.op not in OPS:
        return playbook, EditOutcome(edit, "skipped_unknown_op", f"there is no {edit.op!r}; use {', '.join(OPS)}")
    if edit.where in ("", "body", "SKILL.md"):
        text = playbook.body
    elif edit.where in playbook.files:
        text = playbook.files[edit.where]
    elif edit.op == "append" and _plain_name(edit.where):
        text = ""
    else:
        known = ", ".join(("body", *sorted(playbook.files)))
        return playbook, EditOutcome(edit, "skipped_unmatched", f"there is no file {edit.where!r}; there are: {known}")
    after, status, detail = _changed(text, edit)
    if not status.startswith("applied_"):
        return playbook, EditOutcome(edit, status, detail)
    if edit.where in ("", "body", "SKILL.md"):
        return replace(playbook, body=after), EditOutcome(edit, status)
    return replace(playbook, files={**playbook.files, edit.where: after}), EditOutcome(edit, status)


def _plain_name(name: str) -> bool:
    return bool(re.fullmatch(r"[\w][\w.-]*(/[\w][\w.-]*)*", name)) and ".." not in name


def _changed(text: str, edit: Edit) -> tuple[str, str, str]:
    """The text after the edit, the status, and for a skipped edit the reason."""
    content = edit.content.strip("\n")
    if edit.op in ("append", "insert_after") and not content.strip():
        return text, "skipped_empty", "there is nothing to add"
    if edit.op in ("append", "insert_after") and _says(text, content):
        return text, "skipped_duplicate", "the text is there already"
    if edit.op == "append":
        return f"{text.rstrip()}\n\n{content}".strip("\n"), "applied_append", ""
    found = find(text, edit.target)
    if isinstance(found, str):
        return text, "skipped_ambiguous" if found.startswith("its target is found") else "skipped_unmatched", found
    start, end = found
    if edit.op == "insert_after":
        line_end = text.find("\n", end)
        at = len(text) if line_end < 0 else line_end
        return f"{text[:at]}\n{content}{text[at:]}", "applied_insert_after", ""
    if edit.op == "replace" and content.strip() == text[start:end].strip():
        return text, "skipped_duplicate", "it changes nothing"
    if edit.op == "replace" and content.strip():
        return text[:start] + content + text[end:], "applied_replace", ""
    return _closed(text[:start], text[end:]), f"applied_{edit.op}", ""


def _closed(before: str, after: str) -> str:
    """Two ends of a text joined where something was taken out: no gap wider than one empty line remains there."""
    if before.endswith("\n") and after.startswith("\n"):
        gap = len(before) - len(before.rstrip("\n")) + len(after) - len(after.lstrip("\n"))
        before, after = before.rstrip("\n") + "\n" * min(2, gap), after.lstrip("\n")
    return (before + after).strip("\n")


def _says(text: str, content: str) -> bool:
    """Whether every line of `content` stands in `text` already, spaces and case apart."""
    lines = {" ".join(line.split()).lower() for line in text.splitlines()}
    return all(" ".join(line.split()).lower() in lines for line in content.splitlines() if line.strip())


def find(text: str, target: str) -> tuple[int, int] | str:
    """Where `target` stands: exactly once, or once up to its spaces; else the reason, with the nearest line."""
    target = target.strip()
    if not target:
        return "it names no target"
    many = text.count(target)
    if many == 1:
        start = text.index(target)
        return start, start + len(target)
    if many == 0:
        pattern = r"\s+".join(re.escape(word) for word in target.split())
        matches = list(re.finditer(pattern, text))
        if len(matches) == 1:
            return matches[0].span()
        many = len(matches)
    if many > 1:
        return f"its target is found {many} times; quote more of the text around it"
    near = nearest_line(text, target)
    return f"its target is not in the text; the nearest line is: {near}" if near else "its target is not in the text"


def nearest_line(text: str, target: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    close = difflib.get_close_matches(target.splitlines()[0], lines, n=1, cutoff=0.4)
    return close[0] if close else ""


def unmatched(rows: Sequence[EditOutcome]) -> tuple[EditOutcome, ...]:
    """The edits that go back to the optimiser: their text was not found, or found more than once."""
    return tuple(row for row in rows if row.status in ("skipped_unmatched", "skipped_ambiguous"))
