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
import pickle
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from whet.errors import FaultError, WhetError
from whet.rollout.workers import KillableWorkers
from whet.sandbox.base import Sandbox
from whet.source import FILE_MODULE
from whet.types import Fault, Work, WorkResult

if TYPE_CHECKING:
    from whet.rollout.mcp import McpServer, McpServers

MCP = "mcp"
"""The kind of work that a server of tools performs."""

LONGEST = 86_400.0
"""Seconds after which a call in a process of our own is given up, whatever its work's own deadline."""

Performer = Callable[[Mapping[str, Any]], Awaitable[WorkResult]]


class Works:
    """Performs works by kind. `call` is built in; the sandbox is opened by the first work that needs it."""

    def __init__(
        self,
        sandbox: Callable[[], Sandbox] | None = None,
        width: int = 32,
        mcp: Sequence[McpServer] = (),
        processes: int = 0,
    ) -> None:
        """`processes`: so many call what would be called in threads, where the caller's own thread is too dear to share
        the interpreter with theirs."""
        self._performers: dict[str, Performer] = {
            "call": self._call,
            "killable": self._killable,
            "sandbox": self._isolated,
            MCP: self._served,
        }
        self._open_sandbox = sandbox or _strongest
        self._sandbox: asyncio.Future[Sandbox] | None = None
        self._width = width
        self._pools: dict[str, Executor] = {}
        self._workers: KillableWorkers | None = None
        self._processes = processes
        self._helpers: KillableWorkers | None = None
        self._bound: set[str] = set()
        """Functions that no process can be asked to call."""
        self._mcp_settings = mcp
        self._mcp: McpServers | None = None

    async def perform(self, job: Work, attempt: str = "") -> WorkResult:
        """The result of `job`; a deadline is the policy's doing and comes back as an error in the result.

        Works of one `attempt` meet the same servers of tools, until `leave`; those of none meet fresh ones.
        """
        performer = self._performers.get(job.kind)
        if performer is None:
            known = ", ".join(sorted(self._performers))
            raise FaultError(Fault("no_performer", job.kind, f"nothing here performs works of this kind, only {known}"))
        try:
            async with asyncio.timeout(job.deadline) as clock:
                return await (performer(job.payload) if job.kind != MCP else self._served(job.payload, attempt))
        except (FaultError, WhetError):
            raise
        except Exception as error:
            if isinstance(error, TimeoutError) and clock.expired():
                return WorkResult(error="deadline", detail=f"not done after {job.deadline:g} s")
            # Not the function's own doing, which is a result: a worker died, or what it returned cannot be handed over.
            raise FaultError(Fault("work_lost", job.kind, f"{type(error).__name__}: {error}")) from error

    async def _call(self, payload: Mapping[str, Any]) -> WorkResult:
        function = payload["function"]
        if self._processes and payload["pool"] == "thread" and elsewhere(function) and function not in self._bound:
            helped = await self._helped(payload)
            if helped is not None:
                return helped
            self._bound.add(function)
        run = functools.partial(call_function, payload["function"], payload["arguments"])
        return await asyncio.get_running_loop().run_in_executor(self._pool(payload["pool"]), run)

    async def _helped(self, payload: Mapping[str, Any]) -> WorkResult | None:
        """In a process of our own that stays; one that is no longer waited for is killed.

        None where what goes in or comes out cannot be handed over: such a function is called in a thread.
        """
        if self._helpers is None:
            self._helpers = KillableWorkers(self._processes, whole=True)
        try:
            result = await self._helpers.perform({**payload, "seconds": LONGEST})
        except (pickle.PicklingError, AttributeError, TypeError):
            return None
        if result.error in ("ended", "hung"):
            raise FaultError(Fault("work_lost", "call", result.detail))
        return None if result.error == "lost" else result

    async def _killable(self, payload: Mapping[str, Any]) -> WorkResult:
        if self._workers is None:
            self._workers = KillableWorkers()
        return await self._workers.perform(payload)

    async def _isolated(self, payload: Mapping[str, Any]) -> WorkResult:
        if self._sandbox is None:  # a future and no task: what cancels all tasks must not lose a sandbox half open
            self._sandbox = asyncio.get_running_loop().run_in_executor(None, self._open_sandbox)
        return await (await asyncio.shield(self._sandbox)).run(payload)

    async def _served(self, payload: Mapping[str, Any], attempt: str = "") -> WorkResult:
        if self._mcp is None:
            from whet.rollout.mcp import McpServers

            self._mcp = McpServers(self._mcp_settings)
        return await self._mcp.perform(payload, attempt)

    async def leave(self, attempt: str) -> None:
        """An attempt is over: what was kept for it is given back."""
        if self._mcp is not None:
            await self._mcp.leave(attempt)

    def _pool(self, kind: str) -> Executor:
        if kind not in self._pools:
            if kind == "process":
                self._pools[kind] = ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn"))
            else:
                self._pools[kind] = ThreadPoolExecutor(self._width, thread_name_prefix="whet-work")
        return self._pools[kind]

    async def close(self) -> None:
        opened, self._sandbox = self._sandbox, None
        sandbox: Sandbox | None = None
        if opened is not None:
            with suppress(Exception):  # one that could not be opened: who asked for it has heard why
                sandbox = await opened
        if sandbox is not None:
            await sandbox.close()
        if self._mcp is not None:
            await self._mcp.close()
            self._mcp = None
        if self._workers is not None:
            self._workers.close()
            self._workers = None
        if self._helpers is not None:
            self._helpers.close()
            self._helpers = None
        for pool in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=True)
        self._pools.clear()


def _strongest() -> Sandbox:
    from whet.sandbox.isolation import open_sandbox

    return open_sandbox()


def elsewhere(function: str) -> bool:
    """Whether another process finds a function: one of a file that was loaded by its path it does not."""
    where = function.partition(":")[0]
    return where != "__main__" and not where.startswith(FILE_MODULE)


def call_function(function: str, arguments: Mapping[str, Any]) -> WorkResult:
    """Import `module:name` and call it. What it raises is its result: a play must be able to answer it."""
    module, _, name = function.partition(":")
    try:
        value = getattr(importlib.import_module(module), name)(**arguments)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the environment's function: what it raises is its answer
        return WorkResult(error="raised", detail=f"{type(error).__name__}: {error}")
    return value if isinstance(value, WorkResult) else WorkResult(value)
