"""`hf:DIR`: weights of a folder through transformers, text or images and text, many conversations at once.

Requests that are under way at the same time share passes of at most `slots` rows. A row is drawn by its own seed, so
company changes a reply only through the last bits of the numbers.
"""

from __future__ import annotations

import asyncio
import weakref
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from whet.errors import FaultError, LimitReached, WhetError
from whet.keys import digest
from whet.models.base import FREE, Model, Request
from whet.models.hf.address import read_address
from whet.models.hf.chat_form import ChatForm
from whet.models.hf.folder import Folder
from whet.models.hf.prompt import Prompt
from whet.models.hf.queue import Queue, QueueClosed, ReplyEngine
from whet.models.options import ModelOptions
from whet.types import Fault, Reply

if TYPE_CHECKING:
    from whet.models.hf.rows import RowResult

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
        self._queue: Queue[Prompt, RowResult] = Queue(partial(_engine_of, self._folder, options), options.slots)
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


def _engine_of(folder: Folder, options: ModelOptions) -> ReplyEngine[Prompt, RowResult]:
    """The weights in memory with what works prompts off; the queue's thread comes here, and no other."""
    from whet.models.hf.engines import open_engine
    from whet.models.hf.limits import cache_bytes
    from whet.models.hf.weights import load_weights

    device, dtype = str(options.extra.get("device", "")), str(options.extra.get("dtype", "auto"))
    return open_engine(load_weights(folder, device, dtype, options.threads), options.slots, cache_bytes(options.cache))
