"""A question about one thing among several, and pages on which its answer stands or does not.

A page and its twin are written from the same case by the same function, and differ in nothing but the value: where the
twin shows it, the page has a placeholder or nothing.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from whet.envs.soup1.archetype import Limit, Sheet, TaskDraft
from whet.envs.soup1.archetypes.markup import BLOCKS, asked
from whet.envs.soup1.words import (
    ADJECTIVES,
    LAST_NAMES,
    NOUNS,
    chance,
    ident,
    klass,
    person,
    phrase,
    pick,
    products,
    sentence,
    token,
    whole,
)

PLACEHOLDERS = ("", "...", "loading", "n/a", "see below", "pending")

FIELDS: Mapping[str, Callable[[random.Random], str]] = {
    "serial number": lambda rng: f"SN-{token(rng).upper()}-{whole(rng, 100, 999)}",
    # Above the prices of filler, so that none of these is the value by chance.
    "price": lambda rng: f"${whole(rng, 1000, 9800)}.{whole(rng, 0, 99):02d}",
    "capacity": lambda rng: f"{whole(rng, 120, 98_000)} {pick(rng, ('litres', 'units', 'boxes', 'pages'))}",
    "delivery date": lambda rng: f"{whole(rng, 2026, 2039)}-{whole(rng, 1, 12):02d}-{whole(rng, 1, 28):02d}",
    "warehouse": lambda rng: f"{whole(rng, 1, 400)} {pick(rng, LAST_NAMES)} Street",
    "inspector": lambda rng: f"{person(rng)} ({whole(rng, 100, 999)})",
    "batch": lambda rng: f"{pick(rng, ADJECTIVES)}-{pick(rng, NOUNS)}-{whole(rng, 10, 99)}",
    "test result": lambda rng: f"{whole(rng, 1, 99)}.{whole(rng, 0, 999):03d} bar",
}

_QUESTIONS = (
    'What is the {field} of "{subject}" according to the page? Return it as shown.',
    'Return the {field} that the page gives for "{subject}".',
    'Which {field} does the page state for "{subject}"?',
    'Find "{subject}" and return its {field}, as it stands there.',
)

_ROWS = (
    "<p><span>{label}</span> <b{at}>{value}</b></p>",
    "<div><em>{label}</em> <span{at}>{value}</span></div>",
    "<dl><dt>{label}</dt><dd{at}>{value}</dd></dl>",
    "<table><tr><th>{label}</th><td{at}>{value}</td></tr></table>",
)

_KNOWN = (
    ("<tr><td>{name}</td><td>{label}</td><td>{value}</td></tr>", "table"),
    ("<li><b>{name}</b> <span>{label}</span> <i>{value}</i></li>", "ul"),
    ("<dt>{name}</dt><dd>{label}: {value}</dd>", "dl"),
)


@dataclass(frozen=True, slots=True)
class WithheldCase:
    """All that is drawn for a page and its twin. `place` says where the twin shows the value."""

    subject: str
    field: str
    value: str
    others: Mapping[str, str]
    """The same field of other things, which both pages show."""
    place: str
    variant: int
    box: str
    slot: str
    key: str
    tag: str
    form: str
    placeholder: str
    text: str
    shared: bool
    """Whether the page has data for its scripts, also where the value is not in it."""

    @property
    def member(self) -> str:
        """What scripts call the value in the data that they fetch."""
        return f"f_{self.key[:6]}"

    def row(self, shown: str | None, attributes: str = "") -> str:
        """The field beside its label: the value where this is its place."""
        value = shown if shown is not None and self.place == "row" else self.placeholder
        return self.form.format(label=self.field.capitalize(), at=attributes, value=value)

    def told(self, shown: str | None, place: str) -> str:
        """What an attribute or a fallback says: the subject, and the value where this is its place."""
        return f"{self.subject}, {self.field}: {shown}" if shown is not None and self.place == place else self.subject

    def data(self, shown: str | None) -> str:
        """The data for scripts as a script element, or nothing."""
        if not (self.shared or self.place == "data"):
            return ""
        value = f'"{shown}"' if shown is not None and self.place == "data" else "null"
        rows = [f'"{name}": {{"{self.field}": "{value}"}}' for name, value in self.others.items()]
        rows.insert(self.variant % (len(rows) + 1), f'"{self.subject}": {{"{self.field}": {value}}}')
        return f'<script type="application/json">\n{{{", ".join(rows)}}}\n</script>'

    def boxed(self, inner: str) -> str:
        return f'<{self.tag} class="{self.box}">\n<h2>{self.subject}</h2>\n{inner}\n</{self.tag}>'

    def known(self) -> str:
        """What the page says of the other things."""
        row, box = _KNOWN[self.variant % len(_KNOWN)]
        label = self.field.capitalize()
        rows = "\n".join([row.format(name=name, label=label, value=value) for name, value in self.others.items()])
        return f"<section><h3>{self.text}</h3><{box}>\n{rows}\n</{box}></section>"

    def sheet(self, inner: str, shown: str | None, tail: str = "") -> Sheet:
        """The page: the subject in its box, the other things, and data for scripts."""
        parts = (self.known(), self.boxed(inner)) if self.variant % 2 else (self.boxed(inner), self.known())
        return Sheet((*parts, data) if (data := self.data(shown)) else parts, tail=tail)


def case(rng: random.Random, places: Sequence[str]) -> WithheldCase:
    """A case whose value stands in one of `places`, and whose values all differ."""
    field = pick(rng, tuple(FIELDS))
    names = products(rng, whole(rng, 3, 5))
    values: dict[str, None] = {}
    while len(values) < len(names):
        values[FIELDS[field](rng)] = None
    value, *others = values
    return WithheldCase(
        subject=names[0],
        field=field,
        value=value,
        others=dict(zip(names[1:], others, strict=True)),
        place=pick(rng, places),
        variant=whole(rng, 0, 11),
        box=klass(rng),
        slot=ident(rng),
        key=token(rng, 10),
        tag=pick(rng, BLOCKS),
        form=pick(rng, _ROWS),
        placeholder=pick(rng, PLACEHOLDERS),
        text=phrase(rng) if chance(rng, 0.7) else sentence(rng),
        shared=chance(rng, 0.4),
    )


_LOOK = """\
soup = make_soup()
subject, field, box_class, mark = {names!r}
box = soup.find(class_=box_class)
found = []
label = box.find(string=field.capitalize())
if label is not None:
    found.append(label.parent.find_next_sibling().get_text(" ", strip=True))
