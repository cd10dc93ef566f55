"""A model reached through litellm, under the rules that every model has here.

litellm retries, prices and counts by itself; none of that is used. An attempt is one call of it, so that each is paid
for before it is made; what a provider says it used is believed as far as that of any server is, and where it is left
out the reservation counts. Keys are litellm's affair: it reads the variables of its providers.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from typing import Any

import orjson

from whet.errors import LimitReached, WhetError
from whet.keys import digest
from whet.models.base import Model, Request
from whet.models.chat.endpoint import check_options, extra_tokens
from whet.models.chat.retry import Persistence, Trouble
from whet.models.chat.status import AGAIN, ContentRefusal
from whet.models.openai.body import ChatDialect
from whet.models.openai.reply import replies
from whet.models.options import ModelOptions
from whet.models.registry.litellm_prices import litellm_context, litellm_price
from whet.models.secrets import quoted
from whet.outside import KEYS
from whet.types import Reply, Usage

SCHEME = "litellm:"
KEY_NAMES = ("_API_KEY", "_TOKEN", "_SECRET_ACCESS_KEY", "_ACCESS_KEY_ID")
"""How variables with keys end; what they hold is taken out of whatever comes back."""

SHORTEST_KEY = 12


class LiteLLM(Model):
    """`litellm:PROVIDER/MODEL`."""

    def __init__(self, name: str, options: ModelOptions) -> None:
        model = name.removeprefix(SCHEME)
        check_options(options)
        self.name = name
        held = () if options.shapes is None else (options.shapes,)
        self.fingerprint = digest("litellm", model, options.tools, dict(options.extra), *held)
        self.price = options.price or litellm_price(model)
        self.context = options.context or litellm_context(model)
        self.connections = options.connections
        self._model = model
        self._options = options
        self._dialect = ChatDialect(model, options.limit_field or "max_tokens", options)
        self._persistence = Persistence.of(name, name, options)
        self._extra = extra_tokens(options)
        self._slots: asyncio.Semaphore | None = None

    def overhead(self, request: Request) -> int:
        return self._extra

    async def complete(self, request: Request) -> Reply:
        asked = orjson.loads(self._dialect.body(request))
        if self._slots is None:
            self._slots = asyncio.Semaphore(self._options.connections)
        async with self._slots:
            try:
                return await self._persistence.run(lambda: self._attempt(asked, request), request.meter)
            except ContentRefusal:
                return Reply("", finish="filter", usage=Usage(calls=1, usd=None if self.price is None else 0.0))

    async def _attempt(self, asked: dict[str, Any], request: Request) -> Reply:
        library = _library()
        if self._options.base_url:
            asked = {**asked, "api_base": self._options.base_url}
        if self._options.api_version:
            asked = {**asked, "api_version": self._options.api_version}
        try:
            async with asyncio.timeout(self._options.timeout):
                answer = await library.acompletion(**asked, num_retries=0, max_retries=0, stream=False)
        except TimeoutError:
            raise Trouble("timeout", f"no answer within {self._options.timeout:g} s") from None
        except Exception as error:
            raise self._trouble(error) from error
        return replies(self._plain(answer), request, 1, self._options, self.price)[0]

    def _plain(self, answer: Any) -> Any:
        """The answer as data, without keys; of a size that any server's has at most."""
        try:
            body = orjson.dumps(answer if isinstance(answer, dict) else answer.model_dump(), default=str)
        except (AttributeError, TypeError, ValueError) as error:
            raise Trouble("bad_reply", f"litellm gave back no reply: {quoted(repr(answer))}") from error
        if len(body) > self._options.max_reply_bytes:
            raise Trouble("too_large", f"a reply of {len(body):,} bytes")
        return orjson.loads(KEYS.hide_bytes(body))

    def _trouble(self, error: Exception) -> Exception:
        """What an exception of litellm stands for, told by its name and status: try again, a limit, or a mistake."""
        kind, status = type(error).__name__, getattr(error, "status_code", None)
        said = quoted(str(error))
        if kind == "ContextWindowExceededError":
            return LimitReached("context_overflow", f"{self.name}: {said}")
        if kind == "ContentPolicyViolationError":
            return ContentRefusal(said)
        known = status if isinstance(status, int) and not isinstance(status, bool) else 0
        if known in AGAIN or known >= 500 or kind in ("APIConnectionError", "Timeout"):
            return Trouble(AGAIN.get(known, "server_error"), f"{kind}: {said}")
        if 400 <= known < 500:
            return WhetError(f"{self.name}: {kind}, {known}: {said} Keys are read by litellm's own rules.")
        return Trouble("server_error", f"{kind}: {said}")

    async def close(self) -> None:
        """litellm keeps its connections for the process."""


def _library() -> Any:
    """litellm, quiet, and with the price table that it brings: it would fetch another one when it is imported."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    return litellm


def open_litellm(address: str, options: ModelOptions) -> LiteLLM:
    if options.key_env or options.key_file or options.key_command:
        raise WhetError(
            f"{address}: litellm reads keys by its own rules, such as ANTHROPIC_API_KEY for anthropic/...; "
            "leave key_env, key_file and key_command out, or use the provider's own scheme"
        )
    for name, value in os.environ.items():
        if name.endswith(KEY_NAMES) and len(value) >= SHORTEST_KEY:
            KEYS.add(value)
    return LiteLLM(address, replace(options, limit_field=options.limit_field or "max_tokens"))
