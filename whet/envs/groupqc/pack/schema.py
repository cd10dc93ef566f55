"""A mission pack: everything that one domain of site inspections is about, from one TOML file.

Prompts, validation, aggregation, the generator, the drawn photos, rewards and seed rules all read the same pack, so a
new mission is an edit of one file. `whet.envs.groupqc.pack.file` reads it.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from whet.errors import WhetError, nearest

if TYPE_CHECKING:
    from whet.envs.groupqc.pack.condition import Condition

TicketVerdict = Literal["pass", "fail"]
"""What a ticket is called: by a reviewer (its label) or by a policy."""

VERDICTS: tuple[TicketVerdict, ...] = ("pass", "fail")

AttributeKind = Literal["state", "text", "pair", "number"]
"""What an attribute holds: one of its values, literal text, the number of a pair in the photo, a number read off."""

ConventionKind = Literal["count", "either_or", "visibility", "label_format", "note", "exception", "dropped"]
"""What an unwritten convention is about; `world.conventions` plants them."""


@dataclass(frozen=True, slots=True)
class Words:
    """The surface of a language: keys of a summary, words of a verdict, names of folders."""

    domain: str
    """The tag in the header of a model's answer: `<DOMAIN=BBU>, <TASK=SUMMARY>`."""
    statistics: str
    category: str
    notes: str
    groups: str
    irrelevant: str
    passed: str
    failed: str
    conclusion: str
    """What introduces the last part of a reason."""
    image_key: str
    """The key of a photo's summary: `图片_` or `image_`, followed by its number."""
    pass_folder: str
    fail_folder: str
    joiner: str
    """What stands between the parts of a plain-text summary."""

    def folder(self, label: TicketVerdict) -> str:
        return self.pass_folder if label == "pass" else self.fail_folder

    def verdict(self, verdict: TicketVerdict) -> str:
        return self.passed if verdict == "pass" else self.failed


