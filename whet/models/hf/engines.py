"""How prompts for weights in memory are worked off: by pages, where the model can be run so, else in padded batches.

By pages a conversation is read once: its next turn, and every other draw from the same prompt, begin where keys and
values are known, and whoever comes joins the next pass. A padded batch reads everything anew and ends with its last.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace

from whet.errors import LimitReached
from whet.models.hf.decoder import Decoder
from whet.models.hf.layout import UnpagedModelError
from whet.models.hf.limits import DecoderLimits
from whet.models.hf.prompt import Prompt
from whet.models.hf.rows import RowResult
from whet.models.hf.weights import LoadedWeights

GivenUp = Callable[[int], bool]
Worked = list[tuple[int, RowResult | Exception]]


def open_engine(weights: LoadedWeights, slots: int, cache: int | None = None) -> PagedEngine | PaddedEngine:
    """The faster of the two that the model allows; `cache` is bytes for keys and values, which pages alone keep."""
    try:
        return PagedEngine(weights, slots, cache)
    except UnpagedModelError:
        return PaddedEngine(weights, slots)


class PagedEngine:
    """Prompts through a `Decoder`."""

    def __init__(self, weights: LoadedWeights, slots: int, cache: int | None = None) -> None:
        self._weights = weights
        limits = DecoderLimits(slots, weights.context, cache, max(DecoderLimits().chunk, 2 * slots))
        self._decoder = Decoder(weights.model, weights.defaults, weights.decode, limits)
        self._tickets: set[int] = set()

    @property
    def busy(self) -> bool:
        return self._decoder.busy

    def submit(self, job: Prompt) -> int:
        ticket = self._decoder.submit(self._weights.ids(job), job.sampling)
        self._tickets.add(ticket)
        return ticket

    def step(self, given_up: GivenUp) -> Worked:
        for ticket in [ticket for ticket in self._tickets if given_up(ticket)]:
            self._decoder.drop(ticket)
            self._tickets.remove(ticket)
        try:
            told = self._decoder.step()
        except Exception:
            self._decoder.close()
            self._tickets.clear()
            raise
        self._tickets -= {ticket for ticket, _ in told}
        # How much was known already depends on who came first: no part of what is said.
        return [(ticket, made if isinstance(made, LimitReached) else replace(made, known=0)) for ticket, made in told]


class PaddedEngine:
    """Prompts in batches of at most `slots`, those with images apart from those without.

    When a batch of several raises, they are served one by one, so that a prompt which cannot be served fails alone.
    """

    def __init__(self, weights: LoadedWeights, slots: int) -> None:
        self._weights, self._slots = weights, slots
        self._waiting: deque[tuple[int, Prompt]] = deque()
        self._next = 0

    @property
    def busy(self) -> bool:
        return bool(self._waiting)

    def submit(self, job: Prompt) -> int:
        self._next += 1
        self._waiting.append((self._next, job))
        return self._next

    def step(self, given_up: GivenUp) -> Worked:
        live = [(ticket, prompt) for ticket, prompt in self._waiting if not given_up(ticket)]
        self._waiting = deque(live)
        if not live:
            return []
        seeing = bool(live[0][1].images)
        batch = [(ticket, prompt) for ticket, prompt in live if bool(prompt.images) == seeing][: self._slots]
        for taken in batch:
            self._waiting.remove(taken)
        return self._served(batch, given_up)

    def _served(self, batch: Sequence[tuple[int, Prompt]], given_up: GivenUp) -> Worked:
        tickets = [ticket for ticket, _ in batch]
        try:
            made = self._weights.generate([prompt for _, prompt in batch], lambda: all(map(given_up, tickets)))
        except Exception as error:  # noqa: BLE001 - whatever the library raises belongs to whoever awaits the prompt
            if len(batch) == 1:
                return [(tickets[0], error)]
            return [told for taken in batch for told in self._served([taken], given_up)]
        return list(zip(tickets, made, strict=True))
