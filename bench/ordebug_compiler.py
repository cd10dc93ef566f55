"""Standing adversaries of `ordebug` that read the specification by program: no sense, many rules.

`patterns` knows how training problems are told, phrase by phrase (it is handed the bank of phrases itself), and how
such documents are built; what it meets in other words it takes apart by what any text of the sort has: names of lines,
places, lists and figures, numbers and sums, words for more and less, negations. It holds what it made of that against
the model: a row that agrees with a passage is cleared, one that differs in one thing is edited, and where all suspects
but one are cleared, that one is edited. `grammar` is handed the phrases of both banks. A table is read without loss.
Functions for `bench/ordebug.py`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from whet.envs.ordebug.edits import (
    AddRow,
    DropRow,
    Edit,
    SetBounds,
    SetCoef,
    SetRhs,
    SetSense,
    SetType,
    apply_all,
    element,
)
from whet.envs.ordebug.equivalence import Checker
from whet.envs.ordebug.families import FAMILIES
from whet.envs.ordebug.iis import find_iis
from whet.envs.ordebug.instance import Instance, SpecForm, shown_elements
from whet.envs.ordebug.ladder import MISSING
from whet.envs.ordebug.model import INF, LinearProgram, LinearRow, ModelError, Sense
from whet.envs.ordebug.prose.comprehension import Comprehension, Demand, gather, grammar_of
from whet.envs.ordebug.prose.figures import COUNTED, number_of
from whet.envs.ordebug.prose.references import COINED
from whet.envs.ordebug.prose.semantics import Entry, Semantics, entry_of
from whet.envs.ordebug.prose.voices import OFFICE, VOICES
from whet.envs.ordebug.solver import feasible

Terms = dict[str, float]
Knowledge = Literal["patterns", "grammar"]
_TURNED: dict[Sense, Sense] = {"<=": ">=", ">=": "<=", "=": "<="}

# ------------------------------------------------------------------------------------------------- plain words

_UPPER = r"""at most|at the most|no (?:more|greater|higher|larger|bigger|further) than|maximum|ceiling|\bcap|upper
|up to|within|not exceed|exceeds?|beyond|budget|ration|and there it stops|close|outgrow|oversho|smaller of
|not? .*\b(?:pass|top)|\btops\b|unused|is left|further|or less|or lower|or beneath|or under|from above
|stays? behind|licence|use up""".replace("\n", "")
_LOWER = r"""at least|no (?:less|fewer|smaller|lower) than|minimum|floor|lower limit|or more|or higher|or over|upwards
|reach|fall short|short of|below|shrink|undersho|larger of|insist|owe|promise|pledge|quota|must make|smaller than
|free to go|until|from underneath|runs? ahead|outdone|surplus|extra|welcome|has to climb""".replace("\n", "")
_EQUAL = r"""exactly|precisely|equal|same amount|neither|fixed|match|sharp|to the dot|on the nose|no leeway|squarely
|remainder|both|any departure|draws level""".replace("\n", "")
_AND_SO = r"""\bor equal|or draws level""".replace("\n", "")
_MORE = r"plus|add|another|top|increase|besides|raise|more|higher|grow|rise|up\b|above|outdo|sum"
_LESS = r"less|off|minus|decrease|bar\b|lower|cut|shrink|fall|below|fewer|without|take|deeper|trail|difference"
_HALVES = {"half": 0.5, "third": 1 / 3, "quarter": 0.25, "fourth": 0.25, "fifth": 0.2, "tenth": 0.1, "double": 2.0}
_FOLDS = {"twice": 2.0, "thrice": 3.0, "triple": 3.0, "quadruple": 4.0, "dozen times": 12.0, "twelvefold": 12.0}
_AFTER, _BEFORE = r"below|after|next|follow|beneath|under|success", r"above|before|preced|on top of|predecess"
_LOW, _HIGH = r"cheap|low|least|poor|undercut|small", r"dear|high|most|rich|expensive|outbid|best"


def sense_of(text: str) -> Sense | None:
    """What sort of limit a sentence in unknown words tells: by words for more, less and the same."""
    upper, lower, equal = (len(re.findall(words, text, re.IGNORECASE)) for words in (_UPPER, _LOWER, _EQUAL))
    if equal and not re.search(_AND_SO, text) and equal >= max(upper, lower):
        return "="
    return "<=" if upper > lower else ">=" if lower > upper else None


# ------------------------------------------------------------------------------------------------- loose reading

_NUMBER_WORD = r"(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty(?:-\w+)?)"
_NUMBER = re.compile(
    rf"\b(?:minus )?(?:\d+(?:\.\d+)?|{_NUMBER_WORD}(?: hundred(?: and {_NUMBER_WORD})?)?)(?: dozen| score)?\b"
)


@dataclass
class Passage:
    """What is in a sentence: lines one by one, names, the numbers and what they may come to, a sense."""

    lines: list[str]
    names: list[str]
    values: set[float]
    sense: Sense | None
    subject: str = ""


@dataclass
class Reader:
    """A document as far as it was understood; `passages` hold what rules for exact phrases did not cover."""

    found: Comprehension = field(default_factory=Comprehension)
    passages: list[Passage] = field(default_factory=list)
    lists: dict[str, set[str]] = field(default_factory=dict)
    figures: dict[str, set[float]] = field(default_factory=dict)


def read_prose(text: str, family: str, knows: Knowledge) -> Reader:
    """A document: by the phrases that are known, the rest by plain words."""
    voices = VOICES if knows == "grammar" else (OFFICE,)
    register, annex, remarks = _taken_apart(text, family)
    grammar, meaning, reader = grammar_of(register, voices), Semantics(register), Reader()
    loose: list[str] = []
    for remark in remarks:
        claims = {meaning.claim(tree) for tree in grammar.remark(remark)}
        if len(claims) == 1:
            reader.found.claims.append((remark, claims.pop()))
        else:
            loose.append(remark)
    gather(reader.found, annex)
    if knows == "patterns":
        reader.figures = {name: {value} for name, value in annex.items()}
        reader.passages = [_passage(remark, register) for remark in loose]
        _linked(reader)
    return reader


def _taken_apart(text: str, family: str) -> tuple[list[Entry], dict[str, float], list[str]]:
    """Register, annex and remarks, whatever separates a name from its figures."""
    register: list[Entry] = []
    annex: dict[str, float] = {}
    remarks: list[str] = []
    for part in text.split("\n\n")[1:]:
        for line in part.splitlines()[1:]:
            code, price = re.search(r"\bx\d+\b", line), re.search(r"(\S+)$", line)
            cells = re.split("; ", line)
            if code and price and number_of(price[1]) is not None:
                item = re.sub(
                    r"[\[\];,]",
                    "",
                    line.replace(code[0], "")[: -len(price[1])] if code.start() < 4 else line[: code.start()],
                )
                register.append(entry_of(FAMILIES[family], code[0], item.strip(), float(price[1])))
            elif len(cells) == 3 and cells[2] in COUNTED:
                annex[cells[0]] = float(cells[1]) * COUNTED[cells[2]]
            else:
                remarks.append(line)
    return register, annex, remarks


def _passage(remark: str, register: Sequence[Entry]) -> Passage:
    rest, lines = _lines(remark, register)
    names = [name for name in re.findall(r"\b[A-Z][a-z]+\b(?: \d+)?", rest) if name.split()[0] in COINED]
    subject = re.search(r"\b[a-z]+(?: [a-z]+)? [A-Z]{1,2}\b", rest)
    bare = rest
    for name in names:
        bare = bare.replace(name, "")
    return Passage(lines, names, _values(bare), sense_of(rest), subject[0] if subject else "")


def _lines(remark: str, register: Sequence[Entry]) -> tuple[str, list[str]]:
    """The lines that a sentence speaks of, by name or by what words around a name, a place or a price suggest."""
    found: list[str] = []
    order = list(register)
    rest = remark
    for place, entry in sorted(enumerate(order), key=lambda pair: -len(pair[1].item)):
        for spot in re.finditer(re.escape(entry.item), rest, re.IGNORECASE):
            before, after = rest[max(0, spot.start() - 28) : spot.start()].lower(), rest[spot.end() : spot.end() + 14]
            if re.search(rf"(?:{_AFTER})[^.;,]*$", before) and place + 1 < len(order):
                found.append(order[place + 1].column)
            elif re.search(rf"(?:{_BEFORE})[^.;,]*$", before) and place:
                found.append(order[place - 1].column)
            elif "after" in after and place + 1 < len(order):
                found.append(order[place + 1].column)
            else:
                found.append(entry.column)
        rest = re.sub(re.escape(entry.item), "", rest, flags=re.IGNORECASE)
    if re.search(r"\b(?:first|head|top) \w* ?(?:of|entry|line|item)|at the head", rest):
        found.append(order[0].column)
    if re.search(r"\b(?:last|foot|bottom|tail)\b", rest):
        found.append(order[-1].column)
    for entry in order:
        if re.search(rf"(?:at|with|for) {entry.price:g}\b", rest):
            found.append(entry.column)
    for place in {entry.place for entry in order if entry.place and entry.place in rest}:
        there = sorted((entry for entry in order if entry.place == place), key=lambda entry: entry.price)
        if re.search(_LOW, rest):
            found.append(there[0].column)
        elif re.search(_HIGH, rest):
            found.append(there[-1].column)
        elif re.search(r"only|lone|sole|single", rest):
            found += [entry.column for entry in there[:1]]
        else:
            found += [entry.column for entry in there if entry.thing]
    for thing in {entry.thing for entry in order if entry.thing and re.search(rf"\b{re.escape(entry.thing)}\b", rest)}:
        found += [entry.column for entry in order if entry.thing == thing]
    return rest, list(dict.fromkeys(found))


def _values(text: str) -> set[float]:
    """What the numbers of a sentence may come to: each alone, and two by the operation that words suggest."""
    numbers = [value for found in _NUMBER.finditer(text) if (value := number_of(found[0].strip())) is not None]
    values = set(numbers)
    for word, factor in {**_HALVES, **_FOLDS}.items():
        if word in text:
            values |= {factor * value for value in numbers}
    for one, other in itertools.permutations(numbers, 2):
        if re.search(_MORE, text):
            values.add(one + other)
        if re.search(_LESS, text):
            values.add(one - other)
        if re.search(r"percent|hundred", text):
            values.add(one * other / 100)
        if re.search(r"part in|one in", text) and other:
            values.add(one / other)
        values.add(one * other)
    return {round(value, 6) for value in values}


def _linked(reader: Reader) -> None:
    """Names: those with lines are lists, those with numbers alone are figures; both are put where they are used."""
    for passage in reader.passages:
        if len(passage.names) == 1 and len(passage.lines) > 1 and not passage.values and passage.sense is None:
            reader.lists.setdefault(passage.names[0], set()).update(passage.lines)
        elif passage.names and passage.values and not passage.lines and not passage.subject:
            reader.figures.setdefault(passage.names[0], set()).update(passage.values)
    for _ in range(2):
        for passage in reader.passages:
            for name in passage.names:
                passage.lines = list(dict.fromkeys([*passage.lines, *sorted(reader.lists.get(name, ()))]))
                known = reader.figures.get(name, set())
                passage.values |= known | {
                    round(base + sign * step, 6)
                    for base in known
                    for step in list(passage.values)[:6]
                    for sign in (1, -1)
                }


# ------------------------------------------------------------------------------------------------- tables


def read_table(text: str) -> Reader:
    """A table, in full."""
    reader = Reader()
    senses: dict[str, Sense] = {"at most": "<=", "at least": ">=", "exactly": "="}
    for line in text.splitlines():
        if found := re.fullmatch(r"  (x\d+): .+; (any|whole) number from (\S+?)(?: to (\S+))?; \S+", line):
            bounds = {"lower": float(found[3]), **({"upper": float(found[4])} if found[4] else {"upper": INF})}
            reader.found.bounds[found[1]] = bounds
            if found[2] == "whole":
                reader.found.whole.add(found[1])
        if found := re.fullmatch(r"  - (?:[^:]+: )?(.+) is (at most|at least|exactly) (\S+)", line):
            terms: Terms = {}
            for sign, size, name in re.findall(r"([+-]?) ?(\d+(?:\.\d+)?)? ?(x\d+)", found[1]):
                terms[name] = (-1.0 if sign == "-" else 1.0) * float(size or 1)
            reader.found.rows.append((tuple(sorted(terms.items())), senses[found[2]], float(found[3])))
    return reader


# ------------------------------------------------------------------------------------------------- repairing


def cleared(reader: Reader, model: LinearProgram) -> set[str]:
    """The elements that some passage agrees with in everything that was understood of it."""
    found = set()
    for row in model.rows:
        terms = dict(row.terms)
        exact = any(_met(demand, row) for demand in reader.found.rows)
        loose = any(
            set(passage.lines) == terms.keys() and passage.sense == row.sense and _has(passage.values, row.rhs)
            for passage in reader.passages
        )
        if exact or loose:
            found.add(f"row:{row.name}")
    for column in model.columns:
        said = reader.found.bounds.get(column.name)
        if said and said.get("lower", 0.0) == column.lower and said.get("upper", INF) == column.upper:
            found.add(f"column:{column.name}")
    return found


def differences(reader: Reader, model: LinearProgram) -> list[list[Edit]]:
    """Edits of one element each, by how sure the match is: the same terms first, then nearly the same."""
    ranked: list[tuple[float, list[Edit]]] = []
    sound = cleared(reader, model)
    kept = [row for row in model.rows if f"row:{row.name}" in sound]
    asked = [demand for demand in reader.found.rows if not any(_met(demand, row) for row in kept)]
    for row in (row for row in model.rows if row not in kept):
        mine = dict(row.terms)
        for said, sense, rhs in _scaled(asked, row.terms):
            terms = dict(said)
            likeness = _likeness(mine, terms, row.sense == sense, row.rhs == rhs)
            edits: list[Edit] = [SetSense(row.name, sense)] if row.sense != sense else []  # type: ignore[arg-type]
            edits += [SetRhs(row.name, rhs)] if abs(row.rhs - rhs) > 1e-6 else []
            edits += [
                SetCoef(row.name, name, round(terms.get(name, 0.0), 6))
                for name in sorted(mine.keys() | terms.keys())
                if abs(mine.get(name, 0.0) - terms.get(name, 0.0)) > 1e-6
            ]
            if edits and len(edits) <= 2:
                ranked.append((likeness, edits))
        for passage in reader.passages:
            if set(passage.lines) == mine.keys() and passage.sense:
                figure = _has(passage.values, row.rhs)
                if figure and passage.sense != row.sense:
                    ranked.append((0.6, [SetSense(row.name, passage.sense)]))
                elif not figure and passage.sense == row.sense and len(passage.values) == 1:
                    ranked.append((0.3, [SetRhs(row.name, next(iter(passage.values)))]))
    for column in model.columns:
        told = reader.found.bounds.get(column.name)
        if told and column.kind != "binary":
            low, high = told.get("lower", 0.0), told.get("upper", INF)
            if (low, high) != (column.lower, column.upper):
                ranked.append((0.5, [SetBounds(column.name, low, None if high == INF else high)]))
        elif told:
            ranked.append((0.5, [SetType(column.name, "integer", (told.get("lower", 0.0), told.get("upper")))]))
        for passage in reader.passages:
            if passage.lines == [column.name] and passage.sense in ("<=", ">=") and len(passage.values) == 1:
                (value,) = passage.values
                low, high = (value, column.upper) if passage.sense == ">=" else (column.lower, value)
                if (low, high) != (column.lower, column.upper):
                    ranked.append((0.2, [SetBounds(column.name, low, None if high == INF else high)]))
        if column.kind == "integer" and reader.found.whole and column.name not in reader.found.whole:
            ranked.append((0.4, [SetType(column.name, "continuous")]))
    ranked.sort(key=lambda option: -option[0])
    return [edits for _, edits in ranked]


def _met(demand: Demand, row: LinearRow) -> bool:
    """Whether a row says what is asked for."""
    return any(
        _same(dict(row.terms), dict(terms)) and (sense, rhs) == (row.sense, row.rhs)
        for terms, sense, rhs in _scaled([demand], row.terms)
    )


def _scaled(asked: Sequence[Demand], like: Sequence[tuple[str, float]]) -> list[Demand]:
    """The requirements that were understood, those that share a term with the row at the scale of that term."""
    found = []
    mine = dict(like)
    for terms, sense, rhs in asked:
        shared = [(name, value) for name, value in terms if name in mine]
        if shared:
            factors = [mine[name] / value for name, value in shared if mine[name] / value > 0] or [1.0]
            factor = max(set(factors), key=factors.count)
            found.append(
                (tuple((name, round(factor * value, 6)) for name, value in terms), sense, round(factor * rhs, 6))
            )
    return found


def _has(values: set[float], wanted: float) -> bool:
    return any(abs(value - wanted) < 1e-6 for value in values)


def _same(one: Terms, other: Terms) -> bool:
    return one.keys() == other.keys() and all(abs(one[name] - other[name]) < 1e-4 for name in one)


def _likeness(one: Terms, other: Terms, sense: bool, rhs: bool) -> float:
    shared = sum(abs(one.get(name, 0.0) - value) < 1e-4 for name, value in other.items())
    return shared / max(1, len(one.keys() | other.keys())) + 0.2 * sense + 0.3 * rhs


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of a compiler's attempt. `acted`: whether it found anything to change."""

    acted: bool
    repaired: bool


