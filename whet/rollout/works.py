"""Who does the works that plays yield: each kind has a performer, and none blocks the loop.

A work's function runs in a thread or in a process pool, where one that outlasts its deadline is abandoned, not killed;
or, where it may hang or end its process, in a worker that can be killed (`workers`). Code that a policy wrote does not
belong in any of them but in the sandbox.
"""

from __future__ import annotations

import asyncio
import functools
import importlib
import multiprocessing
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

from whet.errors import FaultError, WhetError
from whet.rollout.workers import KillableWorkers
from whet.sandbox.base import Sandbox
from whet.types import Fault, Work, WorkResult

Performer = Callable[[Mapping[str, Any]], Awaitable[WorkResult]]


class Works:
    """Performs works by kind. `call` is built in; the sandbox is opened by the first work that needs it."""

    def __init__(self, sandbox: Callable[[], Sandbox] | None = None, width: int = 32) -> None:
        self._performers: dict[str, Performer] = {
            "call": self._call,
            "killable": self._killable,
            "sandbox": self._isolated,
        }
        self._open_sandbox = sandbox or _strongest
        self._sandbox: asyncio.Future[Sandbox] | None = None
        self._width = width
        self._pools: dict[str, Executor] = {}
        self._workers: KillableWorkers | None = None

    async def perform(self, job: Work) -> WorkResult:
        """The result of `job`; a deadline is the policy's doing and comes back as an error in the result."""
        performer = self._performers.get(job.kind)
        if performer is None:
            known = ", ".join(sorted(self._performers))
            raise FaultError(Fault("no_performer", job.kind, f"nothing here performs works of this kind, only {known}"))
        try:
            async with asyncio.timeout(job.deadline) as clock:
                return await performer(job.payload)
        except (FaultError, WhetError):
            raise
        except Exception as error:
            if isinstance(error, TimeoutError) and clock.expired():
                return WorkResult(error="deadline", detail=f"not done after {job.deadline:g} s")
            # Not the function's own doing, which is a result: a worker died, or what it returned cannot be handed over.
            raise FaultError(Fault("work_lost", job.kind, f"{type(error).__name__}: {error}")) from error

    async def _call(self, payload: Mapping[str, Any]) -> WorkResult:
        run = functools.partial(call_function, payload["function"], payload["arguments"])
        return await asyncio.get_running_loop().run_in_executor(self._pool(payload["pool"]), run)

    async def _killable(self, payload: Mapping[str, Any]) -> WorkResult:
        if self._workers is None:
            self._workers = KillableWorkers()
        return await self._workers.perform(payload)

    async def _isolated(self, payload: Mapping[str, Any]) -> WorkResult:
        if self._sandbox is None:
            self._sandbox = asyncio.ensure_future(asyncio.to_thread(self._open_sandbox))
        return await (await asyncio.shield(self._sandbox)).run(payload)

    def _pool(self, kind: str) -> Executor:
        if kind not in self._pools:
            if kind == "process":
                self._pools[kind] = ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn"))
            else:
                self._pools[kind] = ThreadPoolExecutor(self._width, thread_name_prefix="whet-work")
        return self._pools[kind]

    async def close(self) -> None:
        opened, self._sandbox = self._sandbox, None
        if opened is not None and not (opened.done() and opened.exception()):
            await (await opened).close()
        if self._workers is not None:
            self._workers.close()
            self._workers = None
        for pool in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=True)
        self._pools.clear()


def _strongest() -> Sandbox:
    from whet.sandbox.isolation import open_sandbox

    return open_sandbox()


def call_function(function: str, arguments: Mapping[str, Any]) -> WorkResult:
    """Import `module:name` and call it. What it raises is its result: a play must be able to answer it."""
    module, _, name = function.partition(":")
    try:
        value = getattr(importlib.import_module(module), name)(**arguments)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the environment's function: what it raises is its answer
        return WorkResult(error="raised", detail=f"{type(error).__name__}: {error}")
    return value if isinstance(value, WorkResult) else WorkResult(value)
