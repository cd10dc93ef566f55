"""A decision on a piece of work, and by what it becomes one: a threshold, an audit, a freeze."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from whet.errors import WhetError, typed
from whet.files import own_folder, write_atomically, write_json
from whet.keys import seed_for
from whet.release.threshold import ReleaseRule
from whet.release.trail import TrailEntry

DECIDED = "decided"
"""The kind of entry that a decision is; its subject is the key of the work."""

REVIEW = "review"
"""The verdict of a decision that leaves the work to a person."""

CALIBRATED = "calibrated"
"""The kind of entry that says which threshold was chosen for a champion, and on how much."""

FOLDER = "decide"


@dataclass(frozen=True, slots=True)
class WorkDecision:
    """What became of a piece of work. `verdict` is one of the environment's choices, or `review`."""

    entry: int
    ticket: str
    name: str
    verdict: str
    code: str
    """Why a person is asked; '' where none is. `audit`: the verdict stands, and a person looks at it too."""
    proposed: str | None
    """What the policy said, whatever became of it."""
    reason: str
    cited: tuple[str, ...]
    confidence: float
    gap: float
    score: float
    lacks: Mapping[str, Any]
    champion: str
    version: int
    model: str
    playbook: str
    at: float
    case: int | None = None
    again: bool = False
    """Whether it was decided before, and is told again."""

    def as_data(self) -> dict[str, Any]:
        """The decision as its line of `decisions.jsonl` and the answer of the endpoint have it."""
        return {
            "ticket": self.ticket,
            "name": self.name,
            "verdict": self.verdict,
            "code": self.code,
            "proposed": self.proposed,
            "reason": self.reason,
            "cited_images": list(self.cited),
            "confidence": self.confidence,
            "evidence_gap": self.gap,
            "release_score": self.score,
            "lacks": self.lacks,
            "champion": f"{self.champion}@v{self.version}",
            "model": self.model,
            "playbook": self.playbook,
            "decided_at": self.at,
            "entry": self.entry,
            "case": self.case,
            "again": self.again,
        }


PRIVATE = ("name", "reason", "cited", "lacks", "ticket")
"""What of a decision stands apart in the trail, and can be redacted; `ticket` is the work as it was handed in."""


def decision_in(entry: TrailEntry, *, again: bool = False) -> WorkDecision:
    """A decision from its entry; what was redacted is empty."""
    told, apart = entry.record, entry.private
    return WorkDecision(
        entry.seq,
        entry.subject,
        apart.get("name", ""),
        told["verdict"],
        told["code"],
        told["proposed"],
        apart.get("reason", ""),
        tuple(apart.get("cited", ())),
        told["confidence"],
        told["gap"],
        told["score"],
        apart.get("lacks", {}),
        told["champion"],
        told["version"],
        told["model"],
        told["playbook"],
        entry.at,
        told["case"],
        again,
    )


@dataclass(frozen=True, slots=True)
class DecisionRule:
    """By what a champion decides: the threshold with the voter it was chosen for, how much is audited, what is watched.

    `salt` makes the draw of audits and the names of sites unguessable for whoever hands work in.
    """

    rule: ReleaseRule | None = None
    audit: float = 0.05
    """The share of automatic passes that a person looks at."""
    double: float = 0.2
    """The share of cases that two reviewers decide."""
    alpha: float = 0.01
    """The chance of ever raising an alarm of drift without cause."""
    salt: str = ""

    @classmethod
    def of(cls, releases: Path, champion: str) -> DecisionRule:
        """What was chosen for a champion; nothing is released where nothing was."""
        path = releases / FOLDER / f"{champion}.json"
        try:
            data = orjson.loads(path.read_bytes())
            held = data.pop("rule")
            rule = None if held is None else ReleaseRule(**{**held, "sites": tuple(held["sites"])})
            return cls(rule=rule, **data)
        except FileNotFoundError:
            return cls()
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise WhetError(
                f"{path}: damaged; make it again with: whet decide {typed(champion)} --calibrate LABELLED"
            ) from None

    def keep(self, releases: Path, champion: str, reference: Sequence[bytes]) -> None:
        """Keep the rule, and the work it was chosen on, which new work is watched against."""
        own_folder(releases / FOLDER)
        write_atomically(reference_path(releases, champion), b"".join(line + b"\n" for line in reference))
        write_json(releases / FOLDER / f"{champion}.json", asdict(self))

    def for_voter(self, voter: str) -> DecisionRule:
        """The rule as it holds for a voter: a threshold that was chosen for another says nothing."""
        return self if self.rule is not None and self.rule.voter == voter else replace(self, rule=None)

    def site(self, name: str) -> str:
        """What a site is known again by, for whoever has the salt alone."""
        return hashlib.blake2b(name.encode("utf-8", "replace"), key=self.salt.encode()[:64], digest_size=12).hexdigest()

    def drawn(self, what: str, ticket: str, share: float) -> bool:
        """Whether a ticket is among the share that is drawn for something."""
        return seed_for(what, self.salt, ticket) % 1_000_000 < share * 1_000_000

    def verdict(
        self, proposed: str | None, releasing: str, score: float, site: str, frozen: bool, agreement: float
    ) -> tuple[str, str]:
        """What becomes of a piece of work, and why a person is asked. Blocking releases nothing: it needs no score."""
        if proposed is None:
            return REVIEW, "no_verdict"
        if proposed != releasing:
            return proposed, ""
        if frozen:
            return REVIEW, "drift"
        rule = self.rule
        if rule is None or rule.threshold is None or site in rule.sites:
            return REVIEW, "no_threshold"
        if score < rule.threshold:
            return REVIEW, "low_agreement" if agreement < 1.0 else "below_threshold"
        return proposed, ""


def rule_seal(releases: Path, champion: str) -> str:
    """Stands for what was chosen for a champion and what it was chosen on; '' where nothing was."""
    paths = (releases / FOLDER / f"{champion}.json", reference_path(releases, champion))
    if not any(path.is_file() for path in paths):
        return ""
    parts = [hashlib.sha256(path.read_bytes() if path.is_file() else b"").digest() for path in paths]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def reference_path(releases: Path, champion: str) -> Path:
    return releases / FOLDER / f"{champion}.reference.jsonl"
