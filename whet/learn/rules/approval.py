"""A person's word on a change that passed the gate: written beside the run, and remembered in its ledger when read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from whet.errors import WhetError
from whet.files import write_json
from whet.keys import digest, policy_digest
from whet.learn.workshop import Workshop
from whet.types import Policy

FILE = "approvals.json"
APPROVAL = "approval"
"""The kind of effect that holds what a person said."""


@dataclass(frozen=True, slots=True)
class PersonsWord:
    """Yes or no, whose, and why."""

    yes: bool
    by: str = ""
    why: str = ""

    @property
    def words(self) -> str:
        said = "approved" if self.yes else "declined"
        return " ".join(part for part in (said, self.by and f"by {self.by}", self.why and f": {self.why}") if part)


def approved(shop: Workshop, purpose: str, candidate: Policy) -> PersonsWord | None:
    """What was said of a candidate; None while nobody has said anything."""
    key, asked = digest(APPROVAL, purpose), policy_digest(candidate)
    known: Any = shop.ledger.effect(key, asked, purpose)
    if known is None:
        known = read_approvals(shop.session.folder).get(purpose)
        if known is None:
            return None
        shop.ledger.add_effect(key, APPROVAL, purpose, asked, known)
    return _word(known)


def read_approvals(folder: Path) -> dict[str, Any]:
    file = folder / FILE
    if not file.is_file():
        return {}
    try:
        found = orjson.loads(file.read_bytes())
    except orjson.JSONDecodeError as error:
        raise WhetError(f"{file}: is not valid JSON ({error}); write it with: whet rules approve") from None
    if not isinstance(found, dict) or not all(isinstance(said, dict) and "yes" in said for said in found.values()):
        raise WhetError(f"{file}: holds no approvals; write it with: whet rules approve")
    return found


def _word(known: Mapping[str, Any]) -> PersonsWord:
    return PersonsWord(bool(known["yes"]), str(known.get("by", "")), str(known.get("why", "")))


def write_approval(folder: Path, purpose: str, said: PersonsWord) -> PersonsWord | None:
    """Put a person's word where the run finds it; the word in whose place it stands, if there was one.

    What a run has read already cannot be taken back.
    """
    known = read_approvals(folder)
    write_json(folder / FILE, {**known, purpose: {"yes": said.yes, "by": said.by, "why": said.why}})
    return _word(known[purpose]) if purpose in known else None
