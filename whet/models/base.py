"""The contract of a model: one request in, one reply out, and a fingerprint of what the reply depends on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

from whet.types import Message, Playbook, Reply, Role, Sampling, Shape, Task, ToolSpec, Usage


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens."""

    prompt: float
    completion: float
    cached: float | None = None
    """Price of prompt tokens that the server had cached; None: the prompt price."""

    def of(self, usage: Usage) -> float:
        cached = self.prompt if self.cached is None else self.cached
        fresh = usage.prompt_tokens - usage.cached_tokens
        return (fresh * self.prompt + usage.cached_tokens * cached + usage.completion_tokens * self.completion) / 1e6


FREE = Price(0.0, 0.0)


class Meter(Protocol):
    """Who pays for a call. Its first attempt is paid for before a model gets the request; the model asks for others."""

    def fail(self, *, sent: bool = True) -> None:
        """The attempt came to nothing; `sent` is False where it cannot have reached anybody."""
        ...

    async def again(self) -> None:
        """Returns when another attempt is paid for; raises `BudgetReached`, which a model lets pass."""
        ...


@dataclass(frozen=True, slots=True)
class Request:
    """A whole conversation to continue.

    `task` is set only for models that declare `sees_task`, `playbook` only for those that declare `places_playbook`.
    `attempt` names the attempt that a request belongs to; '' outside of one. `prior_ids` are the tokens that the
    conversation has come to, up to and with the last reply, where the model told them: one that builds its own prompt
    continues them as they are, because text that is tokenised again may come out as other tokens. `files` lie in the
    folder of an agent when it begins. `meter` pays for attempts after the first.
    """

    messages: tuple[Message, ...]
    sampling: Sampling = Sampling()
    tools: tuple[ToolSpec, ...] = ()
    shape: Shape = Shape()
    must_call: bool = False
    blob: Callable[[str], bytes] | None = None
    task: Task | None = None
    playbook: Playbook | None = None
    attempt: str = ""
    role: Role = "target"
    prior_ids: tuple[int, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    meter: Meter | None = field(default=None, compare=False, repr=False)

    def metered(self, meter: Meter) -> Request:
        """The same request, paid for by `meter`; field by field, because every call passes here."""
        asked = (self.messages, self.sampling, self.tools, self.shape, self.must_call, self.blob, self.task)
        return Request(*asked, self.playbook, self.attempt, self.role, self.prior_ids, self.files, meter)


@runtime_checkable
class Model(Protocol):
    """Who answers. Subclass it; the members with a value or a body are optional.

    `complete` raises `FaultError` when the service gave out, `LimitReached` when the policy overran a limit of the
    model (`context_overflow`), and `WhetError` when no call can succeed until the user mends something (a wrong key).
    """

    name: str
    """As the user wrote it: `scheme:identifier`."""
    fingerprint: str
    """What the reply depends on (weights, model id, decoding set-up), not where it is served."""
    price: Price | None = None
    """None: unknown."""
    width: int | None = None
    """How many calls it can usefully serve at once; None: as many as the caller likes."""
    connections: int | None = None
    """How many calls it sends at once, at most; None: all. One that waits its turn here has nothing reserved yet."""
    context: int | None = None
    """Context length in tokens, where known."""
    unpaid: bool = False
    """True where nobody is called, so that there is nothing to pay for."""
    tells_all: bool = False
    """True for a program of ours: a usage without tokens is what it used, and not one that was left out."""
    sees_task: bool = False
    """True only for reference policies: the driver then hands them the task, truth included."""
    places_playbook: bool = False
    """True for a coding agent: it gets the playbook itself, as files, and the conversation without it."""

    deterministic: bool = False
    """True where the same request gets the same reply whatever its seed: a gate then draws a task once."""

    async def complete(self, request: Request) -> Reply: ...

    def overhead(self, request: Request) -> int:
        """The most tokens that the model itself adds to the prompt, beyond what the request holds."""
        return 0

    async def complete_many(self, request: Request, n: int) -> tuple[Reply, ...]:
        """`n` independent replies to one request; a server that can do it in one call overrides this."""
        seed = request.sampling.seed
        if seed is None:
            each = [request] * n
        else:
            each = [replace(request, sampling=replace(request.sampling, seed=seed + k)) for k in range(n)]
        return tuple(await asyncio.gather(*(self.complete(request) for request in each)))

    async def leave(self, attempt: str) -> None:
        """An attempt is over: give back what was kept for it. Most models keep nothing."""
        return

    async def close(self) -> None:
        """Give back connections, threads and memory. Idempotent."""
        return
