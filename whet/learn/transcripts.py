"""Attempts as the optimiser reads them: what all share is shown once, then each with the environment's own word on it.

Failures of one reason stand together. What does not fit is cut by importance: reasoning and tool output go before what
was asked and answered, and the feedback stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal, NamedTuple

from whet import wire
from whet.envs.base import Environment
from whet.types import Feedback, Image, Message, Rollout, ToolSpec

Show = Literal["nothing", "score", "truth"]

WORTH = 120
"""Characters that a beginning or an end shared by all tasks must have to be shown apart."""

LEAST = 160
"""Characters that are left of a passage however much must be cut."""


def task_name(rollout: Rollout) -> str:
    return f"{rollout.ticket.split}/{rollout.ticket.index}"


# --------------------------------------------------------------------------------------------- what all share


@dataclass(frozen=True, slots=True)
class SharedText:
    """What stands in every attempt of a prompt: system text, tools, and how each task begins and ends."""

    system: str = ""
    head: str = ""
    tail: str = ""
    tools: tuple[ToolSpec, ...] = ()

    def __str__(self) -> str:
        tools = "\n".join(
            f"- {tool.name}: {tool.description} {wire.dumps(tool.parameters).decode()}" for tool in self.tools
        )
        parts = (
            self.system and f"Every attempt is told first:\n{self.system}",
            tools and f"Every attempt has these tools:\n{tools}",
            self.head and f"Every task begins with:\n{self.head}",
            self.tail and f"Every task ends with:\n{self.tail}",
        )
        return "\n\n".join(part for part in parts if part)


def shared_text(rollouts: Sequence[Rollout]) -> SharedText:
    """What all of them share; a lone attempt shares its system text and its tools with those to come."""
    first = [rollout.turns[0] for rollout in rollouts if rollout.turns]
    if not first:
        return SharedText()
    systems = {_text_of(turn.messages, "system") for turn in first}
    tools = first[0].tools or ()
    asked = [_text_of(turn.messages, "user") for turn in first]
    head, tail = _ends(asked) if len(set(asked)) > 1 else ("", "")
    return SharedText(
        systems.pop() if len(systems) == 1 else "",
        head,
        tail,
        tools if all((turn.tools or ()) == tools for turn in first) else (),
    )


def _text_of(messages: Sequence[Message], author: str) -> str:
    return "\n".join(message.text for message in messages if message.author == author)


def _ends(texts: Sequence[str]) -> tuple[str, str]:
    """Whole lines that all texts begin and end with, where they are worth showing apart; something is left of each."""
    lines = [text.split("\n") for text in texts]
    left = min(map(len, lines)) - 1
    head = len(list(takewhile(lambda same: len(set(same)) == 1, zip(*lines, strict=False))))
    head = min(head, left)
    tail = len(
        list(takewhile(lambda same: len(set(same)) == 1, zip(*(reversed(part) for part in lines), strict=False)))
    )
    tail = min(tail, left - head)
    begins, ends = "\n".join(lines[0][:head]), "\n".join(lines[0][len(lines[0]) - tail :])
    return begins if len(begins) >= WORTH else "", ends if len(ends) >= WORTH else ""


# --------------------------------------------------------------------------------------------- attempts


def attempts_text(
    rollouts: Sequence[Rollout],
    env: Environment,
    *,
    show: Show,
    limit: int,
    beside: Mapping[str, Rollout] | None = None,
    shared: SharedText | None = None,
) -> str:
    """Every attempt under its task's name. `beside` holds solved attempts at the same tasks, shown after the failed.

    With `shared`, what it holds was shown already.
    """
    once = shared_text(rollouts) if shared is None else shared
    groups: dict[str, list[Rollout]] = {}
    for rollout in rollouts:
        score = rollout.score
        groups.setdefault(score.reason if score is not None and show != "nothing" else "", []).append(rollout)
    parts = [str(once)] if shared is None else []
    for reason, members in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
        if reason and len(groups) > 1:
            parts.append(f"## {reason}: {len(members)} of {len(rollouts)}")
        for rollout in members:
            parts.append(_attempt(rollout, env, show, limit, (beside or {}).get(task_name(rollout)), once))
    return "\n\n".join(part for part in parts if part)


def _attempt(
    rollout: Rollout, env: Environment, show: Show, limit: int, solved: Rollout | None, shared: SharedText
) -> str:
    label = " ".join(part for part in (rollout.label.kind, rollout.label.difficulty) if part)
    lines = [f"### {task_name(rollout)} ({label})"]
    score = rollout.score
    if score is not None and show != "nothing":
        lines.append(f"Graded: {'solved' if score.hard else 'not solved'}, {score.reason} {score.detail}".rstrip())
    told = feedback_on(rollout, env) if show == "truth" else None
    if told is not None and not (score and score.hard):
        lines += _feedback_lines(told, limit // 3, f"{score.reason}: {score.detail}" if score else "")
    lines.append(fitted(_passages(rollout, shared), limit))
    if solved is not None:
        answers = "\n".join(_said(turn.reply.as_message()) for turn in solved.turns if turn.role == "target")
        lines.append(f"A solved attempt at the same task:\n{shortened(answers, limit // 2)}")
    return "\n".join(lines)


def feedback_on(rollout: Rollout, env: Environment) -> Feedback | None:
    """The environment's own word on an attempt; there is none on a held-out task."""
    if rollout.ticket.split != "train":
        return None
    return env.feedback(env.task("train", rollout.ticket.index), rollout)


