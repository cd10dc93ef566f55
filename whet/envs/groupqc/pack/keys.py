"""Every key that a pack file may have: its type, what is allowed, its default and what it is for.

The parser reads a file by this table and `whet groupqc pack keys` prints it, so the reference cannot say anything else
than what is accepted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from whet.envs.groupqc.pack.schema import AttributeKind, ConventionKind

KeyType = Literal["text", "number", "flag", "texts", "mapping", "table", "tables", "condition", "conditions"]

REQUIRED: Any = None
"""The default of a key that must be given."""

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

CONVENTION_KINDS: tuple[ConventionKind, ...] = get_args(ConventionKind)

LABEL_FIELDS = ("zone", "n", "m")
PHOTO_FIELDS = ("mission", "about", "categories", "format")
TICKET_FIELDS = ("mission", "focus", "structure", "rules", "count", "overview", "stations", "summaries")


@dataclass(frozen=True, slots=True)
class PackKey:
    """One key. `least` and `most` bound a number, or `least` the entries of a list; `allowed` names the only values."""

    type: KeyType
    about: str
    default: Any = REQUIRED
    allowed: tuple[str, ...] = ()
    least: float = 0
    most: float = 1

    @property
    def needed(self) -> str:
        """What stands in the column of defaults."""
        if self.default is REQUIRED:
            return "required"
        return {"": "none", "[]": "none", "{}": "none", "False": "false"}.get(str(self.default), str(self.default))

    @property
    def takes(self) -> str:
        """What is allowed, in words."""
        if self.allowed:
            return "one of " + ", ".join(self.allowed) if self.type == "text" else "of " + ", ".join(self.allowed)
        match self.type:
            case "number":
                return f"a number from {self.least:g} to {self.most:g}"
            case "texts":
                return f"a list of {int(self.least)} or more texts" if self.least else "a list of texts"
            case "flag":
                return "true or false"
            case "mapping":
                return "a table from text to text"
            case "tables":
                return "one or more tables" if self.least else "tables"
            case "conditions":
                return "a list of conditions"
            case "condition" | "table":
                return f"a {self.type}"
        return "text"


@dataclass(frozen=True, slots=True)
class PackSection:
    """One kind of table: how it is headed in the file, and its keys."""

    heading: str
    about: str
    keys: Mapping[str, PackKey] = field(default_factory=dict)


def _text(about: str, default: str | None = REQUIRED, allowed: tuple[str, ...] = ()) -> PackKey:
    return PackKey("text", about, default, allowed)


def _texts(about: str, least: int = 0, allowed: tuple[str, ...] = ()) -> PackKey:
    return PackKey("texts", about, REQUIRED if least else [], allowed, least)


def _number(about: str, default: float | None, least: float = 0, most: float = 1) -> PackKey:
    return PackKey("number", about, default, (), least, most)


def _table(about: str, default: Any = REQUIRED) -> PackKey:
    return PackKey("table", about, default)


def _tables(about: str, least: int = 0) -> PackKey:
    return PackKey("tables", about, REQUIRED if least else [], (), least)


def _mapping(about: str) -> PackKey:
    return PackKey("mapping", about, {})


def _braced(fields: tuple[str, ...]) -> str:
    return " ".join("{" + name + "}" for name in fields)


_VALUE = {
    "category": _text("a category"),
    "attribute": _text("an attribute of it"),
    "value": _text("a value of that"),
}

SECTIONS: Mapping[str, PackSection] = {
    "pack": PackSection(
        "the file itself",
        "",
        {
            "schema": _number("the version of this format: 1", REQUIRED, 1, 1),
            "name": _text("how `--pack` calls it"),
            "language": _text("the language of verdicts", allowed=("zh", "en")),
            "title": _text("a heading for people"),
            "notes": _texts("what a photo's summary may note beside the objects"),
            "words": _table("see [words]"),
            "labels": _table("see [labels]"),
            "stations": _table("see [stations]", {}),
            "sites": _table("see [sites]", {}),
            "category": _tables("see [[category]]", 1),
            "mission": _tables("see [[mission]]", 1),
            "foreign": _tables("see [[foreign]]"),
            "prompts": _table("see [prompts]"),
            "rewards": _table("see [rewards]", {}),
            "drift_brand": _table("category, attribute and value whose share grows in a drift", {}),
        },
    ),
    "words": PackSection(
        "[words]",
        "The surface of the language.",
        {
            "domain": _text("the tag in the header of a model's answer"),
            "statistics": _text("key of a summary: the list of categories"),
            "category": _text("key of a summary: the name of a category"),
            "notes": _text("key of a summary: notes"),
            "groups": _text("key of a summary: objects of each pair"),
            "irrelevant": _text("the whole summary of a photo that is not of the site"),
            "passed": _text("the word for pass"),
            "failed": _text("the word for fail"),
            "conclusion": _text("what introduces the last part of a reason"),
            "image_key": _text("the key of a photo's summary, before its number"),
            "pass_folder": _text("the folder of approved groups"),
            "fail_folder": _text("the folder of rejected groups"),
            "joiner": _text("what stands between the parts of a plain-text summary"),
        },
    ),
    "labels": PackSection(
        "[labels]",
        "The category of readable labels.",
        {
            "category": _text("the category"),
            "text": _text("its attribute for what is written"),
            "legibility": _text("its attribute for whether it can be read"),
            "illegible": _text("the value of that for one that cannot"),
            "templates": _texts(f"what is written; fields {_braced(LABEL_FIELDS)}", 1),
            "new_templates": _texts("the format that comes into use in a drift; the same fields", 1),
            "zones": _texts("what {zone} may be", 1),
        },
    ),
    "stations": PackSection(
        "[stations]",
        "Photos that belong together by a number in their watermark.",
        {
            "category": _text("the category that holds the number"),
            "attribute": _text("its attribute"),
            "watermark": _text("how it is written on a photo; {n} stands for it"),
            "least": _number("the lowest number", REQUIRED, 0, 99_999),
            "most": _number("the highest number", REQUIRED, 0, 99_999),
        },
    ),
    "sites": PackSection(
        "[sites]",
        "Kinds of site. With this table a ticket has a kind of site and a date, and a prompt shows both at {context}.",
        {
            "word": _text("how a prompt calls the kind of site"),
            "date": _text("how a prompt calls the date it was handed in"),
            "names": _texts("the kinds", 2),
        },
    ),
    "category": PackSection(
        "[[category]]",
        "A kind of object.",
        {
            "name": _text("its name in summaries"),
            "look": _text("the shape it is drawn as", allowed=LOOKS),
            "tint": _text("its colour, as in #3a7fd5", "#808080"),
            "most": _number("how many may stand together", 1, 1, 6),
            "attribute": _tables("see [[category.attribute]]"),
        },
    ),
    "attribute": PackSection(
        "[[category.attribute]]",
        "Something that can be observed of an object.",
        {
            "name": _text("its key in summaries"),
            "kind": _text("what it holds", "state", get_args(AttributeKind)),
            "values": _texts("its values; a state needs at least one"),
            "marks": PackKey("mapping", "the drawing of each value; without, it is in no photo", {}, MARKS),
            "weights": _table("how often each value is drawn by the generator", {}),
            "shown": _number("how often it is seen at all", 1, 0, 1),
            "only": _mapping("another attribute and its value, without which this one does not appear"),
            "implied": _tables("see [[category.attribute.implied]]"),
        },
    ),
    "implied": PackSection(
        "[[category.attribute.implied]]",
        "A value that follows from another attribute.",
        {
            "attribute": _text("the other attribute"),
            "is": _text("its value"),
            "value": _text("what this one then is"),
        },
    ),
    "foreign": PackSection(
        "[[foreign]]",
        "An object of another trade that turns up as noise.",
        {"name": _text("its category"), "states": _mapping("attribute to value")},
    ),
    "mission": PackSection(
        "[[mission]]",
        "One inspection programme.",
        {
            "name": _text("its name, also of its folder: no '/', no '.' first"),
            "code": _text("capital letters A to Z for generated group ids"),
            "about": _text("what it is about, for Stage-A"),
            "focus": _text("the general needs, for Stage-B: rule G0"),
            "structure": _texts("rules that no learner may touch: S1, S2 …"),
            "rules": _texts("rules a learner starts from: G1, G2 …"),
            "photo_rules": _texts("what Stage-A must know for this mission alone"),
            "remarks": _texts("what a reviewer writes for something no summary shows", 1),
            "distractors": _texts("categories in its photos that nobody asks about", 1),
            "per": _text("the category of [stations], where it is judged station by station", ""),
            "pass_share": _number("how often a generated site passes", 0.7),
            "conventions": _texts("kinds of unwritten convention that may be planted", allowed=CONVENTION_KINDS),
            "need": _tables("see [[mission.need]]", 1),
        },
    ),
    "need": PackSection(
        "[[mission.need]]",
        "One thing that must be so: objects of a `category`, or a condition that `holds`. All needs must be met.",
        {
            "id": _text("its name in reports"),
            "text": _text("says it"),
            "absent": _text("says that it is not shown"),
            "broken": _text("says that it is shown and bad", "-"),
            "category": _text("the category that must be seen; leave it out with `holds`", ""),
            "good": _mapping("attribute to value: every object must have it; drawn in photos or not"),
            "known": _text("an attribute that must have been observed, whatever its value", ""),
            "least": _number("so many of them in one photo", 1, 1, 6),
            "labelled": PackKey("flag", "a readable label must stand beside it", False),
            "when": _table("category, attribute and value (a brand, say) with which alone the need applies", {}),
            "sites": _texts("the only kinds of site to which it applies"),
            "holds": PackKey("condition", "a condition instead of a category: or, not, counts, sites", {}),
        },
    ),
    "value": PackSection("a value (`when`, `drift_brand`)", "A value of an attribute of a category.", _VALUE),
    "condition": PackSection(
        "a condition (`holds`)",
        "One of: what is seen (`category` and the keys after it), `label`, `site`, `before`, `all`, `any`, `not`.",
        {
            "category": _text("objects of this category are seen", ""),
            "attribute": _text("with this attribute", ""),
            "value": _text("and this value of it", ""),
            "least": _number("so many in one photo", 1, 1, 99),
            "photos": _number("in so many photos", 1, 1, 38),
            "noted": PackKey("flag", "in a photo that carries a note", False),
            "label": _text(f"a readable label after this template; fields {_braced(LABEL_FIELDS)}", ""),
            "site": _text("the ticket is of this kind of site", ""),
            "before": _text("it was handed in before this date, as in 2026-07-01", ""),
            "all": PackKey("conditions", "all of these hold", []),
            "any": PackKey("conditions", "at least one of these holds", []),
            "not": PackKey("condition", "this does not hold", {}),
        },
    ),
    "prompts": PackSection(
        "[prompts]",
        "The fixed texts of both stages.",
        {
            "photo_role": _text("who Stage-A is"),
            "photo_rules": _texts("its rules", 1),
            "photo_request": _text(f"what it is asked; fields {_braced(PHOTO_FIELDS)}"),
            "ticket_role": _text("who Stage-B is"),
            "ticket_rules": _texts("its rules", 1),
            "ticket_request": _text(f"what it is asked; fields {_braced(TICKET_FIELDS)}, and {{context}} if wanted"),
        },
    ),
    "rewards": PackSection(
        "[rewards]",
        "What a verdict earns.",
        {
            "label": _number("for the right verdict", 1.0, 0, 100),
            "format": _number("for the two lines", 0.2, 0, 100),
            "grounded": _number("for a reason that the cited photos bear out", 0.2, 0, 100),
            "false_release": _number("the least cost of a false release", 2.0, 0, 100),
            "false_block": _number("the cost of a false block, in the asymmetric scheme", 1.0, 0, 100),
        },
    ),
}


def reference() -> Iterator[str]:
    """The keys as lines of Markdown."""
    yield "# Keys of a mission pack"
    yield ""
    yield "Written by `whet groupqc pack keys` from the table that the parser reads by. What packs are for is told in"
    yield "[groupqc.md](groupqc.md); `whet groupqc pack check FILE` says what is wrong with one."
    for section in SECTIONS.values():
        yield ""
        yield f"## {section.heading}"
        yield ""
        if section.about:
            yield section.about
            yield ""
        yield "| key | takes | default | what it is |"
        yield "|---|---|---|---|"
        for name, key in section.keys.items():
            yield f"| `{name}` | {key.takes} | {key.needed} | {key.about} |"
