"""Tables that are no plain grid: cells that span rows, records that stand in columns."""

from __future__ import annotations

import random
from itertools import groupby
from typing import Any

from whet.envs.soup.archetype import kind
from whet.envs.soup.archetypes.record import names
from whet.envs.soup.desk import Address, Desk, PageDraft, PagePlan, Side, TaskPlan, TopicRegion, page_of
from whet.envs.soup.kinds import ListForm, MoneyForm, NumberForm, RecordForm, TextForm
from whet.envs.soup.oracle import program
from whet.envs.soup.site.lexicon import whole
from whet.envs.soup.topics import DEVICE, PRODUCT
from whet.envs.soup.traits import Matter, SpellingHabit, halves
from whet.envs.soup.withhold import withheld

_SPANS = halves(
    "List {where}: an array of objects with `maker`, `name` and `price`, in order.",
    "Write down {where}, row by row: who produces it (`maker`), what it is called (`name`), what one pays (`price`).",
)
_COLUMNS = halves(
    "For each of {where}, return `model`, `power` (in W) and `weight` (in kg), in order.",
    "Turn the comparison of {where} into objects, from left to right: `model`, `weight` in kg, `power` in W.",
)


def _spanning(desk: Desk, spelled: SpellingHabit, matters: list[Matter]) -> str:
    """A table in which the maker's cell spans the rows of its products."""
    lines = []
    for _, group in groupby(matters, key=lambda row: row["brand"]):
        members = list(group)
        for number, row in enumerate(members):
            first = f'<td rowspan="{len(members)}">{row["brand"]}</td>' if number == 0 else ""
            cells = f"{first}<td>{row['name']}</td><td>{PRODUCT['price'].show(row['price'], spelled)}</td>"
            lines.append(desk.box("tr", "row", cells))
    return desk.box("table", "list", "\n".join(lines))


@kind("hard")
def row_spans(desk: Desk) -> TaskPlan:
    """Products by maker, whose cell spans its products."""
    region, way = TopicRegion.drawn(desk, PRODUCT, ("name", "price", "brand"), ("grid",), many=True), desk.way(_SPANS)

    def grouped(rng: random.Random) -> list[Matter]:
        made: list[Matter] = []
        for _ in range(whole(rng, 2, 4)):
            maker = region.draw(rng)["brand"]
            made += [{**row, "brand": maker} for row in region.several(rng, 1, 4)]
        return made

    def draw(rng: random.Random, plan: PagePlan) -> tuple[Any, Any]:
        own = grouped(rng)
        return own, [{"maker": row["brand"], "name": row["name"], "price": row["price"] / 100} for row in own]

    def write(rng: random.Random, matter: Any, plan: PagePlan) -> PageDraft:
        return sides(rng, region, {"own": matter, "other": grouped(rng)}, plan.hide, _spanning)

    def question(address: Address) -> str:
        return way.format(where=region.where(address))

    body = """
made, maker = [], ""
for line in soup.find(class_=OWN).find_all(class_=ROW):
    cells = [cell.get_text(" ") for cell in line.find_all("td")]
    if len(cells) == 3:
        maker = text(cells.pop(0))
    made.append({"maker": maker, "name": text(cells[0]), "price": money(cells[1])})
return made"""
    form = ListForm(RecordForm({"maker": TextForm(), "name": TextForm(), "price": MoneyForm()}))
    return TaskPlan(form, question, program(names(region), body), draw, write)


def sides(
    rng: random.Random, region: TopicRegion, matters: dict[Side, Any], hide: Side | None, inner: Any, title: str = ""
) -> PageDraft:
    """A page of the two regions, each written by `inner`, of which one may be withheld as a whole."""
    spelled, parts, made = region.desk.spelling(rng), [], None
    for side, matter in matters.items():
        shown = inner(region.desk, spelled, matter)
        if hide == side:
            made = withheld(rng, region.desk.site, (shown, ""))
            shown = made.markup
        parts.append(region.write(rng, side, shown))
    return page_of(rng, parts, made, hide, title)


@kind("medium")
def columns(desk: Desk) -> TaskPlan:
    """Variants side by side: a record is a column, and a row is a trait."""
    region = TopicRegion.drawn(desk, DEVICE, ("model", "weight", "power", "noise", "height"), ("grid",), many=True)
    way = desk.way(_COLUMNS)

    def inner(desk: Desk, spelled: SpellingHabit, matters: list[Matter]) -> str:
        order = random.Random(str(matters[0]["model"])).sample(region.traits[1:], 4)
        lines = []
        for trait in (region.traits[0], *order):
            cells = "".join(f"<td>{trait.show(row[trait.key], spelled)}</td>" for row in matters)
            lines.append(f"<tr><th>{spelled.labelled(region.labels[trait.key])}</th>{cells}</tr>")
        return desk.box("table", "list", "\n".join(lines))

    def draw(rng: random.Random, plan: PagePlan) -> tuple[Any, Any]:
        own = region.several(rng, 2, 6)
        return own, [{"model": row["model"], "power": row["power"], "weight": row["weight"]} for row in own]

    def write(rng: random.Random, matter: Any, plan: PagePlan) -> PageDraft:
        return sides(rng, region, {"own": matter, "other": region.several(rng, 2, 6)}, plan.hide, inner)

    def question(address: Address) -> str:
        return way.format(where=region.where(address))

    body = """
found = {}
for line in soup.find(class_=OWN).find_all("tr"):
    trait = next(trait for trait in TRAITS if same(line.find("th").get_text(), trait[2]))
    found[trait[0]] = [read(trait, cell.get_text(" ")) for cell in line.find_all("td")]
made = zip(found["model"], found["power"], found["weight"])
return [{"model": model, "power": power, "weight": weight} for model, power, weight in made]"""
    form = ListForm(RecordForm({"model": TextForm(), "power": NumberForm(), "weight": NumberForm()}))
    return TaskPlan(form, question, program(names(region), body), draw, write)


KINDS = (row_spans, columns)
