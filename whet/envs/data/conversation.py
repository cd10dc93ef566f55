"""A cell that is a conversation: a list of turns, each with who speaks and what is said, as chat data is kept.

Its parts are columns beside it, as those of an object are: `messages.conversation` is all of it, and where the model
has the last word in every row, `messages.question` is what came before and `messages.answer` is that word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

WHOLE, QUESTION, ANSWER = "conversation", "question", "answer"

SPEAKERS = (("role", "content"), ("from", "value"), ("speaker", "text"))
"""What turns call the speaker and the text, in the formats that there are."""

MODELS = frozenset(("assistant", "gpt", "model", "bot", "chatbot"))
SYSTEMS = frozenset(("system", "developer"))

Turn = tuple[str, str]


def turns_of(value: Any) -> list[Turn] | None:
    """Speaker and text of each turn; None where it is no conversation."""
    if not isinstance(value, list) or not value:
        return None
    for speaker, text in SPEAKERS:
        turns = [(turn.get(speaker), _text(turn.get(text))) for turn in value if isinstance(turn, dict)]
        if len(turns) == len(value) and all(isinstance(who, str) and said is not None for who, said in turns):
            return [(str(who), said or "") for who, said in turns]
    return None


def _text(content: Any) -> str | None:
    """What is said, as a text or as a list of its pieces."""
    if isinstance(content, list) and all(isinstance(piece, dict) and "text" in piece for piece in content):
        return "\n".join(str(piece["text"]) for piece in content)
    return content if isinstance(content, str) else None


def conversations(rows: Sequence[Mapping[str, Any]]) -> dict[str, bool]:
    """The columns that hold a conversation wherever they hold anything, and whether the model always speaks last."""
    found: dict[str, bool] = {}
    refused: set[str] = set()
    for row in rows:
        for column, value in row.items():
            if value in (None, []) or column in refused:
                continue
            turns = turns_of(value)
            if turns is None:
                refused.add(column)
                continue
            spoken = [who.casefold() for who, _ in turns]
            answered = spoken[-1] in MODELS and any(who not in MODELS | SYSTEMS for who in spoken[:-1])
            found[column] = found.get(column, True) and answered
    return {column: answered for column, answered in found.items() if column not in refused}


def parts_of(column: str, value: Any, answered: bool) -> Iterator[tuple[str, str]]:
    """The columns that a conversation makes beside its own."""
    turns = turns_of(value) or []
    yield f"{column}.{WHOLE}", shown(turns)
    if answered:
        yield f"{column}.{QUESTION}", shown(turns[:-1])
        yield f"{column}.{ANSWER}", turns[-1][1] if turns else ""


def shown(turns: Sequence[Turn]) -> str:
    """Turns as a text to read; a single one needs nobody's name, nor does what the system says."""
    spoken = [(who, text) for who, text in turns if who.casefold() not in SYSTEMS]
    lines = [text for who, text in turns if who.casefold() in SYSTEMS and text.strip()]
    return "\n\n".join([*lines, *(text if len(spoken) == 1 else f"{who}: {text}" for who, text in spoken)])


def whole_of(question: str, answer: str, columns: Mapping[str, Any]) -> str:
    """All of the conversation where its beginning was to be asked and something else than its end is the answer."""
    stem, _, part = question.rpartition(".")
    whole = f"{stem}.{WHOLE}"
    return whole if part == QUESTION and whole in columns and answer != f"{stem}.{ANSWER}" else question
