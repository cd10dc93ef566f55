"""What an operator does to the trail: anchor it, redact it, freeze and unfreeze. Each is an entry of it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from whet.errors import WhetError
from whet.ledger.freeze import FROZEN, UNFROZEN, family_of, frozen
from whet.ledger.proof import under_way
from whet.ledger.store import FILE as LEDGER
from whet.release.anchor import Anchor
from whet.release.champion import Champions
from whet.release.decider import SITTINGS
from whet.release.proof import anchor_findings
from whet.release.redaction import redact
from whet.release.terms import changed_rule
from whet.release.trail import ANCHORED, Trail


def release_findings(releases: Path) -> list[str]:
    """What lies beside a whole trail and is not what it says: versions, their weights, what was calibrated."""
    champions = Champions(releases)
    return [*champions.findings(), *(told for name in champions.names() if (told := changed_rule(releases, name)))]


def set_anchor(releases: Path, anchor: Anchor) -> str:
    """Write heads to another place from now on; refused where the first one does not arrive there."""
    path = anchor.path
    if path is not None:
        path = path.resolve()
        if path.is_relative_to(releases.resolve()):
            raise WhetError(f"{anchor.place}: lies with the trail; an anchor is worth something elsewhere alone")
        anchor = Anchor(str(path))
    with Trail(releases / "trail.sqlite") as trail:
        with trail.turn():  # made where there is none yet
            pass
        with trail.reading() as db:
            if path is not None and path.is_file() and anchor_findings(db, anchor, ""):
                raise WhetError(f"{anchor.place}: holds heads of another trail; name a file of its own")
        anchor.write(trail.head())  # nothing is said of a place that nothing arrives at
        trail.append(ANCHORED, {"place": anchor.place})
        anchor.keep(releases)
        anchor.write(trail.head())
    return f"heads of the trail go to {anchor.place}; the first is there"


def redact_ticket(releases: Path, ticket: str, fields: tuple[str, ...], why: str, who: str) -> Iterator[str]:
    """Redact the trail, and take away the ledgers of sittings that hold what was asked about the ticket."""
    sittings = [file.parent for file in sorted((releases / SITTINGS).glob(f"*/{LEDGER}"))]
    busy = [folder.name for folder in sittings if under_way(folder / LEDGER)]
    if busy:
        raise WhetError(f"{busy[0]}: is at work and holds what was asked; stop it, then redact")
    with Trail.of(releases) as trail:
        count = redact(trail, ticket, fields=fields, why=why, who=who)
    for folder in sittings:
        shutil.rmtree(folder)
    yield f"{count} fields were taken out, and an entry says so"
    if sittings:
        yield f"{len(sittings)} ledgers of sittings, which hold prompts and replies, were removed: decisions stand"


def set_frozen(releases: Path, environment: str, why: str, who: str, *, halt: bool) -> str:
    """Freeze an environment, or end that."""
    family, told = family_of(environment), " ".join(why.split())
    if not told:
        raise WhetError("say why, for the record: --why TEXT")
    if bool(frozen(releases, family)) == halt:
        raise WhetError(f"{family} is {'frozen already' if halt else 'not frozen'}; nothing was changed")
    with Trail.of(releases) as trail:
        trail.append(FROZEN if halt else UNFROZEN, {"why": told, "who": who}, subject=family)
    return f"{family} is {'frozen' if halt else 'free again'}: {told}"