def attempt(instance: Instance, form: SpecForm, knows: Knowledge = "grammar") -> Attempt:
    """One attempt: subsystem first, feasible at the end, one submission; nothing where reading shows no difference."""
    text = instance.specification(form).text
    reader = read_prose(text, instance.family, knows) if form == "prose" else read_table(text)
    model, full = instance.sabotaged, form == "table" or knows == "grammar"
    if instance.kind == MISSING:
        added = absent(reader, model)
        return Attempt(added is not None, added is not None and Checker(instance.original).repaired(added.apply(model)))
    for turn in range(3):
        iis = find_iis(model)
        if iis is None:
            break
        shown = shown_elements(iis)
        if iis.integral:
            shown |= {f"column:{name}" for row in iis.row_names for name, _ in model.row(row).terms}
        options = [edits for edits in differences(reader, model) if element(edits[0]) in shown]
        options += _left_over(model, sorted(shown - cleared(reader, model)), full)
        fixed = next((done for edits in options if (done := _tried(model, edits)) is not None and feasible(done)), None)
        if fixed is None and options:
            fixed = _tried(model, options[0])
        if fixed is None:
            return Attempt(turn > 0, False)
        model = fixed
    return Attempt(True, Checker(instance.original).repaired(model))


def absent(reader: Reader, model: LinearProgram) -> AddRow | None:
    """The first requirement that no row says: one that was understood, else one pieced together from plain words."""
    rows = [demand for demand in reader.found.rows if not any(_met(demand, row) for row in model.rows)]
    for passage in reader.passages:
        unsaid = not any(set(passage.lines) == dict(row.terms).keys() for row in model.rows)
        if unsaid and passage.lines and passage.sense and len(passage.values) == 1:
            rows.append((tuple((name, 1.0) for name in sorted(passage.lines)), passage.sense, min(passage.values)))
    if not rows:
        return None
    terms, sense, rhs = rows[0]
    return AddRow("absent", tuple(terms), sense, rhs)  # type: ignore[arg-type]


def _left_over(model: LinearProgram, doubtful: Sequence[str], whole: bool) -> list[list[Edit]]:
    """What to do with the one suspect that nothing speaks for: all the others are cleared.

    Nobody asked for it, where the whole text was understood; else its sense is the likeliest.
    """
    if len(doubtful) != 1 or not doubtful[0].startswith("row:"):
        return []
    name = doubtful[0].partition(":")[2]
    return [[DropRow(name)]] if whole else [[SetSense(name, _TURNED[model.row(name).sense])]]


def _tried(model: LinearProgram, edits: list[Edit]) -> LinearProgram | None:
    try:
        return apply_all(model, edits)
    except ModelError:
        return None
