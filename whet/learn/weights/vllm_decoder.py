"""Prompts of tokens continued by vLLM, which TRL has connected and sends the weights to: tokens in, tokens out.

It stands where the local `Decoder` stands, so conversations become tokens in the same way and plays are driven by the
same driver. A server is asked for each reply by itself and batches them as they come; a play goes on when its own reply
is there. An engine beside the trainer answers all that has been asked at once, and a play waits for the slowest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

import torch

from whet.errors import LimitReached, WhetError
from whet.models.hf.rows import BatchRow, Decode, Defaults, RowResult, Watcher, text_of
from whet.types import Sampling

GLANCE = 0.02
"""Seconds for which a step waits for a reply: a work that ends meanwhile is not kept waiting longer."""


@dataclass(frozen=True, slots=True)
class TokenWish:
    """A prompt and how it is to be continued."""

    ids: Sequence[int]
    temperature: float
    limit: int
    seed: int
    stop: tuple[str, ...]
    ends: tuple[int, ...]

    @property
    def further(self) -> dict[str, Any]:
        """What TRL's client has no argument for, in vLLM's words. The ends are ours to say: vLLM may know others."""
        return {"seed": self.seed, "stop": list(self.stop), "stop_token_ids": list(self.ends)}


@dataclass(frozen=True, slots=True)
class TokenDraw:
    """What was read and drawn; `logprobs` are those of the drawn tokens, None where vLLM had none."""

    prompt_ids: Sequence[int]
    completion_ids: Sequence[int]
    logprobs: Sequence[float | None]


class VllmEngine(Protocol):
    """vLLM as TRL holds it. `run` is called before each look at the futures."""

    name: str

    def start(self, wish: TokenWish) -> Future[TokenDraw]: ...

    def run(self) -> None: ...

    def close(self) -> None: ...


class ServedEngine:
    """A server, through TRL's client: a request for each reply, at most `rows` under way."""

    def __init__(self, client: Any, rows: int) -> None:
        self.name = f"vLLM at {client.base_url}"
        self._client = client
        self._pool = ThreadPoolExecutor(rows, thread_name_prefix="whet-vllm")

    def start(self, wish: TokenWish) -> Future[TokenDraw]:
        return self._pool.submit(self._draw, wish)

    def run(self) -> None:
        """A server runs by itself."""

    def close(self) -> None:
        """Let go of the line by which weights travel too, so that the next segment can open its own."""
        self._pool.shutdown(cancel_futures=True)
        self._client.close_communicator()

    def _draw(self, wish: TokenWish) -> TokenDraw:
        made = self._client.generate(
            [list(wish.ids)],
            temperature=wish.temperature,
            max_tokens=wish.limit,
            logprobs=0,
            generation_kwargs=wish.further,
        )
        told = [known[0] for known in made["logprobs"][0]] if made["logprobs"] else []
        return TokenDraw(made["prompt_ids"][0], made["completion_ids"][0], told)


class ColocatedEngine:
    """An engine in the trainer's own process, which TRL has built: all that was asked is answered in one call."""

    def __init__(self, llm: Any) -> None:
        self.name = "vLLM beside the trainer"
        self._llm = llm
        self._asked: list[tuple[TokenWish, Future[TokenDraw]]] = []

    def start(self, wish: TokenWish) -> Future[TokenDraw]:
        future: Future[TokenDraw] = Future()
        self._asked.append((wish, future))
        return future

    def run(self) -> None:
        asked, self._asked = self._asked, []
        if not asked:
            return
        settings_of = import_module("vllm").SamplingParams
        prompts = [{"prompt_token_ids": list(wish.ids)} for wish, _ in asked]
        settings = [
            settings_of(n=1, temperature=wish.temperature, max_tokens=wish.limit, logprobs=0, **wish.further)
            for wish, _ in asked
        ]
        made = self._llm.generate(prompts, sampling_params=settings, use_tqdm=False)
        for (_, future), answer in zip(asked, made, strict=True):
            reply = answer.outputs[0]
            steps = zip(reply.token_ids, reply.logprobs or (), strict=False)
            told = [known[token].logprob for token, known in steps]
            future.set_result(TokenDraw(list(answer.prompt_token_ids), list(reply.token_ids), told))

    def close(self) -> None:
        self._asked.clear()