@dataclass(frozen=True, slots=True)
class Attribute:
    """Something that can be observed of an object: one of `values`, or text, or a number.

    `marks` names the drawing that shows each value; an attribute without marks is in no drawing, and in generated
    summaries only where a need of the mission speaks of it. `only` makes it appear with a value of another attribute
    alone; `implied` fixes its value by another attribute's.
    """

    name: str
    kind: AttributeKind = "state"
    values: tuple[str, ...] = ()
    marks: Mapping[str, str] = field(default_factory=dict)
    weights: tuple[float, ...] = ()
    shown: float = 1.0
    only: tuple[str, str] | None = None
    implied: Mapping[tuple[str, str], str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class ObjectCategory:
    """A kind of object: how it is drawn (`look` in `tint`), what can be seen of it, how many stand together."""

    name: str
    look: str
    tint: str
    attributes: tuple[Attribute, ...] = ()
    most: int = 1

    def attribute(self, name: str) -> Attribute | None:
        return _attributes(self).get(name)


@dataclass(frozen=True, slots=True)
class Labels:
    """The category of readable labels: its attributes, and templates of what is written on one."""

    category: str
    text: str
    legibility: str
    illegible: str
    templates: tuple[str, ...]
    new_templates: tuple[str, ...]
    """The format that comes into use after a drift."""
    zones: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stations:
    """Photos that belong together by a number in their watermark: the category and attribute that hold it."""

    category: str
    attribute: str
    watermark: str
    """How the number is written on the photo; `{n}` stands for it."""
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Sites:
    """The kinds of site that a ticket may be of, and how a prompt calls the kind and the date it was handed in."""

    word: str
    date: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that must be shown. Every object of `category` must have the `good` values, and one must be seen.

    `least` of them must stand in one photo. With `holds` there is no category: that condition must hold. `sites`
    are the only kinds of site to which the need applies.
    `known` is an attribute that must have been observed, whatever its value. `when` makes the need apply only where an
    object has that value: (category, attribute, value). With `labelled`, a readable label must stand in the same
    photo, of the same pair where pairs are given. `text` says it, `absent` and `broken` say what is wrong.
    """

    id: str
    text: str
    absent: str
    broken: str
    category: str
    good: Mapping[str, str] = field(default_factory=dict)
    known: str = ""
    when: tuple[str, str, str] | None = None
    labelled: bool = False
    least: int = 1
    holds: Condition | None = None
    sites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Mission:
    """One inspection programme: what passes, and what a rule book for it starts from."""

    name: str
    code: str
    """Capital letters that stand in generated group ids."""
    about: str
    needs: tuple[Need, ...]
    focus: str
    """The checklist: rule G0."""
    structure: tuple[str, ...]
    """Rules that no learner may touch: S1, S2 and so on."""
    rules: tuple[str, ...]
    """Rules a learner starts from: G1, G2 and so on. They may be incomplete."""
    photo_rules: tuple[str, ...]
    """What Stage-A must know for this mission alone."""
    remarks: tuple[str, ...]
    """What a reviewer writes when he rejects for something that no summary can show."""
    distractors: tuple[str, ...]
    """Categories that stand in its photos without being asked about."""
    per_station: bool = False
    pass_share: float = 0.7
    conventions: tuple[str, ...] = ()
    """The kinds of unwritten convention that may be planted; without any, all that the pack has the objects for."""


@dataclass(frozen=True, slots=True)
class Prompts:
    """The fixed texts of both stages. Lists are joined by their readers; `{…}` are filled in by them."""

    photo_role: str
    photo_rules: tuple[str, ...]
    photo_request: str
    """Placeholders: {mission} {about} {categories} {format}."""
    ticket_role: str
    ticket_rules: tuple[str, ...]
    ticket_request: str
    """Placeholders: {mission} {focus} {structure} {rules} {count} {overview} {stations} {summaries}; {context} if
    wanted."""


@dataclass(frozen=True, slots=True)
class VerdictRewards:
    """What a verdict earns. A false release costs at least `false_release`, under every scheme; see `verdict.rewards`.

    `false_block` is a cost of the asymmetric reward alone.
    """

    label: float = 1.0
    format: float = 0.2
    grounded: float = 0.2
    false_release: float = 2.0
    false_block: float = 1.0


@dataclass(frozen=True, slots=True)
class ForeignObject:
    """An object of another domain that turns up in a summary: noise."""

    category: str
    states: Mapping[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Pack:
    """One domain: its words, objects, missions and texts. `digest` stands for the whole file."""

    name: str
    language: Literal["zh", "en"]
    title: str
    words: Words
    categories: tuple[ObjectCategory, ...]
    labels: Labels
    stations: Stations | None
    missions: tuple[Mission, ...]
    prompts: Prompts
    rewards: VerdictRewards
    notes: tuple[str, ...]
    foreign: tuple[ForeignObject, ...]
    brand: tuple[str, str, str] | None
    """(category, attribute, value) whose share grows in a drift."""
    digest: str
    sites: Sites | None = None

    def category(self, name: str) -> ObjectCategory | None:
        return _categories(self).get(name)

    def mission(self, name: str) -> Mission:
        """The mission of that name, or an error that names the nearest."""
        for mission in self.missions:
            if mission.name == name:
                return mission
        known = [mission.name for mission in self.missions]
        hint = nearest(name, known) or f" It has {', '.join(known)}."
        raise WhetError(f"pack {self.name!r} has no mission {name!r}.{hint}")


@functools.cache
def _attributes(category: ObjectCategory) -> dict[str, Attribute]:
    """By name; of two that have one the first, as it stands in the file."""
    return {attribute.name: attribute for attribute in reversed(category.attributes)}


@functools.cache
def _categories(pack: Pack) -> dict[str, ObjectCategory]:
    return {category.name: category for category in reversed(pack.categories)}


def as_verdict(text: str) -> TicketVerdict | None:
    """`pass` or `fail`, in any case; None for anything else."""
    lowered = text.strip().lower()
    return next((verdict for verdict in VERDICTS if verdict == lowered), None)
