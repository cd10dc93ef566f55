"""Where a chat model finds its playbook: its text as system text, worked examples as turns before the task.

Examples as turns teach a small model a format that the same examples in the system text do not. Of a bank of examples,
those most like the task are taken: a pure function of the playbook and of what is asked. A rule book stands in the
message that asks, where the environment has its own rules: `place_rules` puts it there, as part of what was asked.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from threading import Lock

from whet.keys import question_digest
from whet.types import Example, Message, Playbook, Rule, RuleSlot, assistant, system, user

INDICES = 8
"""Banks whose index is kept: a gate compares two, a training run tries a few."""

HEADING = "Rules:"
"""What stands above a rule book in a message that has no place of its own for one."""


def place(playbook: Playbook, messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The opening of a conversation. A task's own system text comes first and stays whole."""
    if playbook.blank:
        return messages
    playbook = for_task(playbook, messages)
    own = messages[0].text if messages and messages[0].author == "system" else ""
    rest = messages[1:] if own else messages
    files = (f"## {name}\n{text}" for name, text in sorted(playbook.files.items()))
    text = "\n\n".join(part for part in (own, playbook.text, *files) if part)
    turns = (turn for number, example in enumerate(playbook.examples, 1) for turn in _turns(example, number))
    return (*((system(text),) if text else ()), *turns, *rest)


def for_task(playbook: Playbook, messages: tuple[Message, ...]) -> Playbook:
    """The playbook as one task gets it: of its bank the nearest examples, the one most like the task last.

    Never the task's own question, nor one of its group; and none that all tasks are shown anyway.
    """
    if not playbook.bank or not playbook.nearest:
        return replace(playbook, bank=(), nearest=0) if playbook.bank else playbook
    question = question_of(messages)
    index = _indexed(playbook.bank)
    chosen = index.nearest(question, playbook.nearest, playbook.examples)
    return replace(playbook, examples=(*playbook.examples, *reversed(chosen)), bank=(), nearest=0)


def question_of(messages: tuple[Message, ...]) -> str:
    """What a task asks: the last words of a user."""
    return next((message.text for message in reversed(messages) if message.author == "user"), "")


def _turns(example: Example, number: int) -> Iterator[Message]:
    """An example as it was said. Its calls get ids of their own, which no other example and no reply has."""
    yield user(example.question)
    for step in example.steps:
        calls = tuple(replace(call, id=f"example_{number}_{call.id}") for call in step.calls)
        yield replace(step, calls=calls, call_id=f"example_{number}_{step.call_id}" if step.call_id else "")
    yield assistant(example.answer)


class BankIndex:
    """A bank made ready to be searched."""

    def __init__(self, bank: tuple[Example, ...]) -> None:
        from whet.envs.neighbours import Neighbours

        self.bank = bank
        self._asks = [question_digest(example.question) for example in bank]
        self._neighbours = Neighbours([example.question for example in bank])

    def nearest(self, question: str, many: int, shown: tuple[Example, ...]) -> list[Example]:
        """The examples most like a question, the most like first."""
        asked = question_digest(question)
        apart = {asked, *(question_digest(example.question) for example in shown)}
        without = [
            at
            for at, (ask, example) in enumerate(zip(self._asks, self.bank, strict=True))
            if ask in apart or asked in example.kin
        ]
        return [self.bank[at] for at in self._neighbours.nearest(question, many, without)]


_indices: OrderedDict[int, BankIndex] = OrderedDict()
_turning = Lock()


def _indexed(bank: tuple[Example, ...]) -> BankIndex:
    """The index of a bank; made once for as long as the bank is in use. A bank is known by being the same object."""
    with _turning:
        found = _indices.get(id(bank))
        if found is None or found.bank is not bank:
            found = _indices[id(bank)] = BankIndex(bank)
        _indices.move_to_end(id(bank))
        while len(_indices) > INDICES:
            _indices.popitem(last=False)
        return found


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