class VllmDecoder:
    """Stands for a `Decoder`: `submit` prompts, and call `step` until all are answered."""

    def __init__(
        self,
        engine: VllmEngine,
        defaults: Defaults,
        decode: Decode,
        context: int | None,
        vocabulary: int,
    ) -> None:
        self._engine, self._defaults, self._decode = engine, defaults, decode
        self._context, self._vocabulary = context, vocabulary
        self._watcher = Watcher((), defaults, decode, lambda: False)
        self._asked: dict[Future[TokenDraw], tuple[int, TokenWish, BatchRow]] = {}
        self._refused: list[tuple[int, LimitReached]] = []
        self._next = 0

    @property
    def busy(self) -> bool:
        return bool(self._asked or self._refused)

    def submit(self, ids: Sequence[int], sampling: Sampling) -> int:
        self._next += 1
        room = None if self._context is None else self._context - len(ids)
        if room is not None and room <= 0:
            told = f"a prompt of {len(ids)} tokens in a context of {self._context}"
            self._refused.append((self._next, LimitReached("context_overflow", told)))
            return self._next
        row = BatchRow(sampling, sampling.max_tokens if room is None else min(sampling.max_tokens, room))
        sharpness = self._defaults.sharpness(sampling)
        heat = 1 / sharpness if sharpness else 0.0
        wish = TokenWish(ids, heat, row.limit, row.seed, tuple(sampling.stop), tuple(sorted(self._defaults.ends)))
        self._asked[self._engine.start(wish)] = (self._next, wish, row)
        return self._next

    def step(self) -> list[tuple[int, RowResult | LimitReached]]:
        done: list[tuple[int, RowResult | LimitReached]] = list(self._refused)
        self._refused.clear()
        with said_by(self._engine.name, "did not reply"):
            self._engine.run()
        came, _ = wait(self._asked, 0 if done else GLANCE, FIRST_COMPLETED)
        for future in [future for future in self._asked if future in came]:
            ticket, wish, row = self._asked.pop(future)
            with said_by(self._engine.name, "did not reply"):
                draw = future.result()
            done.append((ticket, self._finish(wish, row, draw)))
        return done

    def refresh(self) -> None:
        """TRL has the prefixes forgotten that were read with other weights. Nothing may be under way."""
        if self._asked:
            raise WhetError("the weights changed while replies were being drawn; let them end before an update")

    def close(self) -> None:
        for future in self._asked:
            future.cancel()
        self._asked.clear()
        self._engine.close()

    def _finish(self, wish: TokenWish, row: BatchRow, draw: TokenDraw) -> RowResult:
        """A draw as a row, when it is what was asked for."""
        if list(draw.prompt_ids) != list(wish.ids):
            raise WhetError(f"{self._engine.name} read other tokens than it was sent: it cuts or changes prompts")
        beyond = [token for token in draw.completion_ids if not 0 <= token < self._vocabulary]
        if beyond:
            raise WhetError(
                f"{self._engine.name} drew token {beyond[0]}, and the base in training has {self._vocabulary}: it "
                "serves a model with another vocabulary; serve the base of the config"
            )
        row.ids = list(draw.completion_ids)
        told = [value for value in draw.logprobs if value is not None]
        row.logprobs = told if len(told) == len(row.ids) else []
        row.finish = (self._watcher.finish(row, row.ids[-1]) if row.ids else "stop") or "length"
        text = text_of(row, self._defaults.ends, self._decode)
        return RowResult(text, row.finish, wish.ids, row.ids, (), row.logprobs)


@contextmanager
def said_by(name: str, what: str) -> Iterator[None]:
    """What vLLM and TRL's client say when they fail, as one line. The client raises bare exceptions."""
    try:
        yield
    except (WhetError, torch.OutOfMemoryError):
        raise
    except Exception as problem:
        said = " ".join(str(problem).split())[:200]
        raise WhetError(f"{name} {what}: {said or type(problem).__name__}") from problem
