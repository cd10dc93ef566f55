"""Replies from weights that are being trained: the one seam between a trainer and whoever generates.

`live_generator` gives lock step its `Generate`. What it returns has exact tokens and the version of the policy that
drew them; another decoder takes its place by taking the place of this function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch

from whet.errors import LimitReached, WhetError
from whet.learn.weights.base import Base
from whet.models.base import Request
from whet.models.hf.model import LocalModel
from whet.models.hf.prompt import Renderer
from whet.models.hf.rows import Defaults
from whet.models.hf.weights import LoadedWeights
from whet.rollout.lockstep import Generate
from whet.types import Fault, Reply


class LiveWeights(LoadedWeights):
    """The weights of a base as they are in memory now, in the hands of the generator of `hf:DIR`."""

    def __init__(self, base: Base) -> None:
        self._folder = base.folder
        self.device = base.device
        self._processor, self._model = base.processor, base.module
        self._tokenizer = base.tokenizer
        self._defaults = Defaults(1.0, 1.0, base.ends)
        self._renderer = Renderer(base.processor, base.ends)


def live_generator(base: Base, speaker: LocalModel, version: str, temperature: float, rows: int) -> Generate:
    """Answers batches of requests by the base as it is, at most `rows` of them side by side.

    `speaker` knows how a request becomes a prompt and a row a reply. The temperature is the trainer's: a reply that was
    drawn at another one would be learnt from with wrong probabilities.
    """
    weights = LiveWeights(base)

    def generate(requests: Sequence[Request]) -> list[Reply | LimitReached | Fault]:
        for request in requests:
            if request.sampling.temperature != temperature or request.sampling.top_p not in (None, 1.0):
                raise WhetError(
                    f"a play asks for temperature {request.sampling.temperature} and top_p {request.sampling.top_p}; "
                    f"GRPO learns from replies at temperature {temperature:g} alone: set grpo.temperature to that"
                )
        order = sorted(range(len(requests)), key=lambda at: (_length(requests[at]), at))
        answers: list[Reply | LimitReached | Fault] = [Fault("local_model", "trainer", "no reply")] * len(requests)
        training = base.module.training
        base.module.eval()
        try:
            for start in range(0, len(order), rows):
                chosen = order[start : start + rows]
                made = weights.generate([speaker.prompt(requests[at]) for at in chosen])
                for at, row in zip(chosen, made, strict=True):
                    answers[at] = _limit(row) if isinstance(row, Exception) else speaker.reply(row, requests[at])
        except torch.OutOfMemoryError as full:
            raise out_of_memory("generation", f"lower grpo.rows (now {rows}) or target.sampling.max_tokens") from full
        finally:
            base.module.train(training)
        return [replace(answer, version=version) if isinstance(answer, Reply) else answer for answer in answers]

    return generate


def out_of_memory(where: str, remedy: str) -> WhetError:
    return WhetError(f"out of memory in {where}: {remedy}")


def _limit(problem: Exception) -> LimitReached:
    if isinstance(problem, LimitReached):
        return problem
    raise problem


def _length(request: Request) -> int:
    """About how long a prompt is: rows of one batch should be alike, because the longest sets the width."""
    return len(request.prior_ids) * 4 + sum(len(message.text) for message in request.messages)
