"""Conditions on what a ticket shows: data that a pack, a planted convention and a mined rule are written in alike.

    { category = "BBU安装螺丝", least = 2 }                       two or more in one photo
    { category = "光纤", attribute = "保护措施", value = "有保护" }
    { any = [ { site = "室分" }, { not = { label = "BBU{n}-ODF{m}-光纤" } } ] }

`verdict.evidence` says whether one holds, and `sentence` says it in the language of a pack.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from whet.envs.groupqc.pack.schema import Pack


@dataclass(frozen=True, slots=True)
class Appearance:
    """At least `photos` photos show `least` objects of a category each, with that value where one is named.

    An attribute without a value: any value of it. `noted`: only photos that carry a note count.
    """

    category: str
    attribute: str = ""
    value: str = ""
    least: int = 1
    photos: int = 1
    noted: bool = False


@dataclass(frozen=True, slots=True)
class LabelFormat:
    """A readable label is written after this template, with its {zone}, {n} and {m} filled in."""

    template: str


@dataclass(frozen=True, slots=True)
class Location:
    """The ticket is of this kind of site."""

    site: str


@dataclass(frozen=True, slots=True)
class Period:
    """The ticket was handed in before this date, as in 2026-07-01."""

    before: str


@dataclass(frozen=True, slots=True)
class Conjunction:
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Disjunction:
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Negation:
    part: Condition


Condition = Appearance | LabelFormat | Location | Period | Conjunction | Disjunction | Negation


def as_data(condition: Condition) -> dict[str, Any]:
    """The condition as a pack file writes it; what has its default is left out."""
    match condition:
        case Appearance():
            given: dict[str, Any] = {"category": condition.category}
            given |= {name: getattr(condition, name) for name in ("attribute", "value") if getattr(condition, name)}
            given |= {name: getattr(condition, name) for name in ("least", "photos") if getattr(condition, name) > 1}
            return {**given, "noted": True} if condition.noted else given
        case LabelFormat(template):
            return {"label": template}
        case Location(site):
            return {"site": site}
        case Period(before):
            return {"before": before}
        case Conjunction(parts):
            return {"all": [as_data(part) for part in parts]}
        case Disjunction(parts):
            return {"any": [as_data(part) for part in parts]}
        case Negation(part):
            return {"not": as_data(part)}


def appearances(condition: Condition) -> tuple[Appearance, ...]:
    """Every appearance that a condition speaks of."""
    match condition:
        case Appearance():
            return (condition,)
        case Conjunction(parts) | Disjunction(parts):
            return tuple(found for part in parts for found in appearances(part))
        case Negation(part):
            return appearances(part)
    return ()


_WORDS = {
    "zh": {
        "least": "同一张图片里至少{n}个",
        "photos": "至少{n}张图片里的",
        "noted": "带备注的图片里的",
        "seen": "看到{what}",
        "of": "{attribute}为{value}的{category}",
        "known": "写明{attribute}的{category}",
        "label": "有按“{template}”书写的标签",
        "site": "站点类型为{site}",
        "before": "{before}之前提交",
        "all": "且",
        "any": "或",
        "not": "并非（{part}）",
        "if": "若{first}，则{rest}",
    },
    "en": {
        "least": "at least {n} in one photo of: ",
        "photos": "in at least {n} photos: ",
        "noted": "in a photo with a note: ",
        "seen": "{what} is seen",
        "of": "{category} with {attribute} {value}",
        "known": "{category} with its {attribute}",
        "label": "a label written as {template}",
        "site": "the site is {site}",
        "before": "handed in before {before}",
        "all": " and ",
        "any": " or ",
        "not": "not ({part})",
        "if": "if {first}, then {rest}",
    },
}


def sentence(pack: Pack, condition: Condition) -> str:
    """The condition in the pack's language, for reports."""
    words = _WORDS[pack.language]
    match condition:
        case Appearance():
            return words["seen"].format(what=_appearing(words, condition))
        case LabelFormat(template):
            return words["label"].format(template=template)
        case Location(site):
            return words["site"].format(site=site)
        case Period(before):
            return words["before"].format(before=before)
        case Conjunction(parts):
            return words["all"].join(sentence(pack, part) for part in parts)
        case Disjunction((Negation(first), second, *others)):
            rest = Disjunction((second, *others)) if others else second
            return words["if"].format(first=sentence(pack, first), rest=sentence(pack, rest))
        case Disjunction(parts):
            return words["any"].join(sentence(pack, part) for part in parts)
        case Negation(part):
            return words["not"].format(part=sentence(pack, part))


def _appearing(words: dict[str, str], condition: Appearance) -> str:
    what = condition.category
    if condition.attribute:
        form = words["of"] if condition.value else words["known"]
        what = form.format(category=condition.category, attribute=condition.attribute, value=condition.value)
    if condition.noted:
        what = words["noted"] + what
    if condition.least > 1:
        what = words["least"].format(n=condition.least) + what
    return words["photos"].format(n=condition.photos) + what if condition.photos > 1 else what