def _feedback_lines(told: Feedback, limit: int, graded: str) -> list[str]:
    """What neither the grade above nor the conversation below says already: the last words stand there."""
    why = "" if told.why.strip() == graded.strip() else told.why
    named = (("Expected", told.expected), ("Why", why), ("Evidence", told.evidence))
    return [f"{name}: {shortened(text.strip(), limit)}" for name, text in named if text.strip()]


def images_of(rollouts: Sequence[Rollout], env: Environment, most: int) -> tuple[Image, ...]:
    """The first images that the tasks of attempts show, each once."""
    found: dict[Image, None] = {}
    for rollout in rollouts if most else ():
        shown = [part for turn in rollout.turns for message in turn.messages for part in message.content]
        told = feedback_on(rollout, env)
        found.update(
            dict.fromkeys(part for part in (*shown, *(told.images if told else ())) if isinstance(part, Image))
        )
    return tuple(found)[:most]


# --------------------------------------------------------------------------------------------- one conversation


class Passage(NamedTuple):
    """A part of a conversation; what matters less is cut first."""

    importance: int
    text: str


def conversation(rollout: Rollout) -> str:
    """What was said, without the playbook."""
    return "\n".join(passage.text for passage in _passages(rollout, SharedText()))


def _passages(rollout: Rollout, shared: SharedText) -> list[Passage]:
    """What was said, in its order, less what was shown before."""
    turns = [turn for turn in rollout.turns if turn.role == "target"]
    said: list[Passage] = []
    for number, turn in enumerate(turns):
        for message in turn.messages:
            if number == 0 and message.author == "system" and shared.system:
                continue
            asked = message.author == "user"
            text = _said(message, shared if number == 0 and asked else SharedText())
            said.append(Passage(3 if asked and number == 0 else 1, text))
        if turn.reply.reasoning:
            said.append(Passage(0, f"(thinks) {turn.reply.reasoning}"))
        said += [Passage(0, f"(trace) {wire.dumps(entry).decode()}") for entry in turn.reply.trace]
        said.append(Passage(3 if number == len(turns) - 1 else 2, _said(turn.reply.as_message())))
    if rollout.truncated:
        said.append(Passage(3, "(the last reply was cut off by the token limit)"))
    return said


def _said(message: Message, shared: SharedText = SharedText()) -> str:
    calls = "".join(f"\n(calls {call.name} {call.raw or dict(call.arguments)})" for call in message.calls)
    broken = "".join(f"\n(malformed call: {bad.problem})" for bad in message.malformed)
    images = sum(isinstance(part, Image) for part in message.content)
    shown = f" ({images} image{'s' * (images > 1)})" if images else ""
    text = message.text.removeprefix(shared.head).removesuffix(shared.tail).strip("\n")
    return f"[{message.author}]{shown} {text}{calls}{broken}"


def fitted(passages: Sequence[Passage], limit: int) -> str:
    """The passages in their order, the least important shortened first and alike, until all of it fits."""
    sizes = [len(passage.text) for passage in passages]
    for importance in sorted({passage.importance for passage in passages}):
        over = sum(sizes) - limit
        if over <= 0:
            break
        members = [at for at, passage in enumerate(passages) if passage.importance == importance]
        cap = _cap([sizes[at] for at in members], sum(sizes[at] for at in members) - over)
        for at in members:
            sizes[at] = min(sizes[at], max(cap, LEAST))
    texts = (shortened(passage.text, size) for passage, size in zip(passages, sizes, strict=True))
    return shortened("\n".join(texts), 2 * limit)


def _cap(sizes: Sequence[int], room: int) -> int:
    """The longest that each may be so that all together have `room`."""
    for taken, size in enumerate(sorted(sizes)):
        if size * (len(sizes) - taken) > room:
            return max(0, room // (len(sizes) - taken))
        room -= size
    return max(sizes, default=0)


def shortened(text: str, limit: int) -> str:
    """Both ends of a text that is too long, with how much is left out between them."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    return f"{text[:head]}\n… ({len(text) - head - tail} characters left out) …\n{text[-tail:]}"
