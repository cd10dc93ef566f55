"""Where a chat model finds its playbook: its text as system text, worked examples as turns before the task.

Examples as turns teach a small model a format that the same examples in the system text do not. A rule book stands in
the message that asks, where the environment has its own rules: `place_rules` puts it there, as part of what was asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from whet.types import Message, Playbook, Rule, RuleSlot, assistant, system, user

HEADING = "Rules:"
"""What stands above a rule book in a message that has no place of its own for one."""


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


def place_rules(
    playbook: Playbook, messages: tuple[Message, ...], slots: Sequence[RuleSlot] = ()
) -> tuple[Message, ...]:
    """What is asked, with the rules that `playbook` tells: in the slots of the last message, or at its beginning.

    Sorts of rules without a slot of their own stand together, numbered, in the order of the book. A message in parts
    has its slots in the text before the first image.
    """
    told = playbook.told
    if not told or not messages:
        return messages
    *before, last = messages
    parts = [last.content] if isinstance(last.content, str) else list(last.content)
    text = parts[0] if parts and isinstance(parts[0], str) else ""
    rest = parts[1:] if text else parts
    for slot in sorted(slots, key=lambda slot: -slot.start):
        rules = [rule for rule in told if rule.sort == slot.sort]
        put = f"{slot.before}{_listed(rules, slot)}{slot.after}" if rules else ""
        text = text[: slot.start] + put + text[slot.end :]
    loose = [rule for rule in told if rule.sort not in {slot.sort for slot in slots}]
    if loose:
        text = f"{HEADING}\n{_numbered(loose)}\n\n{text}"
    return (*before, replace(last, content=(text, *rest) if rest else text))


def _listed(rules: Sequence[Rule], slot: RuleSlot) -> str:
    return rules[0].text if slot.sort == "G0" else _numbered(rules)


def _numbered(rules: Sequence[Rule]) -> str:
    return "\n".join(f"{number}. {rule.text}" for number, rule in enumerate(rules, start=1))
