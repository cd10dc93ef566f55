"""What a run has cost: attempts as they were reserved before they were sent, and what each was settled at."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Literal

from whet.types import Usage

How = Literal["told", "untold", "unsent", "lost"]
"""`told`: at what the server says it used. `untold`: at the full reservation, for want of a usage that can be believed.
`unsent`: at nothing, no connection was made. `lost`: at the full reservation, a kill came before the end of it."""


@dataclass(frozen=True, slots=True)
class AttemptReserve:
    """The most that one attempt at a call can cost; `usd` is None where no price is known."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = 0.0

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    @property
    def usage(self) -> Usage:
        return Usage(1, self.prompt_tokens, self.completion_tokens, 0, self.usd)


@dataclass(frozen=True, slots=True)
class Account:
    """The attempts of a run over all its sessions."""

    told: Usage = Usage()
    """What servers say was used."""
    untold: Usage = Usage()
    """Attempts whose usage never became known, at their full reservation: they may have been paid."""
    lost: Usage = Usage()
    """Attempts that a kill cut off, at their full reservation: they may have been paid."""
    under_way: Usage = Usage()
    """Attempts that have no end on record: under way now, or cut off by a kill that no session has followed yet."""

    @property
    def spent(self) -> Usage:
        """What counts against a budget: all of it."""
        return self.told + self.maybe

    @property
    def maybe(self) -> Usage:
        """What may have been paid, and nobody knows."""
        return self.untold + self.lost + self.under_way

    def __str__(self) -> str:
        said = f"account: {amount(self.told)}"
        if not self.maybe.calls:
            return said
        parts = {"without a known usage": self.untold, "cut off by a kill": self.lost, "without an end": self.under_way}
        why = ", ".join(f"{usage.calls} {what}" for what, usage in parts.items() if usage.calls)
        return f"{said}; may have been paid: up to {amount(self.maybe)} ({why})"


def amount(usage: Usage) -> str:
    """Calls, tokens and dollars in words."""
    priced = "" if usage.usd is None else f", ${usage.usd:.4f}"
    return f"{usage.calls:,} calls, {usage.tokens:,} tokens{priced}"


SETTLED = """SELECT how, sum(calls), sum(prompt_tokens), sum(completion_tokens), sum(cached_tokens), sum(usd),
    sum(usd IS NULL) FROM settlements GROUP BY how"""

UNDER_WAY = """SELECT count(*), coalesce(sum(prompt_tokens), 0), coalesce(sum(completion_tokens), 0), 0, sum(usd),
    coalesce(sum(usd IS NULL), 0) FROM attempts WHERE seq NOT IN (SELECT seq FROM settlements)"""


def account_of(db: sqlite3.Connection) -> Account:
    settled = {how: _usage(*sums) for how, *sums in db.execute(SETTLED)}
    none = Usage()
    return Account(
        settled.get("told", none),
        settled.get("untold", none),
        settled.get("lost", none),
        _usage(*db.execute(UNDER_WAY).fetchone()),
    )


def _usage(calls: int, prompt: int, completion: int, cached: int, usd: float | None, unpriced: int) -> Usage:
    return Usage(calls, prompt, completion, cached, None if unpriced else usd or 0.0)
