"""One attempt for a reader: what was said, which tools were called, how it was graded, part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import orjson

from whet.report.markup import Markup, block, join, tag
from whet.rollout.placement import place
from whet.types import Image, MalformedCall, Message, Playbook, Reply, Rollout, ToolCall

ImagePlace = Callable[[str, str], str | None]
"""Where the bytes of an image are to be had, by digest and type; None: nowhere."""

SHOWN = 20_000
"""Characters of a message that a reader is shown at once."""

FULL = 4_000_000
"""Characters of a page of a transcript; past half of them messages are shown by their beginnings."""


def no_images(sha256: str, media_type: str) -> str | None:
    return None


def transcript(
    rollout: Rollout,
    playbook: Playbook = Playbook(),
    *,
    shown: int = SHOWN,
    whole: Callable[[int], Markup | None] = lambda _: None,
    image: ImagePlace = no_images,
) -> Markup:
    """The conversation of a rollout in its order; `whole` links to the whole text of an entry that was cut."""
    said: list[Markup] = []
    placed: list[Markup] = []
    opening = rollout.turns[0].messages if rollout.turns else ()
    asked = False
    used, left = 0, 0
    for number, (author, message, reply) in enumerate(entries(rollout, playbook)):
        if used > FULL:
            left += 1
            continue
        asked = asked or message in opening
        entry = _entry(author, message, reply, shown if used < FULL // 2 else min(shown, 300), whole(number), image)
        used += len(entry)
        (said if asked or playbook.blank else placed).append(entry)
    if left:
        said.append(tag("p", f"{left:,} more messages have no room in a page", class_="quiet"))
    if placed:
        many = f"playbook, as the model read it: {len(placed)} message" + ("" if len(placed) == 1 else "s")
        said.insert(0, tag("details", tag("summary", many), placed, class_="placed"))
    return tag("div", said or tag("p", "nothing was said", class_="quiet"), class_="transcript")


def entries(rollout: Rollout, playbook: Playbook = Playbook()) -> Iterator[tuple[str, Message, Reply | None]]:
    """Every message with who wrote it; the playbook stands before the first turn, as the model saw it."""
    for number, turn in enumerate(rollout.turns):
        opening = number == 0 and turn.role == "target"
        messages: Sequence[Message] = place(playbook, turn.messages) if opening else turn.messages
        for message in messages:
            yield (message.author if turn.role == "target" else f"{message.author} to {turn.role}"), message, None
        who = "assistant" if turn.role == "target" else turn.role
        yield who, turn.reply.as_message(), turn.reply


def whole_text(rollout: Rollout, playbook: Playbook, number: int) -> str | None:
    """The text of one entry, uncut; None where there is none."""
    found = [message.text for _, message, _ in entries(rollout, playbook)]
    return found[number] if 0 <= number < len(found) else None


def _entry(
    author: str, message: Message, reply: Reply | None, shown: int, more: Markup | None, image: ImagePlace
) -> Markup:
    facts = []
    if reply is not None:
        used = reply.usage
        if used.completion_tokens:
            facts.append(f"{used.completion_tokens:,} tokens")
        if reply.finish != "stop":
            facts.append(
                {"length": "cut off by the token limit", "tool_calls": "calls tools"}.get(reply.finish, reply.finish)
            )
    thoughts = reply.reasoning if reply is not None else ""
    return tag(
        "article",
        tag("h4", author, [tag("span", fact, class_="fact") for fact in facts]),
        tag("details", tag("summary", "reasoning"), block(thoughts, shown)) if thoughts else None,
        block(message.text, shown, more) if message.text else None,
        [_image(part, image) for part in message.content if isinstance(part, Image)],
        [_call(call) for call in message.calls],
        [_malformed(call) for call in message.malformed],
        tag("p", "empty", class_="quiet") if not (message.text or message.calls or message.malformed) else None,
        class_=f"entry {author.split()[0]}",
    )


def _image(part: str | Image, place_of: ImagePlace) -> Markup:
    assert isinstance(part, Image)
    address = place_of(part.sha256, part.media_type)
    name = f"image {part.sha256[:12]}"
    if address is None:
        return tag("p", f"{name} ({part.media_type}), kept by its environment", class_="quiet")
    return tag("img", src=address, alt=name, loading="lazy", class_="shown")


def _call(call: ToolCall) -> Markup:
    arguments = orjson.dumps(dict(call.arguments), option=orjson.OPT_INDENT_2, default=str).decode("utf-8", "replace")
    plain = [str(value) for value in call.arguments.values()]
    said = plain[0] if len(plain) == 1 and "\n" in plain[0] else arguments
    return tag(
        "details", tag("summary", "calls ", tag("code", call.name)), block(said, SHOWN), open=True, class_="call"
    )


def _malformed(call: MalformedCall) -> Markup:
    told = tag("summary", "malformed call: ", tag("code", call.kind), f" {call.problem}")
    return tag("details", told, block(call.raw, SHOWN), open=True, class_="call bad")


def grade(rollout: Rollout) -> Markup:
    """How an attempt was graded: solved or not and why, the reward part by part."""
    score = rollout.score
    if score is None:
        return tag("p", f"fault: {rollout.outcome}", class_="verdict bad")
    solved = "solved" if score.hard else "not solved"
    rows = [("soft", score.soft), ("reward", score.reward), *sorted(score.parts.items())]
    return join(
        tag("p", tag("strong", solved), f": {score.reason}", class_=f"verdict {'good' if score.hard else 'bad'}"),
        tag("p", score.detail, class_="detail", dir="auto") if score.detail else None,
        tag(
            "dl",
            [tag("div", tag("dt", name), tag("dd", f"{value:.4g}")) for name, value in rows],
            class_="parts",
        ),
    )
