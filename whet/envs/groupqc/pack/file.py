"""Mission packs from TOML files. Everything is checked: unknown keys, missing texts, names that point nowhere.

`load_pack("bbu")` reads a pack that comes with Whet, `load_pack("my/pack.toml")` one of your own; `find_mission` finds
a mission by name among several packs. `pack_mistakes` lists all that is wrong with a file.
"""

from __future__ import annotations

import functools
import importlib.resources
import re
import string
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from whet.envs.groupqc.pack.conditions import ConditionReader
from whet.envs.groupqc.pack.keys import LABEL_FIELDS, LOOKS, MARKS, PHOTO_FIELDS, TICKET_FIELDS
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
    Sites,
    Stations,
    VerdictRewards,
    Words,
)
from whet.envs.groupqc.pack.table import PackTable
from whet.errors import WhetError, nearest
from whet.keys import bytes_digest

__all__ = ["LOOKS", "MARKS", "bundled", "find_mission", "load_pack", "load_packs", "pack_mistakes", "pack_names"]

SCHEMA = 1

MOST_SLOTS = 4
"""Attributes of one category that a drawing has room for."""

MOST_ASKED = 5
"""Categories that one mission may ask for."""

Categories = tuple[ObjectCategory, ...]


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
    return parse_pack(_file_bytes(where), where)


def pack_mistakes(where: str) -> tuple[str, ...]:
    """All that is wrong with a pack, one line a mistake; nothing where it can be used."""
    if not where.endswith(".toml"):
        load_pack(where)
        return ()
    return _parsed(_file_bytes(where), where)[1]


def _file_bytes(where: str) -> bytes:
    try:
        return Path(where).read_bytes()
    except OSError as problem:
        raise WhetError(f"cannot read the pack {where}: {problem.strerror}") from None


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
    pack, mistakes = _parsed(data, where)
    if mistakes:
        more = f" (and {len(mistakes) - 1} more: whet groupqc pack check {where})" if len(mistakes) > 1 else ""
        raise WhetError(mistakes[0] + more)
    return pack


