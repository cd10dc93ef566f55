"""Replies in training from vLLM: TRL sends it the weights before a batch is played, and here it is made sure of that.

That a push was acknowledged says nothing of what the server holds: it may have been started again, or another trainer
may send it weights. So before every batch vLLM draws a few tokens, and their log-probabilities must be those that the
weights in training give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from whet.errors import WhetError
from whet.learn.weights.config import GeneratorSection
from whet.learn.weights.live import LiveGenerator
from whet.learn.weights.vllm_decoder import (
    ColocatedEngine,
    ServedEngine,
    TokenWish,
    VllmDecoder,
    VllmEngine,
    said_by,
)
from whet.learn.weights.vllm_server import ServerFacts
from whet.models.hf.generator import TokenGenerator, plain_text
from whet.models.hf.layout import inner_model
from whet.models.hf.weights import model_defaults

TRIAL = 8
"""Tokens that are drawn to see whether vLLM has the weights in training."""


@dataclass(slots=True)
class VllmGenerator(LiveGenerator):
    """vLLM as a `Generator`. TRL's trainer opens it, and holds it, when it is built (`joined`)."""

    section: GeneratorSection = GeneratorSection()
    facts: ServerFacts | None = None
    """Of the server; None for an engine beside the trainer."""
    trainer: Any = None
    engine: VllmEngine | None = None

    def joined(self, build: Callable[[], Any]) -> Any:
        served = self.section.mode == "server"
        with said_by(f"vLLM at {self.section.url}" if served else "vLLM beside the trainer", "cannot be opened"):
            self.trainer = build()
        held = self.trainer.vllm_generation
        self.engine = ServedEngine(held.vllm_client, self.rows) if served else ColocatedEngine(held.llm)
        name, send = self.engine.name, held.sync_weights

        def sync_weights() -> None:
            with said_by(name, "could not be sent the weights"):
                send()

        held.sync_weights = sync_weights
        return self.trainer

    def close(self) -> None:
        if self._inner is not None:
            self._inner.close()
        elif self.engine is not None:
            self.engine.close()

    def _open(self) -> TokenGenerator:
        assert self.engine is not None, "a generator is asked before its trainer was built"
        base = self.base
        tokenizer = base.processor
        model = inner_model(base.module)
        defaults = model_defaults(model.generation_config, tokenizer)
        known = (base.folder.context, None if self.facts is None else self.facts.context)
        decoder = VllmDecoder(
            self.engine,
            defaults,
            lambda ids: plain_text(tokenizer, ids),
            min(filter(None, known), default=None),
            model.get_input_embeddings().weight.shape[0],
        )
        return TokenGenerator(tokenizer, defaults, self.form, decoder)

    @contextmanager
    def _at_hand(self) -> Iterator[None]:
        self._check()
        yield

    def _check(self) -> None:
        """Have a few tokens drawn, and compare their log-probabilities with those of the weights in memory."""
        assert self.engine is not None
        step, sent = int(self.trainer.state.global_step), int(self.trainer.sent_step)
        if step != sent:
            raise WhetError(f"{self.engine.name} was sent the weights of step {sent}, and step {step} is to be played")
        tokenizer = self.base.tokenizer
        prompt = tokenizer.apply_chat_template(
            [{"role": "user", "content": "Say something."}], add_generation_prompt=True, tokenize=True, return_dict=True
        )["input_ids"]
        future = self.engine.start(TokenWish(prompt, self.temperature, TRIAL, step, (), tuple(sorted(self.base.ends))))
        with said_by(self.engine.name, "did not reply"):
            self.engine.run()
            made = future.result()
        if list(made.prompt_ids) != list(prompt) or not made.completion_ids:
            raise WhetError(f"{self.engine.name} does not continue the tokens that it is sent")
        ours = self._logprobs(list(prompt), list(made.completion_ids))
        gaps = [abs(own - told) for own, told in zip(ours, made.logprobs, strict=False) if told is not None]
        if not gaps or max(gaps) > self.section.gap:
            told = f"differs by {max(gaps):.2g} (generator.gap = {self.section.gap:g})" if gaps else "is not told"
            raise WhetError(
                f"{self.engine.name} does not have the weights of version {self.version}: the log-probability of what "
                f"it draws {told}; is it another model, was it started again, or does another trainer send it weights?"
            )

    def _logprobs(self, prompt: list[int], drawn_ids: list[int]) -> list[float]:
        rows = int(self.base.module.get_input_embeddings().weight.shape[0])
        if max(drawn_ids) >= rows:
            raise WhetError(
                f"{self.engine and self.engine.name} drew token {max(drawn_ids)} of {rows}: another vocabulary"
            )
        device = next(self.base.module.parameters()).device
        ids = torch.tensor([[*prompt, *drawn_ids]], device=device)
        with torch.no_grad():
            scores = self.base.module(input_ids=ids).logits[0, len(prompt) - 1 : -1].float() / self.temperature
        chosen = scores.log_softmax(-1).gather(1, ids[0, len(prompt) :, None])
        return [float(value) for value in chosen[:, 0]]
