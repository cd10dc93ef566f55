"""The proposer that asks a model: it shows the book, hard cases and what was tried, and reads operations as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from whet.learn.prompt_text import OptimizerPrompts, messages
from whet.learn.replies import Unreadable, ask_json, entries, text_in, texts_in
from whet.learn.rules.book import OPERATIONS, Operation, RuleBook, RuleRefusal
from whet.learn.rules.config import ROOM, RulesConfig
from whet.learn.rules.types import HardCase, PoolAttempt, Proposals, RuleStep, TriedOperation

STAGE = "reflect"

_LESSONS = {
    "confident": "the policy is sure, and wrong",
    "conflict": "the policy does not tell it from a ticket with another verdict",
    "split": "the policy is right, by a narrow vote",
    "wrong": "the policy is wrong",
}


class Reflection:
    """An optimiser model reads the cases and proposes operations."""

    name = "llm"
    ranks = False

    async def propose(self, step: RuleStep, most: int) -> Proposals:
        shop, config = step.shop, step.config
        assert shop is not None, "a model is consulted in a workshop"
        assert isinstance(config, RulesConfig)
        prompts = OptimizerPrompts(config.rules.prompts, ROOM)
        choices = ", ".join(sorted({attempt.truth for attempt in step.attempts}))
        asked = messages(
            [prompts.text("reflect", most=most, choices=choices)],
            [
                ("the mission", step.mission),
                ("the book", book_text(step.book)),
                ("tried before", tried_text(step.tried, config.rules.memory)),
                ("tickets", "\n\n".join(case_text(case, config.rules.case_chars) for case in step.cases)),
            ],
        )
        answered = await ask_json(shop, f"{step.where}/{STAGE}", asked, lambda data: read_operations(data, step))
        found = answered.value or Proposals()
        for line in answered.trouble:
            found.refused.append(({"reply": line}, RuleRefusal("unreadable", line)))
        cut = found.operations[most:]
        found.refused += [
            (left.as_data(), RuleRefusal("more_than_asked", f"{most} operations were asked for")) for left in cut
        ]
        found.operations = found.operations[:most]
        return found


def read_operations(data: Mapping[str, Any], step: RuleStep) -> Proposals:
    """The operations of a reply; each that is none is refused by itself, with the reason."""
    if "operations" in data and "rules" in data:
        raise Unreadable("it has both 'operations' and 'rules'; give 'operations' alone")
    if "operations" not in data and "rules" not in data:
        raise Unreadable("it has no 'operations'")
    found = Proposals()
    read: list[Operation] = []
    for entry in entries(data, "operations" if "operations" in data else "rules"):
        operation = _operation(entry, step)
        if isinstance(operation, Operation):
            read.append(operation)
        else:
            found.refused.append((dict(entry), operation))
    found.operations = tuple(read)
    return found


def _operation(entry: Mapping[str, Any], step: RuleStep) -> Operation | RuleRefusal:
    try:
        op = text_in(entry, "op") or "upsert"
        text, reason = text_in(entry, "text"), text_in(entry, "reason") or text_in(entry, "rationale")
        target = text_in(entry, "target")
    except Unreadable as problem:
        return RuleRefusal("unreadable", str(problem))
    if op not in OPERATIONS:
        return RuleRefusal("unknown_operation", f"{op!r} is none of {', '.join(OPERATIONS)}")
    text = text.strip().removeprefix(f"{target}:") if target else text
    shown = {attempt.task.id for attempt in step.attempts}
    evidence = tuple(task for task in texts_in(entry, "evidence") if task in shown)
    merged = tuple(rule for rule in texts_in(entry, "merged") if rule != target)
    return Operation(op, " ".join(text.split()), target, merged, reason, evidence, source=Reflection.name)


def book_text(book: RuleBook) -> str:
    return "\n".join(f"{rule.id}: {rule.text}" for rule in book.active)


def tried_text(tried: Sequence[TriedOperation], most: int) -> str:
    """The last operations and what became of them, for whoever proposes next."""
    lines = []
    for attempt in tried[-most:] if most else ():
        effect = "" if attempt.effect is None else f", gain {attempt.effect:+.3f}"
        lines.append(f"- step {attempt.step}, {attempt.outcome}{effect}: {attempt.operation}")
    return "\n".join(lines)


def case_text(case: HardCase, limit: int) -> str:
    """One case: what was asked, both verdicts, the policy's words, and a like ticket of another verdict."""
    attempt = case.attempt
    votes = f", votes {'/'.join(str(vote) for vote in attempt.votes)}" if len(attempt.votes) > 1 else ""
    lines = [
        f"### {case.id} ({_LESSONS[case.kind]})",
        f"right: {attempt.truth}; the policy said: {attempt.verdict or 'nothing that can be read'}{votes}",
        _shortened(attempt.task.messages[-1].text, limit),
        f"its words: {_shortened(attempt.said, limit // 4)}",
    ]
    if case.beside is not None:
        lines += [f"like it, but right is {case.beside.truth} ({case.beside.task.id}):", _asked(case.beside, limit)]
    return "\n".join(lines)


def _asked(attempt: PoolAttempt, limit: int) -> str:
    return _shortened(attempt.task.messages[-1].text, limit // 2)


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit // 2]}\n...\n{text[-limit // 2 :]}"
