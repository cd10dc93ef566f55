"""How the rows of one batch are decoded, each by its own sampling, seed, limit and stop strings.

A row's token is the largest of its scores, after noise by the row's own seed where it samples: adding Gumbel noise to
log-probabilities and taking the largest is drawing from them. So what a row draws does not depend on what else is in
the batch, and requests of different temperature or length share one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from whet.models.hf.noise import gumbel
from whet.types import Finish, Sampling

Decode = Callable[[Sequence[int]], str]

_TAIL = 64
"""Tokens at the end of a row that are looked at for a stop string."""


@dataclass(slots=True)
class BatchRow:
    """One reply in the making."""

    sampling: Sampling
    limit: int
    """The most tokens it may have: what was asked for, or what the context leaves."""
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    tops: list[list[tuple[int, float]]] = field(default_factory=list)
    finish: Finish | None = None

    @property
    def seed(self) -> int:
        return (self.sampling.seed or 0) % 2**63


@dataclass(frozen=True, slots=True)
class RowResult:
    """What came of one row: its text, why it ended, and the tokens that were read and drawn."""

    text: str
    finish: str
    prompt_ids: Sequence[int]
    completion_ids: Sequence[int]
    entries: Sequence[Mapping[str, Any]] = ()
    """The tokens with their log-probabilities, where these were asked for."""
    logprobs: Sequence[float] = ()
    """The same log-probabilities as plain numbers."""
    known: int = 0
    """How many tokens of the prompt were not read again."""


@dataclass(frozen=True, slots=True)
class Defaults:
    """What holds where a request leaves a value open: the model's own generation config."""

    temperature: float
    top_p: float
    ends: frozenset[int]

    def sharpness(self, sampling: Sampling) -> float:
        """1 / temperature; 0 where the likeliest token is taken."""
        temperature = self.temperature if sampling.temperature is None else sampling.temperature
        return 1 / temperature if temperature else 0.0

    def share(self, sampling: Sampling) -> float:
        """The probability that the likeliest tokens which may be drawn have together."""
        return self.top_p if sampling.top_p is None else sampling.top_p


class Chooser:
    """Turns the scores of a step into those whose largest is the token that each row draws."""

    def __init__(self, rows: Sequence[BatchRow], defaults: Defaults) -> None:
        self._rows = rows
        self._defaults = defaults

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        drawn = self._drawn(scores)
        told = [at for at, row in enumerate(self._rows) if row.sampling.logprobs is not None and row.finish is None]
        if len(told) == len(self._rows):
            self._note(self._rows, scores, drawn.argmax(-1, keepdim=True))
        elif told:
            self._note([self._rows[at] for at in told], scores[told], drawn[told].argmax(-1, keepdim=True))
        return drawn

    def _drawn(self, scores: torch.Tensor) -> torch.Tensor:
        """All rows that draw at once: a row by itself costs a small model more than its pass does."""
        sharpness = [0.0 if row.finish is not None else self._defaults.sharpness(row.sampling) for row in self._rows]
        drawing = [at for at, sharp in enumerate(sharpness) if sharp]
        if not drawing:
            return scores
        rows = [self._rows[at] for at in drawing]
        factors = torch.tensor([sharpness[at] for at in drawing], device=scores.device)[:, None]
        scaled = (scores if len(drawing) == len(self._rows) else scores[drawing]).float() * factors
        for place, row in enumerate(rows):
            if self._defaults.share(row.sampling) < 1:
                scaled[place] = nucleus(scaled[place], self._defaults.share(row.sampling))
        scaled += gumbel([(row.seed, len(row.ids)) for row in rows], scores.shape[-1], scores.device)
        if len(drawing) == len(self._rows):
            return scaled
        drawn = scores.float().clone()
        drawn[drawing] = scaled
        return drawn

    def _note(self, rows: Sequence[BatchRow], scores: torch.Tensor, tokens: torch.Tensor) -> None:
        logprobs = torch.log_softmax(scores.float(), dim=-1)
        for row, own, logprob in zip(rows, logprobs, logprobs.gather(-1, tokens)[:, 0].tolist(), strict=True):
            row.logprobs.append(logprob)
            if row.sampling.logprobs:
                values, ids = own.topk(min(row.sampling.logprobs, own.shape[-1]))
                row.tops.append(list(zip(ids.tolist(), values.tolist(), strict=True)))


class Watcher:
    """Says after each step which rows are done, and why; `stopped` ends all of them."""

    def __init__(
        self, rows: Sequence[BatchRow], defaults: Defaults, decode: Decode, stopped: Callable[[], bool]
    ) -> None:
        self._rows = rows
        self._defaults = defaults
        self._decode = decode
        self._stopped = stopped
        self._pieces: dict[int, str] = {}

    def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        for row, token in zip(self._rows, input_ids[:, -1].tolist(), strict=True):
            if row.finish is None:
                row.ids.append(token)
                row.finish = self.finish(row, token)
        halt = self._stopped()
        done = [halt or row.finish is not None for row in self._rows]
        return torch.tensor(done, dtype=torch.bool, device=input_ids.device)

    def finish(self, row: BatchRow, token: int) -> Finish | None:
        """Why a row ends with the token that it drew last; None where it goes on."""
        if token in self._defaults.ends:
            return "stop"
        if row.sampling.stop and self._may_stop(token, row.sampling.stop):
            tail = self._decode(row.ids[-_TAIL:])
            if any(stop in tail for stop in row.sampling.stop):
                return "stop"
        return "length" if len(row.ids) >= row.limit else None

    def _may_stop(self, token: int, stops: Sequence[str]) -> bool:
        """Whether a token can be the end of a stop string: spares reading the end of every row at every token.

        Blanks are taken liberties with, and a token may be a part of a letter; those are looked at always.
        """
        piece = self._pieces.get(token)
        if piece is None:
            piece = self._pieces[token] = self._decode([token])
        return not piece or "\ufffd" in piece or any(stop[-1:].isspace() or stop[-1:] in piece for stop in stops)


def nucleus(scores: torch.Tensor, top_p: float) -> torch.Tensor:
    """The likeliest tokens that together have probability `top_p`; the others are out."""
    ordered, order = scores.sort(descending=True)
    before = torch.softmax(ordered, dim=-1).cumsum(-1) - torch.softmax(ordered, dim=-1)
    return scores.masked_fill(torch.zeros_like(scores, dtype=torch.bool).scatter(0, order, before >= top_p), -torch.inf)


def text_of(row: BatchRow, ends: frozenset[int], decode: Decode) -> str:
    """The text of a finished row: without its end token, and cut before the first stop string."""
    ids = row.ids[:-1] if row.ids and row.ids[-1] in ends else row.ids
    text = decode(ids)
    cuts = [text.index(stop) for stop in row.sampling.stop if stop in text]
    return text[: min(cuts)] if cuts else text


def top_entries(row: BatchRow, decode: Decode) -> list[Mapping[str, Any]]:
    """The row's tokens with their log-probabilities, in the words of a chat-completions answer."""
    entries: list[Mapping[str, Any]] = []
    for at, (token, logprob) in enumerate(zip(row.ids, row.logprobs, strict=False)):
        tops = row.tops[at] if row.tops else ()
        top = [{"token": decode([other]), "logprob": value} for other, value in tops]
        entries.append({"id": token, "token": decode([token]), "logprob": logprob, "top_logprobs": top})
    return entries
