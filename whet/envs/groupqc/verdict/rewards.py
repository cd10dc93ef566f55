"""What a verdict earns: for the label and the form, and if wanted with a price on errors or credit for grounds.

The pack holds the weights. `label`: right 1, anything else 0. `asymmetric`: a false release costs more than a false
block, and an invalid reply more than either, so that breaking the form never pays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from whet.envs.groupqc.pack.schema import Pack, TicketVerdict, VerdictRewards
from whet.envs.groupqc.verdict.lines import VerdictReading
from whet.types import Score

Scheme = Literal["label", "asymmetric"]

_REFERENCE = re.compile(r"(?:image|photo|图片|图)\s*_?\s*(\d{1,4})", re.IGNORECASE)
_SEGMENT = re.compile(r"[;；]")
_CLAUSE = re.compile(r"[,，。、:：]")
_ABSENCE = re.compile(r"未|没有|没|无|缺|\b(?:no|not|missing|without|absent|lacks?)\b", re.IGNORECASE)


def score(
    reading: VerdictReading,
    label: TicketVerdict,
    weights: VerdictRewards,
    scheme: Scheme = "label",
    grounded: float | None = None,
) -> Score:
    """The score of one reply. `grounded` is the share of its claims that the summaries bear out, where that counts."""
    right, valid = reading.call == label, reading.valid
    released = reading.call == "pass" and not right
    blocked = reading.call == "fail" and not right
    parts = {
        "label": float(right),
        "format": float(valid),
        "false_release": float(released),
        "false_block": float(blocked),
        "invalid": float(not valid),
    }
    reward = weights.format * valid
    if scheme == "label":
        reward += weights.label * right
    else:
        reward += weights.label * right - _cost(weights, released, blocked, valid)
    if grounded is not None:
        parts["grounded"] = grounded
        reward += weights.grounded * grounded * valid
    soft = (weights.label * right + weights.format * valid) / (weights.label + weights.format)
    reason = "correct" if right else "false_release" if released else "false_block" if blocked else "invalid"
    return Score(int(right), soft, reward, parts, reason, reading.reason if valid else reading.code)


def _cost(weights: VerdictRewards, released: bool, blocked: bool, valid: bool) -> float:
    if not valid:
        return max(weights.false_release, weights.false_block) + weights.label / 2
    return weights.false_release * released + weights.false_block * blocked


# --------------------------------------------------------------------------------------------- grounds


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names of a pack's objects, attributes and values in a text: the longest first, so that 不符合 is not 符合."""

    pattern: re.Pattern[str]

    @classmethod
    def of(cls, pack: Pack) -> Vocabulary:
        names = {category.name.lower() for category in pack.categories}
        for category in pack.categories:
            for attribute in category.attributes:
                names |= {name.lower() for name in (attribute.name, *attribute.values) if len(name) > 1}
        ordered = sorted(names, key=lambda name: (-len(name), name))
        return cls(re.compile("|".join(rf"\b{re.escape(n)}\b" if n.isascii() else re.escape(n) for n in ordered)))

    def terms(self, text: str) -> frozenset[str]:
        return frozenset(self.pattern.findall(text.lower()))


@dataclass(frozen=True, slots=True)
class Grounds:
    """Which claims of a reason the summaries bear out. A reason without any claim has no grounds."""

    borne_out: int
    claims: int

    @property
    def share(self) -> float:
        return self.borne_out / self.claims if self.claims else 0.0


def grounds(names: Vocabulary, reason: str, summaries: Sequence[str]) -> Grounds:
    """Check a reason against the summaries: objects and values it names, and the images it refers to.

    A part that names images is held against these, any other against all. In a clause that speaks of absence, a name
    that is indeed absent is borne out; one that is present counts against it only where the clause names nothing else.
    """
    shown = [names.terms(text) for text in summaries]
    borne_out = claims = 0
    for segment in filter(str.strip, _SEGMENT.split(reason)):
        numbers = {int(number) for number in _REFERENCE.findall(segment)}
        inside = {number for number in numbers if 1 <= number <= len(summaries)}
        claims += len(numbers)
        borne_out += len(inside)
        seen = frozenset().union(*(shown[number - 1] for number in inside)) if inside else frozenset().union(*shown)
        for clause in _CLAUSE.split(segment):
            good, made = _clause(clause, names, seen)
            borne_out, claims = borne_out + good, claims + made
    return Grounds(borne_out, claims)


def _clause(clause: str, names: Vocabulary, seen: frozenset[str]) -> tuple[int, int]:
    """How many claims of a clause hold, and how many it makes."""
    named = names.terms(clause)
    left = clause.lower()
    for term in sorted(named, key=len, reverse=True):
        left = left.replace(term, " ")
    if not _ABSENCE.search(left):
        return len(named & seen), len(named)
    absent = len(named - seen)
    return absent, absent or int(len(named) == 1)
