"""A run promoted to a champion: its evidence is read, what speaks against it is refused or overridden on record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from whet.errors import WhetError
from whet.ledger.freeze import frozen
from whet.release.champion import RELEASES, Champion, Champions, check_name
from whet.release.evidence import read_evidence
from whet.run.compose import Given
from whet.run.workspace import RUNS


@dataclass(frozen=True, slots=True)
class Promotion:
    """A champion that was just promoted, and what it took the place of."""

    champion: Champion
    before: int | None
    passed_over: tuple[str, ...]
    """The objections that an override passed over."""

    def lines(self) -> Iterator[str]:
        champion = self.champion
        over = f", after v{self.before}" if self.before is not None else ""
        yield f"promoted {champion.title}{over}: {champion.run}, {champion.target['model']} on {champion.environment}"
        if champion.decision:
            yield f"gate: {champion.decision['says']}"
        if champion.claim:
            yield f"test: {champion.claim['says']}"
        yield from (f"note: {note}" for note in champion.notes)
        yield from (f"overridden ({champion.override}): {objection}" for objection in self.passed_over)


def promote_run(
    run: str | Path,
    name: str,
    *,
    runs: Path = RUNS,
    releases: Path = RELEASES,
    test: str = "",
    override: str = "",
    given: Given = Given(),
) -> Promotion:
    """Promote what a run came to; refused where its evidence does not carry it and no override says why it should."""
    check_name(name)
    champions = Champions(releases)
    found = read_evidence(run, runs, test=test, given=given)
    objections = [*found.objections, *_another_environment(champions, name, found.draft)]
    if why := frozen(releases, found.draft.environment):
        objections.append(f"{found.draft.environment} is frozen ({why})")
    reason = " ".join(override.split())
    if objections and not reason:
        raise WhetError(
            f"{run}: not promoted: {'; and '.join(objections)}. To promote it all the same: --override 'the reason'"
        )
    draft = replace(found.draft, name=name, override=reason if objections else "")
    if objections:
        draft = replace(draft, notes=(*draft.notes, *(f"overridden: {objection}" for objection in objections)))
    champion = champions.promote(draft, found.adapter, tuple(objections))
    return Promotion(champion, champions.events(name)[-1].before, tuple(objections))


def _another_environment(champions: Champions, name: str, draft: Champion) -> list[str]:
    """A champion is measured on one environment: evidence of another says nothing beside it."""
    if name not in champions.names():
        return []
    try:
        current = champions.get(name)
    except WhetError as problem:
        return [f"nothing says that it was measured as the champion before it was ({problem})"]
    if current.fingerprint == draft.fingerprint:
        return []
    return [
        f"{current.title} was measured on {current.environment} (fingerprint {current.fingerprint[:12]}), and this on "
        f"{draft.environment} ({draft.fingerprint[:12]})"
    ]
