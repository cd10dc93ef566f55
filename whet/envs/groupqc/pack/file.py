"""Mission packs from TOML files. Everything is checked: unknown keys, missing texts, names that point nowhere.

`load_pack("bbu")` reads a pack that comes with Whet, `load_pack("my/pack.toml")` one of your own; `find_mission` finds
a mission by name among several packs.
"""

from __future__ import annotations

import functools
import importlib.resources
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast, get_args

from whet.envs.groupqc.pack.schema import (
    Attribute,
    AttributeKind,
    ForeignObject,
    Labels,
    Mission,
    Need,
    ObjectCategory,
    Pack,
    Prompts,
    Stations,
    VerdictRewards,
    Words,
)
from whet.envs.groupqc.pack.table import PackTable
from whet.errors import WhetError, nearest
from whet.keys import bytes_digest

SCHEMA = 1

LOOKS = (
    *("unit", "screw", "plug", "fibre", "wire", "plate", "label"),
    *("clamp", "terminal", "bottle", "door", "sign", "lane", "text"),
)
"""Shapes that `render.looks` draws; `text` is a watermark."""

MARKS = (
    *("badge", "whole", "cut", "full", "space", "up", "down", "flush", "gap", "loose", "copper", "double", "rust"),
    *("tube", "bare", "snake", "armour", "arc", "loop", "tidy", "tangle", "tag", "one", "two", "shut", "open"),
    "blocked",
)
"""Drawings of a value; `badge` writes the value itself."""

MOST_SLOTS = 4
"""Attributes of one category that a drawing has room for."""

MOST_ASKED = 5
"""Categories that one mission may ask for."""


@functools.cache
def bundled() -> dict[str, bytes]:
    """The packs that come with Whet, by name."""
    folder = importlib.resources.files("whet.envs.groupqc.pack") / "data"
    return {
        file.name.removesuffix(".toml"): file.read_bytes() for file in folder.iterdir() if file.name.endswith(".toml")
    }


def pack_names() -> tuple[str, ...]:
    """The packs that come with Whet."""
    return tuple(sorted(bundled()))


def load_pack(where: str) -> Pack:
    """The pack called `where`, or the one in the file `where` (a path that ends in .toml)."""
    if not where.endswith(".toml"):
        if where not in bundled():
            known = ", ".join(sorted(bundled()))
            raise WhetError(
                f"there is no pack {where!r}.{nearest(where, bundled())} There are {known}, or give a .toml file"
            )
        return parse_pack(bundled()[where], f"pack {where}")
    try:
        data = Path(where).read_bytes()
    except OSError as problem:
        raise WhetError(f"cannot read the pack {where}: {problem.strerror}") from None
    return parse_pack(data, where)


def load_packs(where: Iterable[str] = ()) -> tuple[Pack, ...]:
    """The packs named, or without a name all that come with Whet."""
    return tuple(load_pack(name) for name in (tuple(where) or pack_names()))


def find_mission(name: str, packs: Iterable[Pack] | None = None) -> tuple[Pack, Mission]:
    """The mission of that name and the pack it is in; by default among the packs that come with Whet."""
    among = tuple(packs) if packs is not None else load_packs()
    for pack in among:
        for mission in pack.missions:
            if mission.name == name:
                return pack, mission
    known = [mission.name for pack in among for mission in pack.missions]
    hint = nearest(name, known) or f" Known: {', '.join(known)}."
    raise WhetError(f"there is no mission {name!r} in the packs {', '.join(pack.name for pack in among)}.{hint}")


