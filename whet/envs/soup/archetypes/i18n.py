"""Other languages: labels, digits, amounts and dates as they are written elsewhere; the question is in English."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from whet.envs.soup.archetype import kind
from whet.envs.soup.archetypes.record import SHEETS, listed, names
from whet.envs.soup.archetypes.table import sides
from whet.envs.soup.desk import Address, Desk, PageDraft, PagePlan, TaskPlan, TopicRegion
from whet.envs.soup.kinds import ListForm, RecordForm
from whet.envs.soup.oracle import program
from whet.envs.soup.site import Half
from whet.envs.soup.site.lexicon import pick
from whet.envs.soup.tongues import BILLS, ERAS, FLATS, GOODS, ORDERS, Tongue
from whet.envs.soup.topics import FLAT, INVOICE, ORDER, PRODUCT
from whet.envs.soup.traits import Matter, SpellingHabit, Topic, halves

_RECORD = halves(
    "Of {where}, return {what}. The page is in another language.|"
    "The page is not in English. Return {what}, of {where}.",
    "Meant is {where}, whatever language that is in. Fill an object: {what}.",
)
_ROWS = halves(
    "List {where}: an array of objects with {what}, in the order of the page. The page is in another language.",
    "Go through {where} from top to bottom, in whatever language they are, and note for each {what}.",
)

Tongues = Mapping[Half, tuple[Tongue, ...]]

_READ = f"""
ERAS = {[(name, before) for name, _, before in ERAS]!r}
def cents(shown):
    return int(re.sub(r"\\D", "", shown))
def foreign(sort, shown):
    shown = text(shown)
    if sort == "text":
        return shown
    if sort == "money":
        return cents(shown) if WHOLE else cents(shown) / 100
    if sort == "number":
        parts = re.findall(r"\\d+", shown.partition(POINT)[0] if POINT in shown else shown)
        tail = re.findall(r"\\d+", shown.partition(POINT)[2])
        whole = int("".join(parts))
        return whole + int(tail[0]) / 10 ** len(tail[0]) if tail else whole
    numbers = [int(found) for found in re.findall(r"\\d+", shown)]
    if MONTHS:
        # The longest name first: one month's may stand in another's.
        named = [name for name in sorted(MONTHS, key=len, reverse=True) if name in shown]
        year, month, date = max(numbers), MONTHS.index(named[0]) + 1, min(numbers)
    else:
        year, month, date = numbers
        year += sum(before for name, before in ERAS if name in shown)
    return "%d-%02d-%02d" % (year, month, date)
def key_of(label):
    return next(key for key, said in LABELS.items() if same(label, [said]))
"""


def _told(tongue: Tongue, region: TopicRegion) -> str:
    """What the oracle knows of the language."""
    known: dict[str, Any] = {"LABELS": dict(tongue.labels), "MONTHS": tongue.months, "WHOLE": tongue.whole}
    known |= {"POINT": tongue.point, "SORTS": {trait.key: trait.sort for trait in region.traits}}
    return "\n".join([names(region), *(f"{name} = {value!r}" for name, value in known.items()), _READ])


def _spoken(desk: Desk, topic: Topic, tongues: Tongues, many: bool) -> tuple[TopicRegion, Tongue]:
    """The region in one of the languages, and the language."""
    tongue = pick(desk.rng, tongues[desk.half])
    own, other = tongue.headings
    region = TopicRegion.drawn(desk, topic, tuple(tongue.labels), ("grid",) if many else SHEETS, many=many)
    places = dict(region.places)
    places["described"] = places["described"].replace(region.headings["own"], own)
    return replace(region, labels=tongue.labels, headings={"own": own, "other": other}, places=places), tongue


def _turned(tongue: Tongue, inner: str) -> str:
    """In the direction of the language."""
    return f'<div lang="{tongue.code}"{" dir=rtl" if tongue.rtl else ""}>\n{inner}\n</div>'


def _foreign_record(desk: Desk, topic: Topic, tongues: Tongues, count: int) -> TaskPlan:
    """Several values of a record in another language."""
    region, tongue = _spoken(desk, topic, tongues, many=False)
    wanted, way = tuple(desk.rng.sample(list(tongue.labels), count)), desk.way(_RECORD)
    told = listed([f"`{key}` ({region.asks[key]})" for key in wanted])

    def inner(desk: Desk, spelled: SpellingHabit, record: Matter) -> str:
        order = random.Random(str(record)).sample(region.traits, len(region.traits))
        shown = [
            (spelled.labelled(tongue.labels[trait.key]), tongue.show(trait, record[trait.key], spelled))
            for trait in order
        ]
        return _turned(tongue, region.sheet(shown))

    def drawn(rng: random.Random) -> Matter:
        record = region.draw(rng)
        if tongue.whole:
            record |= {trait.key: record[trait.key] * 100 for trait in region.traits if trait.sort == "money"}
        return record

    def draw(rng: random.Random, plan: PagePlan) -> tuple[Any, Any]:
        own = drawn(rng)
        return own, {key: topic[key].truth(own[key]) for key in wanted}

    def write(rng: random.Random, matter: Any, plan: PagePlan) -> PageDraft:
        return sides(rng, region, {"own": matter, "other": drawn(rng)}, plan.hide, inner)

    def question(address: Address) -> str:
        return way.format(where=region.where(address), what=told)

    body = f"""
