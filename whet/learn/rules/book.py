"""The rule book: rules with ids that are never used twice, and the operations that make another book of it.

`S1`, `S2`, … are the structure of a mission and frozen. `G0` is its checklist: it may be worded anew and never leaves.
`G1`, `G2`, … are learnt. A rule that goes is retired and stays in the book, so that nothing takes its id.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from whet.errors import WhetError
from whet.keys import digest
from whet.types import Playbook, Rule

OperationKind = Literal["upsert", "update", "merge", "remove"]
OPERATIONS: tuple[OperationKind, ...] = ("upsert", "update", "merge", "remove")

CHECKLIST = "G0"
"""The rule that every book has."""

RULE_ID = re.compile(r"[SG](0|[1-9]\d*)")

ABLATION = "ablation"
"""The source of a removal that nobody asked for."""

_NOT_PLAIN = (
    (re.compile(r"```|~~~"), "a fence"),
    (re.compile(r"<\|[^|<>]*\|>"), "a token of a chat template"),
    (re.compile(r"[\x00-\x08\x0e-\x1b\x7f\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]"), "an invisible character"),
    (re.compile(r"^\s*[SG]\d+\s*[:.)]"), "an id before its words"),
)
"""What could end the list that a rule stands in, or let it pose as another rule."""

LONGEST = 600
"""Characters that one rule may have."""


@dataclass(frozen=True, slots=True)
class RuleRefusal:
    """Why an operation is not carried out: a short stable code, and the same for a person."""

    code: str
    detail: str

    def __str__(self) -> str:
        return f"{self.code}: {self.detail}"


@dataclass(frozen=True, slots=True)
class Operation:
    """One change of a book, with its reason.

    `upsert` adds `text`; `update` words `target` anew; `merge` words `target` anew and retires `merged`; `remove`
    retires `target`. `evidence` are ids of train tasks (`train/17`). `predicate` is the condition under which the rule
    decides, as data in the language of the environment, where whoever proposes it knows one.
    """

    op: OperationKind
    text: str = ""
    target: str = ""
    merged: tuple[str, ...] = ()
    reason: str = ""
    evidence: tuple[str, ...] = ()
    predicate: Mapping[str, Any] | None = None
    scope: str = ""
    source: str = "proposer"
    """Who brings it: a proposer by name, `ablation` for a removal that nobody asked for, `carried` from before."""

    @property
    def signature(self) -> str:
        """What it comes to, whatever its reason: an operation with the same one is the same proposal."""
        targets = ",".join(sorted({self.target, *self.merged} - {""}))
        return ":".join(part for part in (self.op, targets, same_words(self.text)) if part)

    def as_data(self) -> dict[str, Any]:
        return {
            "op": self.op,
            "text": self.text,
            "target": self.target,
            "merged": list(self.merged),
            "reason": self.reason,
            "evidence": list(self.evidence),
            "predicate": None if self.predicate is None else dict(self.predicate),
            "scope": self.scope,
            "source": self.source,
        }

    def __str__(self) -> str:
        what = " ".join(part for part in (self.target, *(f"+ {rule}" for rule in self.merged)) if part)
        return f"{self.op} {what}: {self.text}".replace(" :", ":").rstrip(": ")


@dataclass(frozen=True, slots=True)
class RuleBook:
    """Rules in the order of their ids, retired ones included. `fresh` is the number of the next id that is free."""

    rules: tuple[Rule, ...] = ()
    fresh: int = field(default=1)

    @classmethod
    def of(cls, playbook: Playbook, fresh: int = 1) -> RuleBook:
        """The book in a playbook. `fresh`: ids below it were given away already, if only to what was rejected."""
        known = [int(rule.id[1:]) + 1 for rule in playbook.rules if rule.id.startswith("G")]
        return cls(in_order(playbook.rules), max([fresh, *known]))

    def within(self, playbook: Playbook) -> Playbook:
        """The playbook with this book in it."""
        return replace(playbook, rules=self.rules)

    def find(self, rule: str) -> Rule | None:
        return next((known for known in self.rules if known.id == rule), None)

    @property
    def active(self) -> tuple[Rule, ...]:
        """What the policy is told."""
        return tuple(rule for rule in self.rules if rule.status == "active")

    @property
    def learnt(self) -> tuple[Rule, ...]:
        """Active rules that may go: neither frozen nor the checklist."""
        return tuple(rule for rule in self.active if rule.id.startswith("G") and rule.id != CHECKLIST)

    @property
    def told(self) -> str:
        """A digest of what the policy is told: two books with the same one are the same to it."""
        return digest([(rule.sort, rule.text) for rule in self.active])[:16]

    def apply(
        self, operation: Operation, step: int, status: Literal["active", "shadow"] = "active"
    ) -> RuleBook | RuleRefusal:
        """The book after an operation, or why there is none. With `shadow`, a new rule is in it and is not told."""
        refusal = self.refusal(operation)
        if refusal is not None:
            return refusal
        text, scope = " ".join(operation.text.split()), operation.scope
        made = Rule(f"G{self.fresh}", text, scope, operation.evidence, status=status, created=step)
        made = replace(made, predicate=operation.predicate)
        if operation.op == "upsert":
            return RuleBook((*self.rules, made), self.fresh + 1)
        target = self.find(operation.target)
        assert target is not None, "a refusal was due"
        if operation.op == "remove":
            return self._with(retired(target, step))
        if operation.op == "update" and target.id == CHECKLIST:
            return self._with(replace(target, text=text, evidence=joined(target.evidence, operation.evidence)))
        gone = [target, *(rule for rule in self.rules if rule.id in operation.merged)]
        evidence = joined(*(rule.evidence for rule in gone), operation.evidence)
        made = replace(made, parent=target.id, evidence=evidence, scope=scope or target.scope)
        rest = self._with(*(retired(rule, step) for rule in gone))
        return RuleBook((*rest.rules, made), self.fresh + 1)

    def refusal(self, operation: Operation) -> RuleRefusal | None:
        """Why an operation cannot be carried out on this book."""
        if operation.op not in OPERATIONS:
            return RuleRefusal("unknown_operation", f"{operation.op!r} is none of {', '.join(OPERATIONS)}")
        for rule in (operation.target, *operation.merged):
            if refusal := self._untouchable(operation.op, rule):
                return refusal
        if operation.op == "merge" and not set(operation.merged) - {operation.target}:
            return RuleRefusal("nothing_to_merge", "a merge names its target and at least one other rule")
        return None if operation.op == "remove" else self._unsayable(operation)

    def _untouchable(self, op: OperationKind, rule: str) -> RuleRefusal | None:
        if op == "upsert":
            return (
                RuleRefusal("target_of_upsert", f"an upsert has no target; {rule} is worded anew by update")
                if rule
                else None
            )
        known = self.find(rule)
        if known is None or known.status == "retired":
            state = "is retired" if known else "does not exist"
            return RuleRefusal("unknown_rule", f"rule {rule or '(none named)'} {state}")
        if rule.startswith("S"):
            return RuleRefusal("frozen", f"{rule} is a structural rule, which nobody changes")
        if rule == CHECKLIST and op in ("remove", "merge"):
            return RuleRefusal("mandatory", f"{CHECKLIST} is the checklist: it may be worded anew and never leaves")
        return None

    def _unsayable(self, operation: Operation) -> RuleRefusal | None:
        words = same_words(operation.text)
        if not words:
            return RuleRefusal("empty", "a rule needs words")
        if what := not_plain(operation.text):
            return RuleRefusal("not_plain", f"it has {what}; a rule is a plain sentence")
        if len(operation.text) > LONGEST:
            return RuleRefusal("too_long", f"a rule has at most {LONGEST} characters, this one {len(operation.text)}")
        twin = next((rule for rule in self.rules if rule.status != "retired" and same_words(rule.text) == words), None)
        if twin is not None:
            return RuleRefusal("duplicate", f"{twin.id} says the same")
        return None

    def _with(self, *changed: Rule) -> RuleBook:
        anew = {rule.id: rule for rule in changed}
        return replace(self, rules=tuple(anew.get(rule.id, rule) for rule in self.rules))


def retired(rule: Rule, step: int) -> Rule:
    return replace(rule, status="retired", retired=step)


def joined(*several: Sequence[str]) -> tuple[str, ...]:
    """Each once, in the order of their first appearance."""
    return tuple(dict.fromkeys(item for items in several for item in items))


def in_order(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Structure first, then by number: G2 before G10."""
    return tuple(sorted(rules, key=lambda rule: (rule.id[:1] != "S", int(rule.id[1:]))))


