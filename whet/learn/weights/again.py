"""A part of a step for which there was no memory is worked once more, from where it began.

On a GPU that several trainings share each asks for most at another moment, and what one lacks a neighbour gives back a
second later. Ending there loses all that was trained. Where the weights themselves are trained, a second copy of their
gradients is what nobody has room for: then it ends at once.
"""

from __future__ import annotations

import gc
import time
from contextlib import suppress
from typing import Any

import torch

from whet.learn.weights.live import ran_out

TIMES = 5
PAUSE = 2.0
"""Seconds before a part is worked again, on a GPU; a processor's memory is not waited for."""
MOST = 2**26
"""Parameters that are trained at most where it is kept what a part began with: an adapter has a few million."""


class WorkedAgain:
    """Steps of a trainer, each part of which may be worked again. Nothing is played or drawn anew for that."""

    again = False
    """Whether the part under way is."""
    repeats = 0
    _before: BeforePart | None = None

    def training_step(self, *given: Any, **named: Any) -> Any:
        try:
            for left in reversed(range(TIMES + 1)):
                with suppress(NoRoom):
                    return self._tried(given, named, last=not left)
                self.again = True
                self.repeats += 1
                make_room()
        finally:
            self.again, self._before = False, None

    def _tried(self, given: tuple[Any, ...], named: dict[str, Any], *, last: bool) -> Any:
        """The step; NoRoom where it may be tried again. What it held in memory is let go of with this frame."""
        self._before = None
        try:
            return super().training_step(*given, **named)  # type: ignore[misc]
        except (RuntimeError, MemoryError) as problem:
            if self._before is None or last or not ran_out(problem):
                raise
        self._before.put_back()
        raise NoRoom

    def compute_loss(self, model: Any, *given: Any, **named: Any) -> Any:
        trained = [weight for weight in model.parameters() if weight.requires_grad]
        if model.training and sum(weight.numel() for weight in trained) <= MOST:
            self._before = BeforePart(trained, self._metrics["train"])  # type: ignore[attr-defined]
        return super().compute_loss(model, *given, **named)  # type: ignore[misc]


class NoRoom(Exception):
    """There was no memory for a part that may be tried again."""


class BeforePart:
    """What the parts before this one have gathered, and what it will draw its dropout from."""

    def __init__(self, trained: list[torch.nn.Parameter], metrics: dict[str, list[Any]]) -> None:
        self._trained, self._metrics = trained, metrics
        self._gradients = [None if weight.grad is None else weight.grad.clone() for weight in trained]
        self._logged = {name: len(values) for name, values in metrics.items()}
        self._random = torch.get_rng_state()
        self._on_gpu = torch.cuda.get_rng_state() if torch.cuda.is_initialized() else None

    def put_back(self) -> None:
        for weight, gradient in zip(self._trained, self._gradients, strict=True):
            weight.grad = gradient
        for name, values in self._metrics.items():
            del values[self._logged.get(name, 0) :]
        torch.set_rng_state(self._random)
        if self._on_gpu is not None:
            torch.cuda.set_rng_state(self._on_gpu)


def make_room() -> None:
    gc.collect()
    if torch.cuda.is_initialized():
        torch.cuda.empty_cache()
        time.sleep(PAUSE)