def _parsed(data: bytes, where: str) -> tuple[Pack, tuple[str, ...]]:
    """The pack, fit for use only without mistakes, and these."""
    try:
        values = tomllib.loads(data.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise WhetError(f"{where} is not TOML: {problem}") from None
    mistakes: list[str] = []
    table = PackTable("pack", where, values, mistakes)
    if table.raw("schema") != SCHEMA:
        table.report(f"'schema' must be {SCHEMA}, the version of this format")
    categories = tuple(_category(inner) for inner in table.tables("category", "category"))
    _unique(table, "category", [category.name for category in categories])
    labels = _labels(table.table("labels", "labels"), categories)
    stations = _stations(table.table("stations", "stations"), categories) if table.given("stations") else None
    sites = _sites(table.table("sites", "sites")) if table.given("sites") else None
    missions = _MissionReader(categories, labels, stations, sites)
    pack = Pack(
        name=table.text("name"),
        language=cast(Any, table.text("language")),
        title=table.text("title"),
        words=_words(table.table("words", "words")),
        categories=categories,
        labels=labels,
        stations=stations,
        missions=tuple(missions.mission(inner) for inner in table.tables("mission", "mission")),
        prompts=_prompts(table.table("prompts", "prompts")),
        rewards=_rewards(table.table("rewards", "rewards")),
        notes=table.texts("notes"),
        foreign=tuple(
            ForeignObject(inner.text("name"), inner.mapping("states")) for inner in table.tables("foreign", "foreign")
        ),
        brand=_value(table, "drift_brand", categories),
        digest=bytes_digest(data),
        sites=sites,
    )
    _unique(table, "mission", [mission.name for mission in pack.missions])
    _unique(table, "mission code", [mission.code for mission in pack.missions])
    return pack, tuple(dict.fromkeys(mistakes))


def _words(table: PackTable) -> Words:
    words = Words(**{name: table.text(name) for name in Words.__dataclass_fields__})
    if words.passed and (words.pass_folder == words.fail_folder or words.passed == words.failed):
        table.report("pass and fail must have different words and folders")
    return words


def _category(table: PackTable) -> ObjectCategory:
    attributes = tuple(_attribute(inner) for inner in table.tables("attribute", "attribute"))
    _unique(table, "attribute", [attribute.name for attribute in attributes])
    category = ObjectCategory(
        name=table.text("name"),
        look=table.text("look"),
        tint=table.text("tint"),
        attributes=attributes,
        most=int(table.number("most")),
    )
    if not re.fullmatch(r"#[0-9a-fA-F]{6}", category.tint):
        table.report(f"'tint' must be a colour such as #3a7fd5, not {category.tint!r}")
    drawn = [attribute for attribute in attributes if attribute.marks or attribute.kind == "pair"]
    if len(drawn) > MOST_SLOTS:
        table.report(f"a drawing has room for {MOST_SLOTS} attributes, this category has {len(drawn)}")
    for attribute in attributes:
        others = {other.name: other.values for other in attributes if other is not attribute}
        needed = [attribute.only] if attribute.only else []
        for name, value in (*needed, *attribute.implied):
            if value not in others.get(name, ()):
                known = "; ".join(f"{other}: {', '.join(values)}" for other, values in others.items() if values)
                table.report(f"{attribute.name!r} depends on {name} = {value!r}. Allowed: {known or 'nothing'}")
    return category


def _attribute(table: PackTable) -> Attribute:
    kind = cast(AttributeKind, table.text("kind"))
    values, marks = table.texts("values"), table.mapping("marks")
    if kind == "state" and not values:
        table.report("'values' must be a list of 1 or more texts, for an attribute of the kind 'state'")
    if marks and set(marks) != set(values):
        table.report(f"'marks' must name a drawing for each of the values, and for nothing else: {', '.join(values)}")
    only = table.mapping("only")
    if len(only) > 1:
        table.report("'only' takes one attribute and its value")
    implied = {}
    for rule in table.tables("implied", "implied"):
        implied[rule.text("attribute"), rule.text("is")] = rule.text("value")
        rule.among("value", [rule.text("value")], values)
    return Attribute(
        name=table.text("name"),
        kind=kind,
        values=values,
        marks=marks,
        weights=_weights(table, values),
        shown=table.number("shown"),
        only=next(iter(only.items()), None),
        implied=implied,
    )


def _weights(table: PackTable, values: tuple[str, ...]) -> tuple[float, ...]:
    given = table.raw("weights")
    if not isinstance(given, dict):
        table.report(f"'weights' must map values to numbers, not {given!r}")
        return tuple(1.0 for _ in values)
    table.among("weights", given, values)
    for value, weight in given.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight <= 1000:
            table.report(f"'weights' of {value!r} must be a number from 0 to 1000, not {weight!r}")
            return tuple(1.0 for _ in values)
    weights = tuple(float(given.get(value, 1.0)) for value in values)
    if values and not sum(weights):
        table.report("'weights' leaves no value that can be drawn")
    return weights


def _labels(table: PackTable, categories: Categories) -> Labels:
    category = _known_category(table, "category", categories)
    labels = Labels(
        category=table.text("category"),
        text=table.text("text"),
        legibility=table.text("legibility"),
        illegible=table.text("illegible"),
        templates=table.texts("templates"),
        new_templates=table.texts("new_templates"),
        zones=table.texts("zones"),
    )
    if category is not None:
        names = [attribute.name for attribute in category.attributes]
        for key in ("text", "legibility"):
            table.among(key, [table.text(key)], names)
    for key in ("templates", "new_templates"):
        for template in table.texts(key):
            _fields(table, key, template, LABEL_FIELDS, needed=())
    return labels


def _stations(table: PackTable, categories: Categories) -> Stations:
    category = _known_category(table, "category", categories)
    if category is not None:
        _known_attribute(table, "attribute", category)
    stations = Stations(
        category=table.text("category"),
        attribute=table.text("attribute"),
        watermark=table.text("watermark"),
        least=int(table.number("least")),
        most=int(table.number("most")),
    )
    _fields(table, "watermark", stations.watermark, ("n",), needed=("n",))
    if stations.least >= stations.most:
        table.report(f"'least' must be below 'most', not {stations.least} to {stations.most}")
    return stations


def _sites(table: PackTable) -> Sites:
    return Sites(table.text("word"), table.text("date"), table.texts("names"))


class _MissionReader:
    """Reads missions of one pack, whose other tables they refer to."""

    def __init__(self, categories: Categories, labels: Labels, stations: Stations | None, sites: Sites | None) -> None:
        self._categories = categories
        self._labels = labels
        self._stations = stations
        self._sites = sites.names if sites else ()

    def mission(self, table: PackTable) -> Mission:
        needs = tuple(self._need(inner) for inner in table.tables("need", "need"))
        self._check_needs(table, needs)
        distractors = table.texts("distractors")
        table.among("distractors", distractors, [category.name for category in self._categories])
        for name in distractors:
            if any(name == need.category for need in needs):
                table.report(f"{name!r} is asked for and cannot be a distractor")
        if self._labels.category in distractors and any(need.labelled for need in needs):
            table.report(f"it asks for labels: {self._labels.category!r} cannot be a distractor")
        per_station = table.text("per")
        if per_station and (self._stations is None or per_station != self._stations.category):
            allowed = self._stations.category if self._stations else "nothing, since there is no [stations]"
            table.report(f"'per' is {per_station!r}: it must be the category of [stations]. Allowed: {allowed}")
        mission = Mission(
            name=table.text("name"),
            code=table.text("code"),
            about=table.text("about"),
            needs=needs,
            focus=table.text("focus"),
            structure=table.texts("structure"),
            rules=table.texts("rules"),
            photo_rules=table.texts("photo_rules"),
            remarks=table.texts("remarks"),
            distractors=distractors,
            per_station=bool(per_station),
            pass_share=table.number("pass_share"),
            conventions=table.texts("conventions"),
        )
        if mission.code and not re.fullmatch("[A-Z]+", mission.code):
            table.report(f"'code' must be capital letters A to Z, not {mission.code!r}")
        if "/" in mission.name or mission.name.startswith("."):
            table.report("'name' is also the name of a folder: it must not hold '/' or begin with '.'")
        return mission

    def _check_needs(self, table: PackTable, needs: tuple[Need, ...]) -> None:
        _unique(table, "need", [need.id for need in needs])
        if len({need.category for need in needs}) > MOST_ASKED:
            table.report(f"it asks for more than {MOST_ASKED} categories")
        for need in needs:
            others = {other.category for other in needs if other is not need and other.category}
            if need.when is not None and need.when[0] not in others:
                allowed = ", ".join(sorted(others)) or "nothing"
                table.report(
                    f"need {need.id!r} depends on {need.when[0]!r}: another need must ask for it. Allowed: {allowed}"
                )

    def _need(self, table: PackTable) -> Need:
        good, known, sites = table.mapping("good"), table.text("known"), table.texts("sites")
        least = int(table.number("least"))
        category = _known_category(table, "category", self._categories) if table.given("category") else None
        if table.given("holds") == table.given("category"):
            table.report("it must have either a 'category' or a condition that 'holds'")
        if category is not None:
            self._check_asked(table, category, good, known)
            if least > category.most:
                table.report(f"'least' is {least}, but at most {category.most} of {category.name} stand together")
        elif good or known or table.flag("labelled") or least > 1:
            table.report("'good', 'known', 'least' and 'labelled' are about a 'category': name it")
        if sites and not self._sites:
            table.report("'sites' needs a table [sites] with their names")
        table.among("sites", sites, self._sites)
        reader = ConditionReader(self._categories, self._labels, self._sites)
        return Need(
            id=table.text("id"),
            text=table.text("text"),
            absent=table.text("absent"),
            broken=table.text("broken"),
            category=table.text("category"),
            good=good,
            known=known,
            when=_value(table, "when", self._categories),
            labelled=table.flag("labelled"),
            least=least,
            holds=reader.read(f"{table.place}, holds", table.raw("holds"), table.mistakes)
            if table.given("holds")
            else None,
            sites=sites,
        )

    def _check_asked(self, table: PackTable, category: ObjectCategory, good: dict[str, str], known: str) -> None:
        for name, value in good.items():
            attribute = category.attribute(name)
            if attribute is None or value not in attribute.values:
                known_names = attribute.values if attribute else [known.name for known in category.attributes]
                allowed = ", ".join(known_names) or "nothing"
                table.report(f"'good' says {name} = {value!r}, which {category.name} does not have. Allowed: {allowed}")
                return
        if known:
            table.among("known", [known], [attribute.name for attribute in category.attributes])
        values = [attribute.values for name in good if (attribute := category.attribute(name)) is not None]
        if good and not table.flag("labelled") and all(len(several) < 2 for several in values):
            table.report("'good' must name an attribute that has another value, or the need cannot fail")


def _value(table: PackTable, key: str, categories: Categories) -> tuple[str, str, str] | None:
    """A value of an attribute of a category, each of them known; None where it is not given."""
    if not table.given(key):
        return None
    inner = table.table(key, "value")
    category = _known_category(inner, "category", categories)
    attribute = _known_attribute(inner, "attribute", category) if category else None
    if attribute is not None:
        inner.among("value", [inner.text("value")], attribute.values)
    return inner.text("category"), inner.text("attribute"), inner.text("value")


def _prompts(table: PackTable) -> Prompts:
    prompts = Prompts(
        photo_role=table.text("photo_role"),
        photo_rules=table.texts("photo_rules"),
        photo_request=table.text("photo_request"),
        ticket_role=table.text("ticket_role"),
        ticket_rules=table.texts("ticket_rules"),
        ticket_request=table.text("ticket_request"),
    )
    _request(table, "photo_request", PHOTO_FIELDS)
    _request(table, "ticket_request", TICKET_FIELDS, optional=("context",))
    return prompts


def _request(table: PackTable, key: str, places: tuple[str, ...], optional: tuple[str, ...] = ()) -> None:
    """Each field must stand in it; braces around anything else than a word are plain text."""
    text = table.text(key)
    found = set(re.findall(r"\{(\w+)\}", text))
    odd = sorted((found - set(optional)) ^ set(places))
    if text and odd:
        allowed = ", ".join("{" + place + "}" for place in (*places, *optional))
        table.report(f"{key!r} must hold each of {allowed}, and nothing else in braces: see {', '.join(odd)}")


def _fields(table: PackTable, key: str, template: str, known: tuple[str, ...], needed: tuple[str, ...]) -> None:
    """A template that is filled in by `str.format`: only these fields, each plain."""
    allowed = ", ".join("{" + name + "}" for name in known)
    try:
        found = [
            (name, spec, change) for _, name, spec, change in string.Formatter().parse(template) if name is not None
        ]
    except ValueError as problem:
        table.report(f"{key!r} has the template {template!r}: {problem}. Allowed: {allowed}")
        return
    for name, spec, change in found:
        if name not in known or spec or change:
            table.report(f"{key!r} has the unknown field {{{name}}} in {template!r}. Allowed: {allowed}")
    if any(name not in [field for field, _, _ in found] for name in needed):
        table.report(f"{key!r} must hold {allowed}, not {template!r}")


def _rewards(table: PackTable) -> VerdictRewards:
    return VerdictRewards(**{name: table.number(name) for name in VerdictRewards.__dataclass_fields__})


def _known_category(table: PackTable, key: str, categories: Categories) -> ObjectCategory | None:
    name = table.text(key)
    found = next((category for category in categories if category.name == name), None)
    if found is None and name:
        known = [category.name for category in categories]
        table.report(f"{key!r} names the category {name!r}.{nearest(name, known)} Allowed: {', '.join(known)}")
    return found


def _known_attribute(table: PackTable, key: str, category: ObjectCategory) -> Attribute | None:
    name = table.text(key)
    found = category.attribute(name)
    if found is None and name:
        known = ", ".join(attribute.name for attribute in category.attributes)
        table.report(f"{category.name} has no attribute {name!r}. Allowed: {known or 'none'}")
    return found


def _unique(table: PackTable, what: str, names: list[str]) -> None:
    for name in sorted({name for name in names if name and names.count(name) > 1}):
        table.report(f"{what} {name!r} is given twice")
