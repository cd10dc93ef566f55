"""Works done here and now, one after the other: for checks and baselines, where no engine drives the play."""

from __future__ import annotations

import asyncio
import importlib
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from whet.types import Work, WorkResult

if TYPE_CHECKING:
    from whet.sandbox.base import Sandbox


class Performing:
    """Performs works of the kinds `call` and `sandbox`; a sandbox is opened by the first work that needs it."""

    def __init__(self) -> None:
        self._thread: ThreadPoolExecutor | None = None
        self._runner: asyncio.Runner | None = None
        self._sandbox: Sandbox | None = None

    def __enter__(self) -> Performing:
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread is not None:
            self._thread.submit(self._let_go).result()
            self._thread.shutdown()
            self._thread = None

    def __call__(self, job: Work) -> WorkResult:
        if job.kind == "call":
            module, _, function = str(job.payload["function"]).partition(":")
            value = getattr(importlib.import_module(module), function)(**job.payload["arguments"])
            return value if isinstance(value, WorkResult) else WorkResult(value)
        if job.kind == "sandbox":
            # A thread of its own, because the caller's may be running a loop already.
            self._thread = self._thread or ThreadPoolExecutor(1, "whet-sandbox")
            return self._thread.submit(self._isolated, job).result()
        return WorkResult(error="no_performer", detail=f"works of kind {job.kind!r} are not performed here")

    def _isolated(self, job: Work) -> WorkResult:
        if self._sandbox is None:
            from whet.sandbox.isolation import open_sandbox

            self._runner, self._sandbox = asyncio.Runner(), open_sandbox()
        assert self._runner is not None
        return self._runner.run(self._sandbox.run(job.payload))

    def _let_go(self) -> None:
        if self._runner is not None and self._sandbox is not None:
            self._runner.run(self._sandbox.close())
            self._runner.close()
