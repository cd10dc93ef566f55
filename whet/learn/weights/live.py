"""Replies from weights that are being trained: the one seam between a trainer and whoever generates.

`LiveGenerator` answers the requests of plays by the weights as they are, which are in memory; `vllm_live` has the one
that asks vLLM. What they return has exact tokens and the version of the policy that drew them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from whet.errors import WhetError
from whet.learn.weights.base import Base
from whet.models.base import Request
from whet.models.hf.chat_form import ChatForm
from whet.models.hf.generator import Answered, PaddedGenerator, TokenGenerator, open_generator
from whet.models.hf.limits import DecoderLimits
from whet.types import Reply

CHUNK = DecoderLimits().chunk


@dataclass(slots=True)
class LiveGenerator:
    """A base in training as a `Generator`, at most `rows` replies side by side.

    The temperature is the trainer's: a reply that was drawn at another one would be learnt from with wrong
    probabilities. It is opened at the first version, when a trainer has put the weights where they stay.
    """

    base: Base
    form: ChatForm
    temperature: float
    rows: int
    note: Callable[[str], None] = lambda line: None
    cache: int | None = None
    """Bytes for keys and values; None: a share of what is free."""
    version: str = field(default="", init=False)
    _inner: TokenGenerator | PaddedGenerator | None = field(default=None, init=False)

    @contextmanager
    def at(self, version: str) -> Iterator[LiveGenerator]:
        """Within this the weights are those of `version` and do not train: what was read with others is forgotten."""
        if self._inner is None:
            self._inner = self._open()
        self.version = version
        trains = self.base.module.training
        self.base.module.eval()  # once for all plays: a pass need not look through the layers
        try:
            with self._at_hand():
                self._inner.refresh()
                yield self
        finally:
            self.base.module.train(trains)

    def joined(self, build: Callable[[], Any]) -> Any:
        """The trainer that `build` makes, over the weights that answer here."""
        return build()

    def _open(self) -> TokenGenerator | PaddedGenerator:
        limits = DecoderLimits(self.rows, self.base.folder.context, self.cache, max(CHUNK, 2 * self.rows))
        return open_generator(self.base.module, self.base.processor, limits, self.form, self.note)

    @contextmanager
    def _at_hand(self) -> Iterator[None]:
        """The weights of this version, where replies are drawn from: the model in memory is the one that trains."""
        yield

    @property
    def busy(self) -> bool:
        return self._opened.busy

    def submit(self, request: Request) -> int:
        sampling = request.sampling
        if sampling.temperature != self.temperature or sampling.top_p not in (None, 1.0):
            raise WhetError(
                f"a play asks for temperature {sampling.temperature} and top_p {sampling.top_p}; "
                f"GRPO learns from replies at temperature {self.temperature:g} alone: set grpo.temperature to that"
            )
        return self._opened.submit(request)

    def step(self) -> Answered:
        try:
            answered = self._opened.step()
        except (RuntimeError, MemoryError, WhetError) as problem:
            if not any(ran_out(error) for error in (problem, problem.__cause__)):
                raise
            remedy = f"lower grpo.rows (now {self.rows}) or target.sampling.max_tokens"
            raise out_of_memory("generation", remedy) from problem
        return [
            (ticket, replace(answer, version=self.version) if isinstance(answer, Reply) else answer)
            for ticket, answer in answered
        ]

    def close(self) -> None:
        """Give back the memory of keys and values."""
        if self._inner is not None:
            self._inner.close()

    @property
    def _opened(self) -> TokenGenerator | PaddedGenerator:
        if self._inner is None:
            raise WhetError("weights in training are asked before their version is known")
        return self._inner


def ran_out(problem: BaseException | None) -> bool:
    """Whether there was no memory left. torch has an exception for a GPU; of a processor's memory it only says so."""
    plain = isinstance(problem, RuntimeError) and "can't allocate memory" in str(problem)
    return plain or isinstance(problem, torch.OutOfMemoryError | MemoryError)


def out_of_memory(where: str, remedy: str) -> WhetError:
    return WhetError(f"out of memory in {where}: {remedy}")
