"""What a champion decides by: the threshold that was chosen for it, and the watch over its work against drift."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from whet.errors import WhetError, typed
from whet.keys import digest
from whet.ledger.freeze import UNFROZEN, frozen
from whet.release.champion import Champion
from whet.release.decision import CALIBRATED, DECIDED, FOLDER, DecisionRule, reference_path, rule_seal
from whet.release.intake import Intake, OpenWork, Watch
from whet.release.trail import Trail, TrailEntry

WATCHED_AGAIN = 2000
"""Tickets since the reference that a new sitting watches again; the watch has no state of its own."""


@dataclass(frozen=True, slots=True)
class DecisionTerms:
    """A champion's rule, the watch over its work, and what whoever has it at work must know, a line each."""

    rule: DecisionRule = DecisionRule()
    watch: Watch | None = None
    notes: tuple[str, ...] = ()


def decision_terms(champion: Champion, intake: Intake, trail: Trail, releases: Path) -> DecisionTerms:
    """What was chosen for a champion, as it holds now; refused where it is not what was calibrated."""
    if changed := changed_rule(releases, champion.name):
        raise WhetError(changed)
    named = DecisionRule.of(releases, champion.name)
    rule = named.for_voter(voter_of(champion, intake))
    halted = frozen(releases, champion.environment)
    watch = None if halted or rule.rule is None else _watch(intake, rule, trail, champion, releases)
    return DecisionTerms(rule, watch, tuple(_notes(champion, named, rule, halted, watched=watch is not None)))


def _notes(champion: Champion, named: DecisionRule, rule: DecisionRule, halted: str, *, watched: bool) -> Iterator[str]:
    if rule.rule is None or rule.rule.threshold is None:
        why = "its threshold was chosen for another version" if named.rule is not None else "it has no threshold"
        why = why if rule.rule is None else "the work that it was calibrated on gave it no threshold"
        yield f"{champion.title} releases nothing: {why}; whet decide {typed(champion.name)} --calibrate LABELLED"
    if halted:
        yield f"{champion.title} releases nothing: frozen ({halted})"
    elif rule.rule is not None and not watched:
        yield f"{champion.title} is not watched for drift: its threshold was chosen on too little work"


def changed_rule(releases: Path, champion: str) -> str:
    """What is wrong with the threshold that a champion goes by: it must be the one that was calibrated; '' if it is."""
    entries = Trail.of(releases).entries(CALIBRATED, champion)
    if rule_seal(releases, champion) == (entries[-1].record.get("seal") if entries else ""):
        return ""
    return (
        f"{releases / FOLDER / champion}.json: is not what was calibrated, or its reference is not; restore them from "
        f"a copy, or make them again: whet decide {typed(champion)} --calibrate LABELLED"
    )


def voter_of(champion: Champion, intake: Intake) -> str:
    """Who decides, and how: a threshold that was chosen for one voter says nothing about another."""
    return digest(intake.fingerprint, champion.content)


def _watch(intake: Intake, rule: DecisionRule, trail: Trail, champion: Champion, releases: Path) -> Watch | None:
    """The watch over a champion's work, where it stood: what came since its reference is watched again."""
    path = reference_path(releases, champion.name)
    if not path.is_file():
        return None
    watch = intake.watch([line for line in path.read_bytes().split(b"\n") if line.strip()], rule.alpha)
    if watch is None:
        return None
    begun = [entry.seq for kind in (CALIBRATED, UNFROZEN) for entry in trail.entries(kind)]
    entries = [entry for entry in trail.entries(DECIDED) if entry.seq > max(begun, default=0)]
    for work in _works(intake, [entry for entry in entries if entry.record["champion"] == champion.name]):
        watch.take(work)
    return watch


def _works(intake: Intake, entries: Sequence[TrailEntry]) -> list[OpenWork]:
    rows = [entry.private.get("ticket") for entry in entries[-WATCHED_AGAIN:]]
    return [intake.read(orjson.dumps(row)) for row in rows if row is not None]
