"""`hf:DIR`: weights of a folder through transformers, text or images and text, in left-padded batches.

Requests that are under way at the same time share a batch of at most `slots` rows. A row is drawn by its own seed, so
company changes a reply only through the last bits of the numbers, which depend on how much padding stands before it.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from whet.errors import FaultError, LimitReached, WhetError
from whet.keys import digest
from whet.models.base import FREE, Model, Request
from whet.models.hf.address import read_address
from whet.models.hf.chat_form import ChatForm
from whet.models.hf.folder import Folder
from whet.models.hf.prompt import Prompt
from whet.models.hf.queue import Queue, QueueClosed
from whet.models.options import ModelOptions
from whet.types import Fault, Reply

if TYPE_CHECKING:
    from whet.models.hf.rows import RowResult
    from whet.models.hf.weights import LoadedWeights

SCHEME = "hf:"
KNOWN = ("device", "dtype", "template")
"""What `extra` may set: where it runs, in which number type, and further variables of the chat template."""


def open_hf(address: str, options: ModelOptions) -> Model:
    """The model that `hf:DIR`, `hf:FILE.gguf` or either with `+ADAPTER` names."""
    return LocalModel(address, read_address(address.removeprefix(SCHEME)), options)


class LocalModel(Model):
    """A folder of weights behind the `Model` protocol. They are loaded at the first call.

    Tools are described and called in text (`fenced`). A call whose awaiting task is cancelled leaves its batch.
    A reply tells the tokens that were read and drawn. With `prior_ids` a conversation without images is continued from
    them, not from its text, where the chat template allows it (`whet.models.hf.prompt`).
    """

    def __init__(self, name: str, folder: Folder, options: ModelOptions) -> None:
        unknown = sorted(set(options.extra) - set(KNOWN))
        if unknown:
            raise WhetError(f"{name}: extra must not set {', '.join(unknown)}; it takes {', '.join(KNOWN)}")
        if options.slots < 1 or options.threads < 1:
            raise WhetError(f"{name}: slots = {options.slots}, threads = {options.threads}; give at least 1 of each")
        self.name = name
        self.width = options.slots
        self.context = options.context or folder.context
        self.price = FREE if options.price is None else options.price
        self.fingerprint = digest("hf", folder.digest, dict(options.extra))
        self._folder = replace(folder, context=self.context)
        template = dict(options.extra.get("template", {}))
        self.form = ChatForm(name, folder.digest[:12], folder.sees, template, self.price)
        server = _Server(self._folder, options)
        self._queue: Queue[Prompt, RowResult] = Queue(server.serve, lambda prompt: bool(prompt.images), options.slots)
        # Ends the thread when the model is dropped or the interpreter ends, if nobody closed it. It does not wait for
        # it: a collection may come within the interpreter's own locks, which a thread takes to end.
        self._release = weakref.finalize(self, self._queue.close, wait=False)

    async def complete(self, request: Request) -> Reply:
        prompt = self.form.prompt(request)
        try:
            made = await asyncio.wrap_future(self._queue.put(prompt))
        except QueueClosed:
            raise self._fault("the model was closed") from None
        except (LimitReached, WhetError):
            raise
        except Exception as error:
            raise self._fault(f"{type(error).__name__}: {error}") from error
        return self.form.reply(made, request)

    async def close(self) -> None:
        self._release.detach()
        await asyncio.to_thread(self._queue.close)

    def _fault(self, message: str) -> FaultError:
        return FaultError(Fault("local_model", self.name, " ".join(message.split())[:500]))


class _Server:
    """The weights, loaded by the first batch. Only the queue's thread comes here."""

    def __init__(self, folder: Folder, options: ModelOptions) -> None:
        self._folder = folder
        self._options = options
        self._weights: LoadedWeights | None = None

    def serve(self, prompts: Sequence[Prompt], stopped: Callable[[], bool]) -> Sequence[RowResult | Exception]:
        if self._weights is None:
            from whet.models.hf.weights import load_weights

            extra = self._options.extra
            device, dtype = str(extra.get("device", "")), str(extra.get("dtype", "auto"))
            self._weights = load_weights(self._folder, device, dtype, self._options.threads)
        return self._weights.generate(prompts, stopped)
