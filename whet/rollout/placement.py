"""Where a chat model finds its playbook: its text as system text, worked examples as turns before the task.

Examples as turns teach a small model a format that the same examples in the system text do not.
"""

from __future__ import annotations

from whet.types import Message, Playbook, assistant, system, user


def place(playbook: Playbook, messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The opening of a conversation. A task's own system text comes first and stays whole."""
    if playbook.blank:
        return messages
    own = messages[0].text if messages and messages[0].author == "system" else ""
    rest = messages[1:] if own else messages
    files = (f"## {name}\n{text}" for name, text in sorted(playbook.files.items()))
    text = "\n\n".join(part for part in (own, playbook.text, *files) if part)
    turns = (turn for example in playbook.examples for turn in (user(example.question), assistant(example.answer)))
    return (*((system(text),) if text else ()), *turns, *rest)
