"""llama.cpp in this process: a server without a network hop, and one waiting thread for each of its slots."""

from __future__ import annotations

import atexit
import secrets
import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from whet.errors import WhetError
from whet.extras import install

BATCH = 128
"""Prompt tokens read in one go: as fast as more on a CPU, and a call can be stopped between two batches."""

CACHE_MIB = 256
"""Memory for prompts that were pushed out of their slot: two playbooks that alternate are not read anew each time."""


class CallStopped(Exception):
    """A call was given up before its reply was complete, or came after the release."""


class LlamaError(Exception):
    """llama.cpp answered with an error object; `kind` is its type."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(str(error.get("message", error)))
        self.told = error
        self.kind: str = error.get("type", "")


class Llama:
    """Weights served on `slots` slots of `context` tokens each, loaded at the first call. Used from any thread.

    Calls wait in threads of their own, so nothing here belongs to an event loop. A prompt stays in its slot: the next
    one that begins the same way is read only from where it differs.
    """

    def __init__(self, path: Path, context: int, threads: int, slots: int) -> None:
        self.path = path
        self.context = context
        self.threads = threads
        self.slots = slots
        self.version = ""
        self._pool = ThreadPoolExecutor(slots, "whet-embedded")
        self._closing = threading.Event()
        self._loading = threading.Lock()
        self._server: Any = None
        atexit.register(self.release)

    def chat(self, body: bytes, stop: threading.Event) -> Future[list[bytes]]:
        """Post a chat completion; the future holds the answer's chunks. Setting `stop` ends a streamed one early."""
        if self._closing.is_set():
            raise CallStopped
        return self._pool.submit(self._chat, body, stop)

    def release(self) -> None:
        """Stop what runs, wait for it, and free the weights. Idempotent.

        The wait is not optional: llama.cpp aborts the process when a server goes away under a waiting call. It is
        short, because a streamed call ends at its next token or batch.
        """
        atexit.unregister(self.release)
        self._closing.set()
        self._pool.shutdown(cancel_futures=True)
        self._server = None

    def _chat(self, body: bytes, stop: threading.Event) -> list[bytes]:
        chunks: list[bytes] = []

        def take(chunk: bytes) -> bool:
            chunks.append(chunk)
            return stop.is_set() or self._closing.is_set()

        try:
            # No variable for the server: a traceback that someone keeps would keep it alive beyond its release.
            self._loaded().handle_chat_completions(body, take)
        except (RuntimeError, ValueError, IndexError) as problem:  # what the binding makes of a C++ exception
            raise LlamaError({"message": str(problem)}) from problem
        if stop.is_set() or self._closing.is_set():
            raise CallStopped
        return chunks

    def _loaded(self) -> Any:
        with self._loading:
            if self._server is None:
                self._server = self._load()
            return self._server

    def _load(self) -> Any:
        try:
            import xllamacpp
        except ImportError as problem:
            raise WhetError(f"llama.cpp does not load here ({problem}); run: {install('embedded')}") from problem
        self.version = f"xllamacpp-{xllamacpp.__version__}"
        params = xllamacpp.CommonParams()
        params.model.path = str(self.path)
        params.n_parallel = self.slots
        params.n_ctx = self.slots * self.context  # divided evenly among the slots
        params.n_batch = params.n_ubatch = BATCH
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self.threads
        params.cache_ram_mib = CACHE_MIB
        params.fit_params = False  # would shrink the context in silence
        params.warmup = False
        params.verbosity = -1
        # The library opens a loopback port that nobody here needs; a random key keeps others out of it.
        params.api_keys = [secrets.token_hex(32)]
        params.endpoint_slots = params.ui = False
        params.n_threads_http = 1
        try:
            return xllamacpp.Server(params)
        except RuntimeError as problem:
            raise WhetError(
                f"llama.cpp cannot load {self.path}: the file is damaged, of an unknown architecture, or too big"
            ) from problem