def changed(before: RuleBook, after: RuleBook) -> tuple[tuple[Rule, ...], tuple[Rule, ...]]:
    """The rules that only the second book tells, and those that only the first does."""
    old, new = ({(rule.id, rule.text) for rule in book.active} for book in (before, after))
    told = tuple(rule for rule in after.active if (rule.id, rule.text) not in old)
    return told, tuple(rule for rule in before.active if (rule.id, rule.text) not in new)


def same_words(text: str) -> str:
    """A rule without what two wordings of it may differ in: case, spaces, punctuation."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def not_plain(text: str) -> str:
    """What a text has that no sentence of a rule has; '' where there is nothing."""
    return next((what for shape, what in _NOT_PLAIN if shape.search(text)), "")


def checked(rules: Sequence[Rule], where: str) -> RuleBook:
    """The book made of `rules`; one that no operation could have led to is refused."""
    strange = [rule.id for rule in rules if not RULE_ID.fullmatch(rule.id)]
    if strange:
        raise WhetError(f"{where}: {strange[0]!r} is no id of a rule; write S or G and a number")
    twice = [rule.id for place, rule in enumerate(rules) if rule.id in {other.id for other in rules[:place]}]
    if twice:
        raise WhetError(f"{where}: rule {twice[0]} stands twice; ids are never used again")
    for rule in rules:
        if not same_words(rule.text):
            raise WhetError(f"{where}: rule {rule.id} has no text")
        learnt = rule.id.startswith("G") and rule.id != CHECKLIST
        if learnt and (what := "several lines" if len(rule.text.splitlines()) > 1 else not_plain(rule.text)):
            raise WhetError(f"{where}: rule {rule.id} has {what}; write it as a plain sentence")
        if rule.id.startswith("S") and rule.status != "active":
            raise WhetError(f"{where}: rule {rule.id} is structural and cannot be {rule.status}")
    if rules and not any(rule.id == CHECKLIST and rule.status == "active" for rule in rules):
        raise WhetError(f"{where}: there is no active {CHECKLIST}; every book has the mission's checklist")
    return RuleBook.of(Playbook(rules=tuple(rules)))
