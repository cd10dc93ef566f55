"""Proposers by name: `llm` asks an optimiser model, `miner` induces rules from the tickets and asks nobody."""

from __future__ import annotations

from whet.errors import WhetError, nearest
from whet.learn.rules.types import RuleProposer

NAMES = ("llm", "miner")


def proposer_named(name: str) -> RuleProposer:
    if name == "llm":
        from whet.learn.rules.reflection import Reflection

        return Reflection()
    if name == "miner":
        from whet.learn.rules.miner import Miner

        return Miner()
    hint = nearest(name, NAMES) or f" Known: {', '.join(NAMES)}."
    raise WhetError(f"train.proposer: there is no proposer {name!r}.{hint}")