@functools.lru_cache(maxsize=64)
def parse_pack(data: bytes, where: str) -> Pack:
    """The pack in the text of a TOML file; `where` is how messages call it."""
    try:
        values = tomllib.loads(data.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise WhetError(f"{where} is not TOML: {problem}") from None
    table = PackTable(where, values)
    if table.number("schema", most=99) != SCHEMA:
        raise table.refusal(f"'schema' must be {SCHEMA}")
    categories = _categories(table)
    labels = _labels(table.table("labels"), categories)
    stations = _stations(table.table("stations"), categories) if "stations" in values else None
    pack = Pack(
        name=table.text("name"),
        language=cast(Any, table.one_of("language", ("zh", "en"))),
        title=table.text("title"),
        words=_words(table.table("words")),
        categories=categories,
        labels=labels,
        stations=stations,
        missions=tuple(_mission(inner, categories, stations) for inner in table.tables("mission", 1)),
        prompts=_prompts(table.table("prompts")),
        rewards=_rewards(table.table("rewards", {})),
        notes=table.texts("notes"),
        foreign=tuple(_foreign(inner) for inner in table.tables("foreign")),
        brand=_triple(table, "drift_brand", categories),
        digest=bytes_digest(data),
    )
    table.done()
    _unique(table, "mission", [mission.name for mission in pack.missions])
    _unique(table, "mission code", [mission.code for mission in pack.missions])
    for mission in pack.missions:
        if labels.category in mission.distractors and any(need.labelled for need in mission.needs):
            raise table.refusal(f"mission {mission.name!r} asks for labels: {labels.category!r} is no distractor of it")
    return pack


def _words(table: PackTable) -> Words:
    words = Words(**{name: table.text(name) for name in Words.__dataclass_fields__})
    table.done()
    if words.pass_folder == words.fail_folder or words.passed == words.failed:
        raise table.refusal("pass and fail must have different words and folders")
    return words


def _categories(table: PackTable) -> tuple[ObjectCategory, ...]:
    found = tuple(_category(inner) for inner in table.tables("category", 1))
    _unique(table, "category", [category.name for category in found])
    return found


def _category(table: PackTable) -> ObjectCategory:
    attributes = tuple(_attribute(inner) for inner in table.tables("attribute"))
    _unique(table, "attribute", [attribute.name for attribute in attributes])
    category = ObjectCategory(
        name=table.text("name"),
        look=table.one_of("look", LOOKS),
        tint=table.text("tint", "#808080"),
        attributes=attributes,
        most=int(table.number("most", 1, least=1, most=6)),
    )
    if not re.fullmatch(r"#[0-9a-fA-F]{6}", category.tint):
        raise table.refusal(f"'tint' must be a colour such as #3a7fd5, not {category.tint!r}")
    drawn = [attribute for attribute in attributes if attribute.marks or attribute.kind == "pair"]
    if len(drawn) > MOST_SLOTS:
        raise table.refusal(f"a drawing has room for {MOST_SLOTS} attributes, this category has {len(drawn)}")
    table.done()
    return category


def _attribute(table: PackTable) -> Attribute:
    kind = cast(AttributeKind, table.one_of("kind", get_args(AttributeKind), "state"))
    values, marks = table.texts("values", least=1 if kind == "state" else 0), table.mapping("marks")
    if marks and set(marks) != set(values):
        raise table.refusal("'marks' must name a drawing for each of the values, and for nothing else")
    for mark in marks.values():
        if mark not in MARKS:
            raise table.refusal(f"'marks' names the drawing {mark!r}, which is not known.{nearest(mark, MARKS)}")
    weights = _weights(table, values)
    only = table.mapping("only")
    if len(only) > 1:
        raise table.refusal("'only' takes one attribute and its value")
    implied = {}
    for rule in table.tables("implied"):
        implied[rule.text("attribute"), rule.text("is")] = rule.one_of("value", values)
        rule.done()
    attribute = Attribute(
        name=table.text("name"),
        kind=kind,
        values=values,
        marks=marks,
        weights=weights,
        shown=table.number("shown", 1.0),
        only=next(iter(only.items()), None),
        implied=implied,
    )
    table.done()
    return attribute


def _weights(table: PackTable, values: tuple[str, ...]) -> tuple[float, ...]:
    given = table.table("weights", {})
    weights = tuple(given.number(value, 1.0, most=1000) for value in values)
    given.done()
    if values and not sum(weights):
        raise table.refusal("'weights' leaves no value that can be drawn")
    return weights


def _labels(table: PackTable, categories: tuple[ObjectCategory, ...]) -> Labels:
    labels = Labels(
        category=_known_category(table, "category", categories).name,
        text=table.text("text"),
        legibility=table.text("legibility"),
        illegible=table.text("illegible"),
        templates=table.texts("templates", least=1),
        new_templates=table.texts("new_templates", least=1),
        zones=table.texts("zones", least=1),
    )
    table.done()
    return labels


def _stations(table: PackTable, categories: tuple[ObjectCategory, ...]) -> Stations:
    category = _known_category(table, "category", categories)
    stations = Stations(
        category=category.name,
        attribute=_known_attribute(table, "attribute", category).name,
        watermark=table.text("watermark"),
        least=int(table.number("least", most=99_999)),
        most=int(table.number("most", most=99_999)),
    )
    if "{n}" not in stations.watermark or stations.least >= stations.most:
        raise table.refusal("'watermark' must hold {n}, and 'least' must be below 'most'")
    table.done()
    return stations


def _mission(table: PackTable, categories: tuple[ObjectCategory, ...], stations: Stations | None) -> Mission:
    needs = tuple(_need(inner, categories) for inner in table.tables("need", 1))
    _unique(table, "need", [need.id for need in needs])
    if len({need.category for need in needs}) > MOST_ASKED:
        raise table.refusal(f"it asks for more than {MOST_ASKED} categories")
    for need in needs:
        if need.when is not None and need.when[0] not in {other.category for other in needs if other is not need}:
            raise table.refusal(f"need {need.id!r} depends on {need.when[0]!r}: another need must ask for it")
    distractors = table.texts("distractors", least=1)
    for name in distractors:
        _one_of_categories(table, "distractors", name, categories)
        if any(name == need.category for need in needs):
            raise table.refusal(f"{name!r} is asked for and cannot be a distractor")
    per_station = table.text("per", "")
    if per_station and (stations is None or per_station != stations.category):
        raise table.refusal(f"'per' is {per_station!r}: it must be the category of [stations]")
    mission = Mission(
        name=table.text("name"),
        code=table.text("code"),
        about=table.text("about"),
        needs=needs,
        focus=table.text("focus"),
        structure=table.texts("structure"),
        rules=table.texts("rules"),
        photo_rules=table.texts("photo_rules"),
        remarks=table.texts("remarks", least=1),
        distractors=distractors,
        per_station=bool(per_station),
        pass_share=table.number("pass_share", 0.7),
    )
    if not re.fullmatch("[A-Z]+", mission.code):
        raise table.refusal(f"'code' must be capital letters A to Z, not {mission.code!r}")
    if "/" in mission.name or mission.name.startswith("."):
        raise table.refusal("'name' is also the name of a folder: it must not hold '/' or begin with '.'")
    table.done()
    return mission


def _need(table: PackTable, categories: tuple[ObjectCategory, ...]) -> Need:
    category = _known_category(table, "category", categories)
    good, known = table.mapping("good"), table.text("known", "")
    for name, value in good.items():
        attribute = next((attribute for attribute in category.attributes if attribute.name == name), None)
        if attribute is None or value not in attribute.values:
            raise table.refusal(f"'good' says {name} = {value!r}, which {category.name} does not have")
    if known and category.attribute(known) is None:
        raise table.refusal(f"'known' is {known!r}, which {category.name} does not have")
    asked = [category.attribute(name) for name in (*good, *filter(None, [known]))]
    if any(attribute is not None and not attribute.marks for attribute in asked):
        raise table.refusal("it asks for an attribute without 'marks', which no photo can show")
    if (
        good
        and not table.flag("labelled")
        and all(attribute is not None and len(attribute.values) < 2 for attribute in asked)
    ):
        raise table.refusal("'good' must name an attribute that has another value, or the need cannot fail")
    need = Need(
        id=table.text("id"),
        text=table.text("text"),
        absent=table.text("absent"),
        broken=table.text("broken", "-"),
        category=category.name,
        good=good,
        known=known,
        when=_triple(table, "when", categories),
        labelled=table.flag("labelled"),
    )
    table.done()
    return need


def _triple(table: PackTable, key: str, categories: tuple[ObjectCategory, ...]) -> tuple[str, str, str] | None:
    """A value of an attribute of a category, each of them known; None where it is not given."""
    given = table.mapping(key)
    if not given:
        return None
    inner = PackTable(f"{table.place}, {key}", given)
    category = _known_category(inner, "category", categories)
    attribute = _known_attribute(inner, "attribute", category)
    value = inner.one_of("value", attribute.values)
    inner.done()
    return category.name, attribute.name, value


def _prompts(table: PackTable) -> Prompts:
    prompts = Prompts(
        photo_role=table.text("photo_role"),
        photo_rules=table.texts("photo_rules", least=1),
        photo_request=_template(table, "photo_request", ("mission", "about", "categories", "format")),
        ticket_role=table.text("ticket_role"),
        ticket_rules=table.texts("ticket_rules", least=1),
        ticket_request=_template(
            table,
            "ticket_request",
            ("mission", "focus", "structure", "rules", "count", "overview", "stations", "summaries"),
        ),
    )
    table.done()
    return prompts


def _template(table: PackTable, key: str, places: tuple[str, ...]) -> str:
    text = table.text(key)
    found = set(re.findall(r"\{(\w+)\}", text))
    if found != set(places):
        odd = ", ".join(sorted(found ^ set(places)))
        raise table.refusal(f"{key!r} must hold each of {', '.join('{' + place + '}' for place in places)}: see {odd}")
    return text


def _rewards(table: PackTable) -> VerdictRewards:
    standard = VerdictRewards()
    rewards = VerdictRewards(
        **{name: table.number(name, getattr(standard, name), most=100) for name in VerdictRewards.__dataclass_fields__}
    )
    table.done()
    return rewards


def _foreign(table: PackTable) -> ForeignObject:
    foreign = ForeignObject(table.text("name"), table.mapping("states"))
    table.done()
    return foreign


def _known_category(table: PackTable, key: str, categories: tuple[ObjectCategory, ...]) -> ObjectCategory:
    return _one_of_categories(table, key, table.text(key), categories)


def _one_of_categories(table: PackTable, key: str, name: str, categories: tuple[ObjectCategory, ...]) -> ObjectCategory:
    for category in categories:
        if category.name == name:
            return category
    raise table.refusal(
        f"{key!r} names the category {name!r}.{nearest(name, [category.name for category in categories])}"
    )


def _known_attribute(table: PackTable, key: str, category: ObjectCategory) -> Attribute:
    name = table.text(key)
    found = category.attribute(name)
    if found is None:
        raise table.refusal(f"{category.name} has no attribute {name!r}")
    return found


def _unique(table: PackTable, what: str, names: list[str]) -> None:
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise table.refusal(f"{what} {sorted(twice)[0]!r} is given twice")
