"""Turns as token ids: what the model saw, and which of it the model drew. What a trainer trains on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from whet.types import Role, Turn


@dataclass(frozen=True, slots=True)
class TokenSequence:
    """Ids that one forward pass reads; `mask` is 1 where the model drew the id in a turn of this sequence.

    `logprobs` are those of the drawn ids, in their order, where the backend told them for all.
    """

    ids: tuple[int, ...]
    mask: tuple[int, ...]
    logprobs: tuple[float, ...] = ()


def token_sequences(turns: Iterable[Turn], role: Role = "target") -> tuple[TokenSequence, ...]:
    """The turns of a role as sequences. One, as long as each prompt continues what stood before it.

    A chat template may rewrite what was said (drop earlier thinking, say): from there on a new sequence begins, since
    no single one is what the model saw. Empty where any turn's tokens are not known.
    """
    done: list[TokenSequence] = []
    ids: list[int] = []
    mask: list[int] = []
    logprobs: list[float] | None = []
    for turn in turns:
        if turn.role != role:
            continue
        drawn = turn.reply.completion_ids
        if not (turn.prompt_ids or turn.kept) or not drawn:
            return ()
        if turn.kept < len(ids):
            done.append(_sequence(ids, mask, logprobs))
            ids, mask, logprobs = ids[: turn.kept], [0] * turn.kept, []
        ids += [*turn.prompt_ids, *drawn]
        mask += [*[0] * len(turn.prompt_ids), *[1] * len(drawn)]
        told = turn.reply.logprobs
        logprobs = [*logprobs, *told] if logprobs is not None and len(told) == len(drawn) else None
    return (*done, _sequence(ids, mask, logprobs)) if ids else ()


def _sequence(ids: list[int], mask: list[int], logprobs: list[float] | None) -> TokenSequence:
    return TokenSequence(tuple(ids), tuple(mask), tuple(logprobs or ()))
