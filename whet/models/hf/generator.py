"""Replies to the requests of many plays from a model that is in memory already: what a trainer generates with.

    generator = open_generator(module, tokenizer)       # any causal language model of transformers, adapters included
    play_side_by_side(conversations, generator, bench)  # whet.rollout.continuous
    ...                                                 # a gradient step
    generator.refresh()                                 # the weights are others now

A model that cannot be run by pages is run in padded batches, as `hf:` runs it: slower, and the same replies.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from whet.errors import LimitReached, WhetError
from whet.models.base import Request
from whet.models.hf.chat_form import ChatForm
from whet.models.hf.decoder import Decoder
from whet.models.hf.layout import UnpagedModelError, inner_model
from whet.models.hf.limits import DecoderLimits
from whet.models.hf.prompt import Prompt, Renderer
from whet.models.hf.rows import Defaults, RowResult
from whet.models.hf.weights import LoadedWeights, model_defaults
from whet.types import Fault, Reply, Sampling

REMEMBERED = 1024
"""Conversations whose tokens are known without a look into them."""

Answered = list[tuple[int, Reply | LimitReached | Fault]]
"""What came, each under the number that `submit` gave."""


def open_generator(
    module: Any,
    tokenizer: Any,
    limits: DecoderLimits = DecoderLimits(),
    form: ChatForm = ChatForm("the model in training", ""),
    note: Callable[[str], None] = lambda line: None,
) -> PagedGenerator | PaddedGenerator:
    """A generator over a live module; `note` hears why a model is run in padded batches."""
    if not getattr(tokenizer, "chat_template", None):
        raise WhetError("the tokenizer has no chat template: a base model cannot hold a conversation")
    try:
        return PagedGenerator(module, tokenizer, limits, form)
    except UnpagedModelError as reason:
        note(f"{reason}; it is run in padded batches instead, which read every conversation anew each turn")
        return PaddedGenerator(module, tokenizer, limits, form)


class TokenDecoder(Protocol):
    """Continues prompts that are tokens already: a `Decoder`, or whatever else draws tokens and tells them."""

    @property
    def busy(self) -> bool: ...

    def submit(self, ids: Sequence[int], sampling: Sampling) -> int: ...

    def step(self) -> Sequence[tuple[int, RowResult | LimitReached]]: ...

    def refresh(self) -> None: ...

    def close(self) -> None: ...


class TokenGenerator:
    """Requests as tokens through a decoder: every reply tells its tokens and their log-probabilities."""

    def __init__(self, tokenizer: Any, defaults: Defaults, form: ChatForm, decoder: TokenDecoder) -> None:
        self._renderer = Renderer(tokenizer, defaults.ends)
        self._form = form
        self.decoder = decoder
        self._requests: dict[int, tuple[Request, Prompt]] = {}
        self._told: OrderedDict[tuple[str, str], Prompt] = OrderedDict()
        """For each attempt what its conversation had come to with the last reply: chat, tokens and settings."""

    @property
    def busy(self) -> bool:
        return self.decoder.busy

    def submit(self, request: Request) -> int:
        prompt = _telling(self._form.prompt(request))
        told = self._told.pop((request.attempt, request.role), None)
        ids = self._renderer.ids(prompt, own=told is not None and _continues(prompt, told))
        ticket = self.decoder.submit(ids, prompt.sampling)
        self._requests[ticket] = (request, prompt)
        return ticket

    def step(self) -> Answered:
        answered: Answered = []
        for ticket, made in self.decoder.step():
            request, prompt = self._requests.pop(ticket)
            answer = _answer(self._form, made, request)
            if isinstance(answer, Reply):
                chat = [*prompt.chat, {"role": "assistant", "content": answer.text}]
                ids = (*answer.prompt_ids, *answer.completion_ids)
                told = Prompt(chat, prompt.images, prompt.sampling, prompt.settings, ids)
                self._told[(request.attempt, request.role)] = told
                if len(self._told) > REMEMBERED:
                    self._told.popitem(last=False)
            answered.append((ticket, answer))
        return answered

    def refresh(self) -> None:
        """The weights are others now: forget what was read with the old ones."""
        self.decoder.refresh()

    def close(self) -> None:
        self._requests.clear()
        self._told.clear()
        self.decoder.close()


class PagedGenerator(TokenGenerator):
    """Over the model in memory, by pages."""

    def __init__(self, module: Any, tokenizer: Any, limits: DecoderLimits, form: ChatForm) -> None:
        defaults = model_defaults(inner_model(module).generation_config, tokenizer)
        decoder = Decoder(module, defaults, lambda ids: plain_text(tokenizer, ids), limits)
        super().__init__(tokenizer, defaults, form, decoder)


class PaddedGenerator:
    """Requests in left-padded batches of at most `slots`, all that were submitted before a step."""

    def __init__(self, module: Any, tokenizer: Any, limits: DecoderLimits, form: ChatForm) -> None:
        self._model = inner_model(module)
        known = getattr(self._model.config, "max_position_embeddings", None)
        context = min(filter(None, (limits.context, known if isinstance(known, int) else None)), default=None)
        self._weights = LoadedWeights(tokenizer, self._model, context)
        self._form, self._slots = form, limits.slots
        self._waiting: list[tuple[int, Request, Prompt]] = []
        self._next = 0

    @property
    def busy(self) -> bool:
        return bool(self._waiting)

    def submit(self, request: Request) -> int:
        self._next += 1
        self._waiting.append((self._next, request, _telling(self._form.prompt(request))))
        return self._next

    def step(self) -> Answered:
        batch, self._waiting = self._waiting[: self._slots], self._waiting[self._slots :]
        trains = self._model.training
        self._model.eval()
        try:
            made = self._weights.generate([prompt for _, _, prompt in batch]) if batch else []
        finally:
            self._model.train(trains)
        return [
            (ticket, _answer(self._form, row, request)) for (ticket, request, _), row in zip(batch, made, strict=True)
        ]

    def refresh(self) -> None:
        """Nothing is kept from turn to turn, so there is nothing to forget."""

    def close(self) -> None:
        self._waiting.clear()


def plain_text(tokenizer: Any, ids: Sequence[int]) -> str:
    """Tokens as text, without the marks of turns."""
    return str(tokenizer.decode(list(ids), skip_special_tokens=True))


def _continues(prompt: Prompt, told: Prompt) -> bool:
    """Whether a prompt is what was told before, word for word, with a further question: then its tokens are known."""
    n = len(told.chat)
    return (
        prompt.prior_ids == told.prior_ids
        and prompt.settings == told.settings
        and prompt.chat[:n] == told.chat
        and all(message["role"] != "assistant" for message in prompt.chat[n:])
    )


def _telling(prompt: Prompt) -> Prompt:
    """Log-probabilities are always told: whoever trains needs them, and they are at hand."""
    if prompt.sampling.logprobs is not None:
        return prompt
    sampling = replace(prompt.sampling, logprobs=0)
    return Prompt(prompt.chat, prompt.images, sampling, prompt.settings, prompt.prior_ids)


def _answer(form: ChatForm, made: RowResult | Exception, request: Request) -> Reply | LimitReached | Fault:
    if isinstance(made, RowResult):
        return form.reply(made, request)
    if isinstance(made, LimitReached):
        return made
    raise made
