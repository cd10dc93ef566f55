"""A standing adversary of `ordebug` that reads the specification by patterns: many regular expressions, no sense.

It knows how such documents are written: the register, lists and figures with names, amendments and motions, numbers in
words and sums to work out, every comparison there is. It compiles what it can into constraints, finds the row that
each must have become, and edits the first difference that it believes in. It may use the solver and the subsystem.
A table it reads without loss. Functions for `bench/ordebug.py`.
"""

# ruff: noqa: E501 -- a pattern stands on one line
from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from whet.envs.ordebug.edits import DropRow, Edit, SetBounds, SetCoef, SetRhs, SetSense, apply_all, element
from whet.envs.ordebug.equivalence import Checker
from whet.envs.ordebug.iis import find_iis
from whet.envs.ordebug.instance import Instance, SpecForm, shown_elements
from whet.envs.ordebug.model import LinearProgram, ModelError, Sense
from whet.envs.ordebug.solver import feasible

Terms = dict[str, float]

# ------------------------------------------------------------------------------------------------- numbers

_ONES = dict(zip(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"], range(20), strict=True))  # fmt: skip
_TENS = {
    word: 10 * (place + 2)
    for place, word in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"])
}
_WORD = "|".join(sorted([*_ONES, *_TENS], key=len, reverse=True))
_ATOM = rf"(?:-?\d[\d,]*(?:\.\d+)?|(?:(?:{_WORD}) hundred(?: and )?)?(?:(?:{_WORD})(?:-(?:{_WORD}))?)?)"
NUMBER = rf"(?:minus )?(?:-?\d[\d,]*(?:\.\d+)?|(?:(?:{_WORD}) hundred(?: and (?:{_WORD})(?:-(?:{_WORD}))?)?)|(?:{_WORD})(?:-(?:{_WORD}))?)"
_SHARES = {
    "half": 2,
    "one half": 2,
    "a half": 2,
    "a third": 3,
    "a quarter": 4,
    "one part in four": 4,
    "a fifth": 5,
    "a tenth": 10,
}
_TIMES = {"twice": 2, "double": 2, "three times": 3, "the threefold of": 3, "four times": 4, "the fourfold of": 4, "a dozen times": 12,
          "one and a half times": 1.5, "half as much again as": 1.5, "two and a half times": 2.5, "five halves of": 2.5,
          "five quarters of": 1.25, "a quarter more than": 1.25, "two fifths of": 0.4, "four fifths of": 0.8}  # fmt: skip


def atom(text: str) -> float | None:
    text = text.strip().lower()
    if text.startswith("minus "):
        rest = atom(text[6:])
        return None if rest is None else -rest
    try:
        return float(text.replace(",", ""))
    except ValueError:
        pass
    total, found = 0.0, False
    hundred = re.fullmatch(rf"({_WORD}) hundred(?: and (.+))?", text)
    if hundred:
        rest = atom(hundred[2]) if hundred[2] else 0.0
        return None if rest is None else 100 * _ONES.get(hundred[1], 0) + rest
    for part in text.split("-"):
        if part in _ONES:
            total, found = total + _ONES[part], True
        elif part in _TENS:
            total, found = total + _TENS[part], True
        else:
            return None
    return total if found else None


_SUMS: tuple[tuple[str, object], ...] = (
    (rf"({NUMBER}) plus ({NUMBER})", lambda a, b: a + b),
    (rf"({NUMBER}) and another ({NUMBER})", lambda a, b: a + b),
    (rf"({NUMBER}) on top of ({NUMBER})", lambda a, b: a + b),
    (rf"({NUMBER}) short of ({NUMBER})", lambda a, b: b - a),
    (rf"({NUMBER}) under ({NUMBER})", lambda a, b: b - a),
    (rf"({NUMBER}) less ({NUMBER})", lambda a, b: a - b),
    (rf"({NUMBER}) once ({NUMBER}) are taken off", lambda a, b: a - b),
    (rf"({NUMBER}) (?:loads|lots|rounds|batches) of ({NUMBER})", lambda a, b: a * b),
    (rf"({NUMBER}) percent of ({NUMBER})", lambda a, b: a * b / 100),
)


def figure(text: str, named: dict[str, float]) -> float | None:
    """The value of an expression, or of a figure with a name."""
    text = text.strip().strip(",.;").strip()
    for pattern, work in _SUMS:
        found = re.fullmatch(pattern, text, re.IGNORECASE)
        if found:
            values = atom(found[1]), atom(found[2])
            return None if None in values else work(*values)  # type: ignore[operator]
    for word, share in _SHARES.items():
        found = re.fullmatch(rf"{word} of ({NUMBER})", text, re.IGNORECASE)
        if found and (value := atom(found[1])) is not None:
            return value / share
    for word, times in _TIMES.items():
        found = re.fullmatch(rf"{word} ({NUMBER})", text, re.IGNORECASE)
        if found and (value := atom(found[1])) is not None:
            return value * times
    found = re.fullmatch(
        r"(?:the )?(.+?) (?:figure|measure)|what (.+?) stands at|the amount called (.+)", text, re.IGNORECASE
    )
    if found:
        return named.get(next(group for group in found.groups() if group).lower())
    return atom(text)


# ------------------------------------------------------------------------------------------------- reading


@dataclass
class Reader:
    """What has been understood of a document."""

    names: dict[str, str] = field(default_factory=dict)
    """Columns by the words of their line."""
    lists: dict[str, list[str]] = field(default_factory=dict)
    figures: dict[str, float] = field(default_factory=dict)
    rates: dict[str, Terms] = field(default_factory=dict)
    grades: dict[str, Terms] = field(default_factory=dict)
    measures: dict[str, tuple[float, str]] = field(default_factory=dict)
    rules: dict[str, str] = field(default_factory=dict)
    found: list[tuple[Terms, Sense, float]] = field(default_factory=list)
    bounds: dict[str, dict[str, float]] = field(default_factory=dict)

    def group(self, text: str) -> list[str] | None:
        """The columns that a phrase stands for."""
        text = re.sub(r"^(?:the (?:total|sum) of |the sum over )", "", text.strip().strip(".,"))
        text = re.sub(r" taken together$", "", text).strip()
        plain = re.sub(r"^(?:the |whatever is in )", "", text)
        for key in (plain, plain.removesuffix(" list")):
            if key.lower() in self.lists:
                return self.lists[key.lower()]
        if text.lower() in self.names:
            return [self.names[text.lower()]]
        cut = re.split(r" (?:except|other than|leaving out) ", text, maxsplit=1)
        if len(cut) == 2:
            whole, gone = self.group(cut[0]), self.group(cut[1])
            return None if whole is None or gone is None else [name for name in whole if name not in gone]
        for pattern in (r"everything under (.+)", r"the (.+) lines", r"all (.+) business"):
            if found := re.fullmatch(pattern, text):
                return [c for words, c in self.names.items() if words.endswith(found[1].lower())] or None
        for pattern in (r"(.+) of every place", r"all (.+)", r"(.+) wherever it goes"):
            if found := re.fullmatch(pattern, text, re.IGNORECASE):
                return [c for words, c in self.names.items() if found[1].lower() in words] or None
        if text in ("the whole plan", "every line of the plan"):
            return list(self.names.values())
        return self._members(text)

    def _members(self, text: str) -> list[str] | None:
        """Items one by one, things of one place drawn together."""
        if ";" in text or re.search(r"(?:for|to|at|in|from|through|sold in) [A-Z]\w+(?:,| and) ", text):
            parts = re.split(
                r"; |(?<=[a-z]) and (?=[^;]*(?:for|to|at|in|from|through) [A-Z])|, (?=[^;]*(?:for|to|at|in|from|through) [A-Z])",
                text,
            )
        else:
            parts = [text]
        found: list[str] = []
        for part in parts:
            place = re.search(r"^(.*?)((?: sold)? (?:for|to|at|in|from|through) [A-Z]\w+)$", part.strip())
            if not place:
                return None
            for thing in re.split(r", | and ", place[1]):
                column = self.names.get(f"{thing}{place[2]}".strip().lower()) or self.names.get(
                    f"the {thing}{place[2]}".lower()
                )
                if column is None:
                    return None
                found.append(column)
        return found or None

    def quantity(self, text: str) -> tuple[Terms, float] | None:
        """The terms that a phrase stands for, and a shift of the right-hand side (averages)."""
        text = text.strip()
        for pattern in (
            r"the lead of (.+) over (.+)",
            r"the sum of (.+) after taking off (.+)",
            r"what remains of (.+) when (.+) (?:is|are) set against it",
            r"the surplus of (.+) against (.+)",
        ):
            if found := re.fullmatch(pattern, text, re.IGNORECASE):
                one, other = self.group(found[1]), self.group(found[2])
                if one is None or other is None:
                    return None
                return {**dict.fromkeys(one, 1.0), **dict.fromkeys(other, -1.0)}, 0.0
        if found := re.fullmatch(r"the hours of (.+)|time on (.+), in hours,?|(.+) \(hours\)", text, re.IGNORECASE):
            rates = self.rates.get(next(part for part in found.groups() if part).lower())
            return None if rates is None else (rates, 0.0)
        if found := re.fullmatch(
            r"the average (.+) of all that was read, each weighed by its amount,?", text, re.IGNORECASE
        ):
            grades = self.grades.get(found[1].lower())
            return None if grades is None else (grades, 1.0)
        group = self.group(text)
        return None if group is None else (dict.fromkeys(group, 1.0), 0.0)


_COMPARED: dict[Sense, tuple[str, ...]] = {
    "<=": (
        r"(?P<q>.+) must not exceed (?P<f>.+)\.", r"(?P<q>.+) may come to (?P<f>.+) at the very most\.",
        r"For (?P<q>.+), (?P<f>.+) is the ceiling\.", r"There is room for (?P<f>.+?) of (?P<q>.+) and no further\.",
        r"Anything beyond (?P<f>.+?) for (?P<q>.+) is refused\.", r"Keep (?P<q>.+) within (?P<f>.+)\.",
        r"(?P<f>.+) is all that (?P<q>.+) may take up\.", r"(?P<q>.+) stays at or under (?P<f>.+)\.",
        r"It is out of the question that (?P<q>.+) should pass (?P<f>.+)\.", r"Nobody will sign for (?P<q>.+) once it is past (?P<f>.+)\.",
        r"(?P<q>.+): (?P<f>.+), and rather less than more\.", r"The hall holds (?P<f>.+); (?P<q>.+) has to fit\.",
        r"With (?P<f>.+) the means for (?P<q>.+) are used up\.",
    ),
    ">=": (
        r"(?P<q>.+) must reach (?P<f>.+)\.", r"(?P<q>.+) may not drop below (?P<f>.+)\.", r"For (?P<q>.+), (?P<f>.+) is the floor\.",
        r"Anything short of (?P<f>.+?) for (?P<q>.+) breaks the contract\.", r"(?P<f>.+) or more is owed on (?P<q>.+)\.",
        r"(?P<q>.+) cannot be allowed to fall short of (?P<f>.+)\.", r"Hold (?P<q>.+) to (?P<f>.+) upward\.",
        r"It will not do for (?P<q>.+) to stay behind (?P<f>.+)\.", r"The partners walk away unless (?P<q>.+) makes (?P<f>.+)\.",
        r"(?P<q>.+): (?P<f>.+), and rather more than less\.", r"(?P<f>.+) has been promised; (?P<q>.+) has to honour that\.",
        r"Only from (?P<f>.+) on is (?P<q>.+) worth the trouble, and it must be done\.", r"(?P<q>.+) is not to be seen under (?P<f>.+)\.",
    ),
    "=": (
        r"(?P<q>.+) must come to exactly (?P<f>.+)\.", r"(?P<q>.+) is fixed at (?P<f>.+)\.",
        r"Neither more nor less than (?P<f>.+) will do for (?P<q>.+)\.", r"(?P<q>.+) has to match (?P<f>.+) to the last bit\.",
        r"(?P<f>.+) it is for (?P<q>.+), no matter what\.", r"For (?P<q>.+) there is no leeway on either side of (?P<f>.+)\.",
        r"(?P<q>.+) settles at (?P<f>.+), all told\.", r"The books close only if (?P<q>.+) hits (?P<f>.+) on the nose\.",
    ),
}  # fmt: skip


def read_table(text: str) -> Reader:
    """A table, in full."""
    reader = Reader()
    senses: dict[str, Sense] = {"at most": "<=", "at least": ">=", "exactly": "="}
    for line in text.splitlines():
        if found := re.fullmatch(r"  (x\d+): .+; (?:any|whole) number from (\S+?)(?: to (\S+))?; \S+", line):
            reader.bounds[found[1]] = {"lower": float(found[2]), **({"upper": float(found[3])} if found[3] else {})}
        if found := re.fullmatch(r"  - (?:[^:]+: )?(.+) is (at most|at least|exactly) (\S+)", line):
            terms: Terms = {}
            for sign, size, name in re.findall(r"([+-]?) ?(\d+(?:\.\d+)?)? ?(x\d+)", found[1]):
                terms[name] = (-1.0 if sign == "-" else 1.0) * float(size or 1)
            reader.found.append((terms, senses[found[2]], float(found[3])))
    return reader


def spelled_out(head: str, rest: str) -> str:
    """The remarks with every described line replaced by its name: the part that needs the register's data."""
    entries = [(found[1], float(found[2])) for found in re.finditer(r"^x\d+; (.+?); (\S+)$", head, re.MULTILINE)]
    names = [name for name, _ in entries]
    swaps: dict[str, str] = {}
    for place, (name, cost) in enumerate(entries):
        if place:
            for said in ("the entry right below {}", "what the register lists next after {}"):
                swaps[said.format(names[place - 1])] = name
        if place + 1 < len(names):
            swaps[f"the entry right above {names[place + 1]}"] = name
        swaps[f"the line at {cost:g} a unit"] = name
    for end, name in (("first", names[0]), ("last", names[-1])):
        swaps[f"the {end} entry of the register"] = swaps[f"the line that the register has {end}"] = name
    sorts = {"line of the register": entries, "line of all": entries}
    for place in {name.split()[-1] for name in names}:
        there = [entry for entry in entries if entry[0].split()[-1] == place]
        sorts[f"{place} entry"] = there
        if len(there) == 1:
            swaps[f"the only {place} entry"] = there[0][0]
    for sort, among in sorts.items():
        ranked = [name for name, _ in sorted(among, key=lambda entry: entry[1])]
        for rank, name in (("cheapest", ranked[0]), ("dearest", ranked[-1])):
            swaps[f"the {rank} {sort}"] = name
        if len(ranked) > 3:
            swaps[f"the second cheapest {sort}"], swaps[f"the second dearest {sort}"] = ranked[1], ranked[-2]
    for name in names:
        thing = re.split(r" (?:for|to|at|in|from|through|sold in) ", name.removeprefix("the "))[0]
        if sum(thing in other for other in names) == 1:
            swaps[f"the only {thing} line"] = name
    for said, name in sorted(swaps.items(), key=lambda swap: -len(swap[0])):
        rest = rest.replace(said, name).replace(said[0].upper() + said[1:], name[0].upper() + name[1:])
    for name, cost in entries:
        rest = re.sub(
            rf"({NUMBER}) (more|less) than {re.escape(name)} (?:costs|earns) a unit",
            lambda found, cost=cost: f"{cost + (atom(found[1]) or 0) * (1 if found[2] == 'more' else -1):.6g}",
            rest,
        )
        rest = re.sub(rf"as much as {re.escape(name)} (?:costs|earns) a unit", f"{cost:g}", rest)
    return rest


def read_prose(text: str, resolve: bool = True) -> Reader:
    """A document, as far as patterns go; with `resolve`, lines that are described are looked up in the register."""
    reader = Reader()
    head, _, rest = text.partition("\nRemarks\n")
    if resolve:
        rest = spelled_out(head, rest)
    for line in head.splitlines():
        if found := re.fullmatch(r"(x\d+); (.+); \S+", line):
            reader.names[found[2].lower()] = found[1]
    sentences = [s for line in rest.splitlines() for s in re.split(r"(?<=\.) (?=[A-Z])", line.strip()) if s]
    _histories(reader, rest.splitlines())
    for _ in range(3):
        for said in sentences:
            _lists(reader, said)
            _data(reader, said)
    named: dict[str, dict[str, str]] = {}
    for said in sentences:
        _requirement(reader, said, named)
    for name, parts in named.items():
        if "about" in parts and "sense" in parts and name in reader.figures:
            _take(reader, parts["about"], parts["sense"], reader.figures[name])  # type: ignore[arg-type]
    return reader


_NAME = r"([A-Z][a-z]+(?: \d+)?)"


def _histories(reader: Reader, remarks: list[str]) -> None:
    """Figures with a name: where they began, what moved them, and those told by way of another."""
    moves: dict[str, float] = {}
    starts: dict[str, float] = {}
    told: list[tuple[str, str, float]] = []
    for remark in remarks:
        subject = ""
        for said in re.split(r"(?<=\.) (?=[A-Z])", remark):
            if found := re.match(rf"{_NAME} began at (.+)\.", said):
                subject = found[1].lower()
                value = figure(found[2], {})
                if value is not None:
                    starts[subject] = value
            elif found := re.match(rf"The {_NAME} figure is ({NUMBER}) (more|less) than that of {_NAME}\.", said):
                told.append(
                    (found[1].lower(), found[4].lower(), (atom(found[2]) or 0) * (1 if found[3] == "more" else -1))
                )
            elif found := re.match(rf"Take {_NAME}: {_NAME} is ({NUMBER}) (more|less) than it\.", said):
                told.append(
                    (found[2].lower(), found[1].lower(), (atom(found[3]) or 0) * (1 if found[4] == "more" else -1))
                )
            elif found := re.match(rf"The {_NAME} figure is (.+)\.", said):
                value = figure(found[2], {})
                if value is not None:
                    starts[found[1].lower()] = value
            elif found := re.search(rf"(raised|lowered) by ({NUMBER})\.", said):
                who = re.search(rf"(?:Since .+?|speaks of) {_NAME}(?: is|:)", said)
                key = who[1].lower() if who else subject
                moves[key] = moves.get(key, 0) + (atom(found[2]) or 0) * (1 if found[1] == "raised" else -1)
    reader.figures = {name: value + moves.get(name, 0.0) for name, value in starts.items()}
    for _ in range(6):
        for name, other, gap in told:
            if other in reader.figures:
                reader.figures.setdefault(name, reader.figures[other] + gap)


def _lists(reader: Reader, said: str) -> None:
    for pattern in (
        rf"The {_NAME} list is made up of (.+)\.",
        rf"By {_NAME} we mean (.+)\.",
        rf"Whoever says {_NAME} speaks of (.+)\.",
    ):
        if found := re.fullmatch(pattern, said):
            group = reader.group(found[2])
            if group:
                reader.lists[found[1].lower()] = group
    if found := re.fullmatch(rf"(.+) go(?:es)? by the name of {_NAME}\.", said):
        group = reader.group(found[1][0].lower() + found[1][1:]) or reader.group(found[1])
        if group:
            reader.lists[found[2].lower()] = group


def _factor(text: str) -> tuple[float, str] | None:
    for word, share in _SHARES.items():
        if text.lower().startswith(f"{word} of "):
            return 1 / share, text[len(word) + 4 :]
    for word, times in _TIMES.items():
        if text.lower().startswith(f"{word} "):
            return float(times), text[len(word) + 1 :]
    if found := re.match(r"(\d+) percent of (.+)", text):
        return float(found[1]) / 100, found[2]
    if found := re.match(r"([\d.]+) times (.+)", text):
        return float(found[1]), found[2]
    return None


def _data(reader: Reader, said: str) -> None:
    """Rates of a resource, readings of a trait, measures that stand for a multiple of an item."""
    if found := re.fullmatch(rf"A unit of (.+?) takes ({NUMBER}) (hours|minutes) of (.+? [A-Z]+)(?:; (.+))?\.", said):
        scale = 60.0 if found[3] == "minutes" else 1.0
        base = atom(found[2])
        column = reader.names.get(found[1].lower())
        if base is None or column is None:
            return
        rates = {column: base / scale}
        for part in (found[5] or "").split("; "):
            for words, name in reader.names.items():
                if part.lower().startswith(words + " "):
                    rest = part[len(words) + 1 :]
                    factor = _factor(rest)
                    if rest == "just as much":
                        rates[name] = base / scale
                    elif rest.endswith(" that") and factor:
                        rates[name] = base * factor[0] / scale
                    elif moved := re.fullmatch(rf"({NUMBER}) (more|fewer) than that", rest):
                        rates[name] = (base + (atom(moved[1]) or 0) * (1 if moved[2] == "more" else -1)) / scale
                    elif (value := atom(rest)) is not None:
                        rates[name] = value / scale
        reader.rates[found[4].lower()] = {name: round(value, 6) for name, value in rates.items()}
    if found := re.fullmatch(r"Readings of (.+?): (.+)\.", said):
        grades: Terms = {}
        before = 0.0
        for part in found[2].split("; "):
            for words, name in reader.names.items():
                if part.lower().startswith(words + " "):
                    rest = part[len(words) + 1 :]
                    if moved := re.fullmatch(rf"({NUMBER}) (above|below) the one before", rest):
                        before += (atom(moved[1]) or 0) * (1 if moved[2] == "above" else -1)
                    else:
                        before = atom(rest) or before
                    grades[name] = before
        reader.grades[found[1].lower()] = grades
    if found := re.fullmatch(rf"{_NAME} stands for (.+)\.", said):
        factor = _factor(found[2])
        if factor and factor[1].lower() in reader.names:
            reader.measures[found[1].lower()] = factor[0], reader.names[factor[1].lower()]


def _requirement(reader: Reader, said: str, named: dict[str, dict[str, str]]) -> None:
    for sense, patterns in _COMPARED.items():
        for pattern in patterns:
            if found := re.fullmatch(pattern, said):
                _compare(reader, found["q"], sense, found["f"])
    if found := re.fullmatch(
        r"(.+?)(?: starts from |: from )(.+?)(?: and may go (.+) higher|, with (.+) to spare above that)\.", said
    ):
        column = reader.names.get(found[1].lower())
        low, span = figure(found[2], reader.figures), figure(found[3] or found[4], reader.figures)
        if column and low is not None:
            reader.bounds.setdefault(column, {})["lower"] = low
            if span is not None:
                reader.bounds[column]["upper"] = low + span
    for pattern in (rf"{_NAME} is about (.+)\.", rf"The rule {_NAME} looks at (.+)\."):
        if found := re.fullmatch(pattern, said):
            named.setdefault(found[1].lower(), {})["about"] = found[2]
    if found := re.fullmatch(rf"(.+): see {_NAME}\.", said):
        named.setdefault(found[2].lower(), {})["about"] = found[1]
    for sense, marks in (
        ("<=", ("is a ceiling", "but never pass it", "less is fine and more is not", "works as a cap", "Passing the")),
        (
            ">=",
            (
                "is a floor",
                "never stay short of it",
                "more is fine and less is not",
                "quota to be filled",
                "Missing the",
            ),
        ),
        ("=", ("hit squarely", "neither pass", "both more and less are wrong", "no play in either")),
    ):
        if any(mark in said for mark in marks) and (found := re.search(rf"(?:^|Under |[Tt]he ){_NAME}", said)):
            named.setdefault(found[1].lower(), {})["sense"] = sense
    _special(reader, said)


def _special(reader: Reader, said: str) -> None:
    """Stocks and demands in one place, and limits behind a switch."""
    if found := re.fullmatch(
        rf"In {_NAME}, the opening stock with (.+?)(?:, less (.+),)? (meets exactly|covers at least|goes no further than) a demand of (.+)\.",
        said,
    ):
        one = reader.group(found[2])
        other = reader.group(found[3]) if found[3] else []
        need, stock = figure(found[5], reader.figures), reader.rules.get(found[1].lower())
        if one is not None and other is not None and need is not None and stock is not None:
            sense: Sense = "=" if found[4].startswith("meets") else ">=" if found[4].startswith("covers") else "<="
            reader.found.append(({**dict.fromkeys(one, 1.0), **dict.fromkeys(other, -1.0)}, sense, need - float(stock)))
    if found := re.fullmatch(rf"A stock of (.+) is there to begin with in {_NAME}\.", said):
        value = figure(found[1], reader.figures)
        if value is not None:
            reader.rules[found[2].lower()] = str(value)
    for pattern, sense in (
        (r"Without (?P<k>.+) there is nothing of (?P<q>.+); with it, (?P<f>.+) is the end of it\.", "<="),
        (r"(?P<q>.+) lives off (?P<k>.+): none if it is missing, no more than (?P<f>.+) for each\.", "<="),
        (r"Each (?P<k>.+) obliges us: (?P<q>.+) must then make (?P<f>.+) for it\.", ">="),
        (r"Taking (?P<k>.+) means that (?P<q>.+) has to reach (?P<f>.+) for each; without it nothing is asked\.", ">="),
        (r"With (?P<k>.+), (?P<q>.+) is (?P<f>.+) for each, neither more nor less; without it, none\.", "="),
        (r"(?P<q>.+) comes to (?P<f>.+) for every (?P<k>.+), on the nose\.", "="),
    ):
        if found := re.fullmatch(pattern, said):
            key = reader.names.get(found["k"].lower()) or reader.names.get(f"a {found['k'].lower()}")
            group, limit = reader.group(found["q"]), figure(found["f"], reader.figures)
            if key and group and limit is not None:
                reader.found.append(({**dict.fromkeys(group, 1.0), key: -limit}, sense, 0.0))  # type: ignore[arg-type]


def _compare(reader: Reader, quantity: str, sense: Sense, limit: str) -> None:
    lowered = quantity[0].lower() + quantity[1:]
    factor = _factor(limit)
    if found := re.fullmatch(rf"the {_NAME} measure", limit):
        held = reader.measures.get(found[1].lower())
        column = reader.names.get(lowered.lower())
        if held and column:
            reader.found.append(({column: 1.0, held[1]: -held[0]}, sense, 0.0))
        return
    if factor and factor[1].lower() in reader.names and lowered.lower() in reader.names:
        reader.found.append(
            ({reader.names[lowered.lower()]: 1.0, reader.names[factor[1].lower()]: -factor[0]}, sense, 0.0)
        )
        return
    value = figure(limit, reader.figures)
    if value is None:
        return
    if lowered.lower() in reader.names:
        side = {"<=": "upper", ">=": "lower"}.get(sense)
        if side:
            reader.bounds.setdefault(reader.names[lowered.lower()], {})[side] = value
            return
    _take(reader, lowered, sense, value)


def _take(reader: Reader, quantity: str, sense: Sense, value: float) -> None:
    terms = reader.quantity(quantity) or reader.quantity(quantity[0].lower() + quantity[1:])
    if terms is None:
        return
    if terms[1]:
        reader.found.append(({name: grade - value for name, grade in terms[0].items()}, sense, 0.0))
    else:
        reader.found.append((terms[0], sense, value))


# ------------------------------------------------------------------------------------------------- repairing


def differences(reader: Reader, model: LinearProgram) -> Iterable[list[Edit]]:
    """Edits of one element each, by how sure the match is: the same terms first, then nearly the same."""
    ranked: list[tuple[float, list[Edit]]] = []
    taken: set[str] = set()
    exact = []
    for terms, sense, rhs in reader.found:
        for row in model.rows:
            if row.name not in taken and _same(dict(row.terms), terms) and (row.sense, row.rhs) == (sense, rhs):
                taken.add(row.name)
                exact.append((terms, sense, rhs))
                break
    for terms, sense, rhs in reader.found:
        if (terms, sense, rhs) in exact:
            continue
        best = max(
            (row for row in model.rows if row.name not in taken),
            key=lambda row: _likeness(dict(row.terms), terms, row.sense == sense, row.rhs == rhs),
            default=None,
        )
        if best is None:
            continue
        likeness = _likeness(dict(best.terms), terms, best.sense == sense, best.rhs == rhs)
        edits: list[Edit] = []
        if best.sense != sense:
            edits.append(SetSense(best.name, sense))
        if abs(best.rhs - rhs) > 1e-6:
            edits.append(SetRhs(best.name, rhs))
        mine = dict(best.terms)
        for name in sorted(mine.keys() | terms.keys()):
            if abs(mine.get(name, 0.0) - terms.get(name, 0.0)) > 1e-6:
                edits.append(SetCoef(best.name, name, round(terms.get(name, 0.0), 6)))
        if edits and len(edits) <= 2:
            ranked.append((likeness, edits))
    for column in model.columns:
        said = reader.bounds.get(column.name)
        if said and column.kind != "binary":
            low, high = said.get("lower", column.lower), said.get("upper", column.upper)
            if (low, high) != (column.lower, column.upper):
                ranked.append((0.5, [SetBounds(column.name, low, None if high == float("inf") else high)]))
    ranked.sort(key=lambda option: -option[0])
    return [edits for _, edits in ranked]


def _same(one: Terms, other: Terms) -> bool:
    return one.keys() == other.keys() and all(abs(one[name] - other[name]) < 1e-6 for name in one)


def _likeness(one: Terms, other: Terms, sense: bool, rhs: bool) -> float:
    shared = sum(abs(one.get(name, 0.0) - value) < 1e-6 for name, value in other.items())
    return shared / max(1, len(one.keys() | other.keys())) + 0.2 * sense + 0.3 * rhs


def repairs(instance: Instance, form: SpecForm, resolve: bool = True) -> bool:
    """Whether the compiler repairs a problem: subsystem first, feasible at the end, one submission."""
    text = instance.specification(form).text
    reader = read_prose(text, resolve) if form == "prose" else read_table(text)
    model = instance.sabotaged
    for _ in range(3):
        iis = find_iis(model)
        if iis is None:
            break
        shown = shown_elements(iis)
        options = [edits for edits in differences(reader, model) if element(edits[0]) in shown]
        fixed = next((done for edits in options if (done := _tried(model, edits)) is not None and feasible(done)), None)
        if fixed is None and options:
            fixed = _tried(model, options[0])
        if fixed is None and form == "table":
            said = [terms for terms, _, _ in reader.found]
            extra = [
                row.name
                for row in model.rows
                if row.name in iis.row_names and not any(_same(dict(row.terms), terms) for terms in said)
            ]
            fixed = _tried(model, [DropRow(extra[0])]) if extra else None
        if fixed is None:
            return False
        model = fixed
    return Checker(instance.original).repaired(model)


def _tried(model: LinearProgram, edits: list[Edit]) -> LinearProgram | None:
    try:
        return apply_all(model, edits)
    except ModelError:
        return None