told = [str(value) for one in box.find_all(True) for value in one.attrs.values()]
told += [str(text) for text in box.find_all(string=True)]
for text in told:
    stated = re.search(re.escape(field) + r": ([^\\"]+)", text)
    found.append(stated.group(1).strip() if stated else "")
for script in soup.find_all("script", type="application/json"):
    found.append(json.loads(script.string).get(subject, {{}}).get(field) or "")
found = [text for text in found if text not in {placeholders!r}]
if found:
    print(json.dumps({{"answer": found[0]}}))
else:
    evidence = next(line.strip() for line in HTML.splitlines() if mark in line)
    print(json.dumps({{"limit": {{"reason": {reason!r}, "evidence": evidence}}}}))"""


def paired(
    rng: random.Random,
    drawn: WithheldCase,
    write: Callable[[WithheldCase, str | None], Sheet],
    marks: tuple[str, ...],
    *reasons: str,
) -> TaskDraft:
    """The page that withholds the value, with its twin that shows it; the oracle looks at both in the same way."""
    query = asked(rng, _QUESTIONS, field=drawn.field, subject=drawn.subject)
    names = (drawn.subject, drawn.field, drawn.box, marks[0])
    look = _LOOK.format(names=names, placeholders=PLACEHOLDERS, reason=reasons[0])
    twin = TaskDraft(query, drawn.value, write(drawn, drawn.value), (look,))
    return TaskDraft(query, None, write(drawn, None), (look,), limit=Limit(reasons, marks), twin=twin)
