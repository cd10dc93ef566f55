"""A threshold for a champion: labelled work is voted on as if it had no label, then the labels are looked at."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from whet.errors import WhetError
from whet.models.base import Model
from whet.release.champion import RELEASES, Champion
from whet.release.decider import CALIBRATE, Decider, open_decider
from whet.release.decision import CALIBRATED, DecisionRule, rule_seal
from whet.release.intake import OpenWork
from whet.release.terms import changed_rule, voter_of
from whet.release.threshold import CONFIDENCE, ReleaseRule, ScoredTicket, choose

AT_ONCE = 64

CHECK = 5000
"""New tickets on which the upper bound of false releases shall be within the budget again."""


async def calibrate(
    champion: Champion,
    lines: Sequence[bytes],
    allowed: float,
    releases: Path = RELEASES,
    *,
    confidence: float = CONFIDENCE,
    audit: float = 0.05,
    double: float = 0.2,
    check: int = CHECK,
    model: Model | None = None,
) -> ReleaseRule:
    """Choose the threshold and keep it, with the work it was chosen on, against which new work is watched."""
    for name, share in (("audit", audit), ("double", double)):
        if not 0.0 <= share <= 1.0:
            raise WhetError(f"--{name} {share:g}: a share lies between 0 and 1")
    if check < 0:
        raise WhetError(f"--check {check}: say how many new tickets, or 0 for none")
    async with open_decider(champion, releases, door=CALIBRATE, model=model) as decider:
        unchanged = not changed_rule(releases, champion.name)
        before = DecisionRule.of(releases, champion.name) if unchanged else DecisionRule()
        kept = replace(before, audit=audit, double=double, salt=before.salt or secrets.token_hex(16))
        intake = decider.intake
        works = [(intake.read(line), intake.label(line)) for line in lines]
        unlabelled = sum(label is None for _, label in works)
        if not works or unlabelled:
            raise WhetError(
                f"{unlabelled or 'all'} of {len(works)} lines have no label; a threshold is chosen by labels"
            )
        limit = asyncio.Semaphore(AT_ONCE)

        async def scored(work: OpenWork, label: str | None) -> ScoredTicket:
            async with limit:
                vote = await decider.vote(work)
            decider.tasks.take_away(work)
            passes = vote.proposed == intake.releases
            return ScoredTicket(kept.site(work.name), passes, vote.score(work), label != intake.releases)

        tickets = await asyncio.gather(*(scored(*pair) for pair in works))
        rule = replace(choose(tickets, allowed, confidence, check), voter=voter_of(champion, intake))
        replace(kept, rule=rule).keep(releases, champion.name, lines)
        _on_record(decider, rule, rule_seal(releases, champion.name))
    return rule


def _on_record(decider: Decider, rule: ReleaseRule, seal: str) -> None:
    told = {
        "version": decider.champion.version,
        "threshold": rule.threshold,
        "allowed": rule.allowed,
        "upper": rule.upper,
        "confidence": rule.confidence,
        "check": rule.check,
        "tickets": rule.tickets,
        "failing": rule.failing,
        "voter": rule.voter,
        "seal": seal,
    }
    decider.trail.append(CALIBRATED, told, subject=decider.champion.name)