found = {{}}
for label, value in pairs(soup.find(class_=OWN)):
    key = key_of(label)
    found[key] = foreign(SORTS[key], value.get_text())
return {{key: found[key] for key in {wanted!r}}}"""
    form = RecordForm({key: topic[key].form() for key in wanted})
    return TaskPlan(form, question, program(_told(tongue, region), body), draw, write)


@kind("hard")
def foreign_order(desk: Desk) -> TaskPlan:
    """What shipping, tax and order cost, and when it was placed, on a page in another language."""
    return _foreign_record(desk, ORDER, ORDERS, 3)


@kind("hard")
def right_to_left(desk: Desk) -> TaskPlan:
    """An invoice in Arabic, Hebrew or Persian, with their digits and names of months."""
    return _foreign_record(desk, INVOICE, BILLS, 3)


@kind("hard")
def east_asian(desk: Desk) -> TaskPlan:
    """A flat in Japanese, Chinese or Korean: amounts without a smaller coin, wide digits, years of an era."""
    return _foreign_record(desk, FLAT, FLATS, 3)


@kind("medium")
def decimal_commas(desk: Desk) -> TaskPlan:
    """A list of products in which a comma stands before the cents, and a point or a space between the thousands."""
    region, tongue = _spoken(desk, PRODUCT, GOODS, many=True)
    keys, way = tuple(tongue.labels), desk.way(_ROWS)
    told = listed([f"`{key}` ({region.asks[key]})" for key in keys])

    def inner(desk: Desk, spelled: SpellingHabit, records: list[Matter]) -> str:
        order = random.Random(str(records[0])).sample(region.traits, len(region.traits))
        heads = "".join([desk.box("th", "label", spelled.labelled(tongue.labels[trait.key])) for trait in order])
        lines = [f"<tr>{heads}</tr>"]
        for record in records:
            cells = [f"<td>{tongue.show(trait, record[trait.key], spelled)}</td>" for trait in order]
            lines.append(desk.box("tr", "row", "".join(cells)))
        return _turned(tongue, desk.box("table", "list", "\n".join(lines)))

    def draw(rng: random.Random, plan: PagePlan) -> tuple[Any, Any]:
        own = region.several(rng, 3, 8)
        return own, [{trait.key: trait.truth(record[trait.key]) for trait in region.traits} for record in own]

    def write(rng: random.Random, matter: Any, plan: PagePlan) -> PageDraft:
        return sides(rng, region, {"own": matter, "other": region.several(rng, 3, 8)}, plan.hide, inner)

    def question(address: Address) -> str:
        return way.format(where=region.where(address), what=told)

    body = """
box = soup.find(class_=OWN)
order = [key_of(label.get_text()) for label in box.find_all(class_=LABEL)]
made = []
for line in box.find_all(class_=ROW):
    cells = zip(order, line.find_all("td"))
    made.append({key: foreign(SORTS[key], cell.get_text()) for key, cell in cells})
return made"""
    form = ListForm(RecordForm({key: PRODUCT[key].form() for key in keys}))
    return TaskPlan(form, question, program(_told(tongue, region), body), draw, write)


KINDS = (foreign_order, right_to_left, east_asian, decimal_commas)
