"""Reading a specification back: what it asks for, and whether that is what the sound model says.

Every document is read back when it is written, by a grammar of all that its voice can say. A remark that could mean two
things, or a document that asks for something else than its model, is not handed out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from whet.envs.ordebug.families.vocabulary import Trade
from whet.envs.ordebug.model import INF, LinearProgram
from whet.envs.ordebug.prose.figures import COUNTED, number_of
from whet.envs.ordebug.prose.grammar import Grammar, Voice
from whet.envs.ordebug.prose.references import COINED
from whet.envs.ordebug.prose.semantics import Claim, Entry, Semantics, entry_of

Demand = tuple[tuple[tuple[str, float], ...], str, float]
"""A requirement: its terms by name, its sense, its right-hand side."""

_DAY = re.compile(r"\d+ (?:March|April|May|June)")
_SUBJECT = re.compile(r"[a-z][a-z ]* (?:[A-Z]{1,2}|\d+)")
_NAME = re.compile(r"([A-Z][a-z]+)(?: \d+)?")


@dataclass(slots=True)
class Comprehension:
    """What a document asks for. `unread` and `twofold`: remarks with no meaning, or with more than one."""

    rows: list[Demand] = field(default_factory=list)
    bounds: dict[str, dict[str, float]] = field(default_factory=dict)
    whole: set[str] = field(default_factory=set)
    yes: set[str] = field(default_factory=set)
    unread: list[str] = field(default_factory=list)
    twofold: list[str] = field(default_factory=list)
    claims: list[tuple[str, Claim]] = field(default_factory=list)


@dataclass(slots=True)
class Document:
    """A specification taken apart: the register, the remarks, and the annex."""

    register: list[Entry]
    remarks: list[str]
    annex: dict[str, float]


def taken_apart(text: str, trade: Trade, voices: Sequence[Voice]) -> Document:
    """The parts of a document, which are separated by empty lines."""
    patterns = [_pattern(voice) for voice in voices]
    register: list[Entry] = []
    annex: dict[str, float] = {}
    remarks: list[str] = []
    parts = text.split("\n\n")
    for line in parts[1].splitlines()[1:]:
        found = next((match for pattern in patterns if (match := pattern.fullmatch(line))), None)
        if found:
            register.append(entry_of(trade, found["c"], found["i"], float(found["n"])))
    for part in parts[2:]:
        lines = part.splitlines()
        if any(lines[0] == said for voice in voices for said in voice.phrases["annex"]):
            for line in lines[1:]:
                name, amount, unit = re.split("[;,] ", line)
                annex[name] = float(amount) * COUNTED[unit]
        else:
            remarks += lines[1:]
    return Document(register, remarks, annex)


def _pattern(voice: Voice) -> re.Pattern[str]:
    said = re.escape(voice.phrases["register"][0])
    for name, form in (("c", r"x\d+"), ("i", ".+"), ("n", r"\S+")):
        said = said.replace(rf"\{{{name}\}}", f"(?P<{name}>{form})")
    return re.compile(said)


def grammar_of(register: Sequence[Entry], voices: Sequence[Voice]) -> Grammar:
    """The grammar of documents with this register."""
    items = {entry.item for entry in register}
    places, things = {entry.place for entry in register}, {entry.thing for entry in register if entry.thing}

    def number(text: str) -> bool:
        return number_of(text) is not None

    def name(text: str) -> bool:
        found = _NAME.fullmatch(text)
        return found is not None and found[1] in COINED

    return Grammar(
        voices,
        {
            "number": number,
            "figure": number,
            "name": name,
            "item": items.__contains__,
            "line": items.__contains__,
            "place": places.__contains__,
            "thing": things.__contains__,
            "subject": lambda text: _SUBJECT.fullmatch(text) is not None,
            "day": lambda text: _DAY.fullmatch(text) is not None,
            "worth": {"costs", "earns", "cost", "profit"}.__contains__,
        },
        {
            "lines": ("line", _listed),
            "group": ("line", _listed),
            "rates": ("rate", _in_turn),
            "marks": ("mark", _in_turn),
        },
    )


def _listed(text: str) -> Iterator[list[str]]:
    head, mark, last = text.rpartition(" and ")
    yield [*head.split(", "), last] if mark else [text]


def _in_turn(text: str) -> Iterator[list[str]]:
    yield text.split("; ")


def understood(text: str, trade: Trade, voices: Sequence[Voice]) -> Comprehension:
    """What a document says to a reader who knows these voices."""
    document = taken_apart(text, trade, voices)
    grammar, meaning = grammar_of(document.register, voices), Semantics(document.register)
    found = Comprehension()
    for remark in document.remarks:
        claims = {meaning.claim(tree) for tree in grammar.remark(remark)}
        if not claims:
            found.unread.append(remark)
        elif len(claims) > 1:
            found.twofold.append(remark)
        else:
            found.claims.append((remark, claims.pop()))
    gather(found, document.annex)
    return found


def gather(found: Comprehension, annex: Mapping[str, float]) -> None:
    """Put the claims together: names are replaced by what they stand for."""
    known: dict[str, dict[str, float]] = {f"@{name}": {"": value} for name, value in annex.items()}
    marks: dict[str, dict[str, float]] = {}
    stocks: dict[str, dict[str, float]] = {}
    about: dict[str, Claim] = {}
    rules: dict[str, str] = {}
    claims = [claim for _, claim in found.claims]
    for claim in claims:
        match claim:
            case ("define", str(name), tuple(form)):
                known[name] = _add(known.get(name, {}), dict(form)) if name in known else dict(form)
            case ("marks", str(name), tuple(form)):
                marks[name] = dict(form)
            case ("stock", str(name), tuple(form)):
                stocks[name] = dict(form)
            case ("about", str(name), *rest):
                about[name] = tuple(rest)
            case ("rule", str(name), str(sense)):
                rules[name] = sense
    for claim in claims:
        match claim:
            case ("move", str(name), float(size)) if name in known:
                known[name] = _add(known[name], {"": size})
    for name, watched in about.items():
        if name in rules and f"@{name}" in known:
            claims.append((*watched, rules[name], ((f"@{name}", 1.0),)))
    for claim in claims:
        _taken(found, claim, known, marks, stocks)


def _taken(
    found: Comprehension,
    claim: Claim,
    known: Mapping[str, Mapping[str, float]],
    marks: Mapping[str, Mapping[str, float]],
    stocks: Mapping[str, Mapping[str, float]],
) -> None:
    def solved(*parts: tuple[object, float]) -> dict[str, float] | None:
        form: dict[str, float] = {}
        for part, factor in parts:
            form = _add(form, dict(part), factor)  # type: ignore[call-overload]
        return _spelled(form, known)

    match claim:
        case ("bound" | "limit" as sort, form, str(sense), limit):
            left = solved((form, 1.0), (limit, -1.0))
            if left is None:
                return
            if sort == "bound" and sense != "=" and len(left.keys() - {""}) == 1:
                (column,) = left.keys() - {""}
                found.bounds.setdefault(column, {})["upper" if sense == "<=" else "lower"] = -left.get("", 0.0)
            else:
                found.rows.append(_demand(left, sense))
        case ("average", str(subject), str(sense), limit) if subject in marks:
            value = solved((limit, 1.0))
            if value is not None and not value.keys() - {""}:
                shift = value.get("", 0.0)
                found.rows.append(_demand({name: mark - shift for name, mark in marks[subject].items()}, sense))
        case ("gate", form, str(sense), limit, str(gate)):
            left, size = solved((form, 1.0)), solved((limit, 1.0))
            if left is not None and size is not None and not size.keys() - {""}:
                found.rows.append(_demand(_add(left, {gate: -size.get("", 0.0)}), sense))
        case ("demand", str(name), form, str(sense), limit) if name in stocks:
            left = solved((form, 1.0), (limit, -1.0), (tuple(stocks[name].items()), 1.0))
            if left is not None:
                found.rows.append(_demand(left, sense))
        case ("range", form, low, high):
            least, most, left = solved((low, 1.0)), solved((high, 1.0)), solved((form, 1.0))
            if least is not None and most is not None and left is not None and len(left) == 1:
                found.bounds[next(iter(left))] = {"lower": least.get("", 0.0), "upper": most.get("", 0.0)}
        case ("whole", frozenset() as names):
            found.whole |= names
        case ("yes", frozenset() as names):
            found.yes |= names


def _add(one: Mapping[str, float], other: Mapping[str, float], factor: float = 1.0) -> dict[str, float]:
    found = dict(one)
    for name, value in other.items():
        found[name] = found.get(name, 0.0) + factor * value
    return found


def _spelled(form: Mapping[str, float], known: Mapping[str, Mapping[str, float]]) -> dict[str, float] | None:
    """The form over columns and a constant; None where a name is not known."""
    found = dict(form)
    for _ in range(40):
        names = [name for name in found if name[:1] in ("@", "$", "#")]
        if not names:
            return {name: round(value, 6) for name, value in found.items() if round(value, 6)}
        for name in names:
            if name not in known:
                return None
            found = _add(found, known[name], found.pop(name))
    return None


def _demand(left: Mapping[str, float], sense: str) -> Demand:
    terms = tuple(sorted((name, value) for name, value in left.items() if name))
    return terms, sense, round(-left.get("", 0.0), 6) + 0.0


def misread(found: Comprehension, model: LinearProgram) -> list[str]:
    """What a document that was understood says otherwise than the model, or not at all."""
    wrong = [f"not understood: {said}" for said in found.unread]
    wrong += [f"twofold: {said}" for said in found.twofold]
    left = [_unit(*row) for row in found.rows]
    for row in model.rows:
        wanted = _unit(tuple(sorted(row.terms)), row.sense, row.rhs)
        here = next((each for each in left if _alike(each, wanted)), None)
        if here is None:
            wrong.append(f"not asked for: {row.name}")
        else:
            left.remove(here)
    wrong += [f"not in the model: {row}" for row in left]
    for column in model.columns:
        told = found.bounds.get(column.name, {})
        kind = "integer" if column.name in found.whole else "binary" if column.name in found.yes else "continuous"
        high = told.get("upper", 1.0 if kind == "binary" else INF)
        same = abs(told.get("lower", 0.0) - column.lower) < 1e-6 and (
            high == column.upper or abs(high - column.upper) < 1e-6
        )
        if not same or kind != column.kind:
            wrong.append(f"otherwise declared: {column.name}")
    return wrong


def _unit(terms: tuple[tuple[str, float], ...], sense: str, rhs: float) -> Demand:
    """The requirement with its first term's size as the unit, so that multiples of it are the same."""
    size = abs(terms[0][1]) if terms else 1.0
    turned = {"<=": ">=", ">=": "<=", "=": "="}[sense] if terms and terms[0][1] < 0 else sense
    sign = -1.0 if terms and terms[0][1] < 0 else 1.0
    return tuple((name, sign * value / size) for name, value in terms), turned, sign * rhs / size


def _alike(one: Demand, other: Demand) -> bool:
    return (
        one[1] == other[1]
        and abs(one[2] - other[2]) < 1e-4
        and len(one[0]) == len(other[0])
        and all(a == b and abs(v - w) < 1e-4 for (a, v), (b, w) in zip(one[0], other[0], strict=True))
    )


__all__ = ["Comprehension", "Document", "gather", "grammar_of", "misread", "taken_apart", "understood"]
