"""Which unwritten conventions the reviewers of a mission have: planted from a seed, the same in every split.

Each mission gets up to five: a count, something that may stand in for what is missing, a matter of visibility, label
format or notes, an exception by site or brand, and one that was dropped in the course of the year. Together they decide
about a third of the tickets against the checklist.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from whet.envs.groupqc.pack.condition import (
    Appearance,
    Condition,
    Disjunction,
    LabelFormat,
    Location,
    Negation,
    Period,
    appearances,
    sentence,
)
from whet.envs.groupqc.pack.keys import CONVENTION_KINDS
from whet.envs.groupqc.pack.schema import ConventionKind, Mission, Need, ObjectCategory, Pack
from whet.envs.groupqc.records import NeedStatus
from whet.envs.groupqc.verdict.conventions import Convention
from whet.envs.groupqc.world.style import NOTHING, bare
from whet.keys import seed_for

REQUIRED_SHARE = 0.21
WAIVED_SHARE = 0.14
"""The shares of tickets that requirements and waivers decide, evenly among those of a mission."""

FIRST_DROP, LAST_DROP = datetime.date(2026, 6, 1), datetime.date(2026, 9, 1)

_SAID = {
    "zh": {"require": "{condition}，否则判不通过", "waive": "{condition}时，不追究“{fault}”"},
    "en": {"require": "it fails unless {condition}", "waive": "where {condition}, '{fault}' is let pass"},
}


@dataclass(frozen=True, slots=True)
class _Habit:
    """A convention before it has a number, a sentence and a share."""

    kind: ConventionKind
    condition: Condition
    need: Need | None = None
    status: NeedStatus = "absent"


def draw_conventions(pack: Pack, mission: Mission, seed: int) -> tuple[Convention, ...]:
    """The conventions of a mission in the world `seed`."""
    rng = random.Random(seed_for("groupqc", "conventions", pack.name, mission.code, seed))
    habits: list[_Habit] = []
    sites = rng.sample(pack.sites.names, 2) if pack.sites else []
    for several in (_counts, _stand_ins, _looks, _exceptions):
        found = [habit for habit in several(pack, mission) if _fits(mission, habit, habits)]
        habits += [_drawn(rng, found)] if found else []
    habits = [_local(habit, sites) if habit.need is None else habit for habit in habits]
    lasting = [habit for several in (_counts, _looks, _surroundings) for habit in several(pack, mission)]
    found = [habit for habit in lasting if _fits(mission, habit, habits)]
    if found and pack.sites is not None and "dropped" in (mission.conventions or CONVENTION_KINDS):
        habits.append(_dropped(rng, _drawn(rng, found)))
    return tuple(_numbered(pack, habits))


def _drawn(rng: random.Random, habits: Sequence[_Habit]) -> _Habit:
    """A kind first, then one of its habits: a pack with many brands does not make every exception one of a brand."""
    kinds = sorted({habit.kind for habit in habits})
    kind = rng.choice(kinds)
    return rng.choice([habit for habit in habits if habit.kind == kind])


def _fits(mission: Mission, habit: _Habit, others: Sequence[_Habit]) -> bool:
    """Whether the mission may have it beside those it has, so that each can decide on its own."""
    allowed = mission.conventions or CONVENTION_KINDS
    return habit.kind in allowed and not any(_clash(mission, habit, other) for other in others)


def _clash(mission: Mission, habit: _Habit, other: _Habit) -> bool:
    """The same condition, the same thing waived, or a requirement that what is waived would break."""
    if bare(habit.condition) == bare(other.condition) != NOTHING or habit.kind == other.kind == "label_format":
        return True
    if habit.need and other.need:
        return (habit.need.id, habit.status) == (other.need.id, other.status)
    for waiver, requirement in ((habit, other), (other, habit)):
        need = waiver.need
        if need is None or requirement.need is not None:
            continue
        vanishes = waiver.status == "absent" and [known.category for known in mission.needs].count(need.category) == 1
        asked = {seen.category for seen in appearances(requirement.condition)}
        if (vanishes and need.category in asked) or (need.labelled and requirement.kind == "label_format"):
            return True
    return False


def _numbered(pack: Pack, habits: Sequence[_Habit]) -> list[Convention]:
    waivers = sum(habit.need is not None for habit in habits)
    made = []
    for number, habit in enumerate(habits, start=1):
        effect, need = ("waive", habit.need) if habit.need else ("require", None)
        fault = "" if need is None else need.absent if habit.status == "absent" else need.broken
        text = _SAID[pack.language][effect].format(condition=sentence(pack, habit.condition), fault=fault)
        share = WAIVED_SHARE / waivers if need else REQUIRED_SHARE / (len(habits) - waivers)
        made.append(
            Convention(
                f"C{number}",
                habit.kind,
                "waive" if need else "require",
                habit.condition,
                text,
                share,
                need.id if need else "",
                habit.status,
            )
        )
    return made


# --------------------------------------------------------------------------------------------- what a pack offers


def _asked(pack: Pack, mission: Mission) -> list[tuple[ObjectCategory, bool]]:
    """The categories of needs that apply everywhere, and whether one must be labelled."""
    names = dict.fromkeys(need.category for need in mission.needs if need.category and not need.when and not need.sites)
    labelled = {need.category for need in mission.needs if need.labelled}
    found = [(pack.category(name), name in labelled) for name in names]
    return [(category, paired) for category, paired in found if category is not None]


def _counts(pack: Pack, mission: Mission) -> list[_Habit]:
    """Two of something in one photo, or two photos of it."""
    habits = []
    for category, labelled in _asked(pack, mission):
        if category.most > 1 and not labelled:
            habits.append(_Habit("count", Appearance(category.name, least=2)))
        habits.append(_Habit("count", Appearance(category.name, photos=2)))
    return habits


def _looks(pack: Pack, mission: Mission) -> list[_Habit]:
    """What must be seen whole, how a label is written, photos with a note; else something from the surroundings."""
    habits = []
    for category, _ in _asked(pack, mission):
        for attribute in category.attributes:
            whole = [value for value, mark in attribute.marks.items() if mark == "whole"]
            if whole and len(attribute.values) > 1 and not _decides(mission, category.name, attribute.name):
                habits.append(_Habit("visibility", Appearance(category.name, attribute.name, whole[0])))
        if pack.notes:
            habits.append(_Habit("note", Negation(Appearance(category.name, noted=True))))
    labels = pack.labels
    if any(need.labelled for need in mission.needs):
        habits += [_Habit("label_format", LabelFormat(template)) for template in labels.templates]
    elif labels.category in mission.distractors:
        none = Negation(Appearance(labels.category, labels.text))
        habits += [_Habit("label_format", Disjunction((none, LabelFormat(template)))) for template in labels.templates]
    return habits or _alternatives(pack, mission)


def _alternatives(pack: Pack, mission: Mission) -> list[_Habit]:
    """One of two things around it must be seen."""
    around = _around(pack, mission)
    return [
        _Habit("either_or", Disjunction((first, second)))
        for place, first in enumerate(around)
        for second in around[place + 1 :]
        if first.category != second.category
    ]


def _surroundings(pack: Pack, mission: Mission) -> list[_Habit]:
    """One of two things around it, or one of them alone."""
    alone = [_Habit("either_or", appearance) for appearance in _around(pack, mission)]
    return _alternatives(pack, mission) + alone


def _stand_ins(pack: Pack, mission: Mission) -> list[_Habit]:
    """Something that is not shown does not matter where one of two other things is."""
    around: list[Condition] = list(_around(pack, mission))
    if pack.labels.category in mission.distractors:
        around += [LabelFormat(template) for template in pack.labels.templates[:2]]
    shared = [need.category for need in mission.needs]
    missing = [
        need
        for need in mission.needs
        if need.category and (shared.count(need.category) == 1 or (need.good and not need.labelled))
    ]
    return [
        _Habit("either_or", Disjunction((first, second)), need, "absent")
        for need in missing
        for place, first in enumerate(around)
        for second in around[place + 1 :]
        if _about(first) != _about(second)
    ]


def _about(condition: Condition) -> str:
    return condition.category if isinstance(condition, Appearance) else ""


def _exceptions(pack: Pack, mission: Mission) -> list[_Habit]:
    """A fault that is let pass at some sites, or with some make of equipment."""
    broken = [need for need in mission.needs if need.category and (need.good or need.labelled)]
    where: list[Condition] = [Location(name) for name in pack.sites.names] if pack.sites else []
    where += [
        Appearance(category.name, attribute.name, value)
        for category in pack.categories
        if category.name in mission.distractors or category.name in {need.category for need in mission.needs}
        for attribute in category.attributes
        if "badge" in attribute.marks.values() or (pack.brand or ("", "", ""))[:2] == (category.name, attribute.name)
        for value in attribute.values
        if not any(other == attribute.name for later in category.attributes for other, _ in later.implied)
    ]
    return [_Habit("exception", condition, need, "defect") for need in broken for condition in where]


def _local(habit: _Habit, sites: list[str]) -> _Habit:
    """A requirement that holds at one kind of site alone: the next of `sites`."""
    if not sites:
        return habit
    return replace(habit, condition=Disjunction((Negation(Location(sites.pop())), habit.condition)))


def _dropped(rng: random.Random, habit: _Habit) -> _Habit:
    """A requirement that stood until a day in summer."""
    day = FIRST_DROP + datetime.timedelta(days=rng.randrange((LAST_DROP - FIRST_DROP).days))
    return _Habit("dropped", Disjunction((Negation(Period(day.isoformat())), habit.condition)))


def _around(pack: Pack, mission: Mission) -> list[Appearance]:
    """What may stand in the photos without being asked about, as it should be: with the first of its values."""
    found = []
    for name in mission.distractors:
        category = pack.category(name)
        if category is None or name == pack.labels.category:
            continue
        values = [
            Appearance(name, attribute.name, attribute.values[0])
            for attribute in category.attributes
            if attribute.marks and len(attribute.values) > 1 and attribute.only is None and not attribute.implied
        ]
        found += values or [Appearance(name)]
    return found


def _decides(mission: Mission, category: str, attribute: str) -> bool:
    """Whether a need is already about this attribute."""
    return any(
        (need.category == category and (attribute in need.good or need.known == attribute))
        or (need.when is not None and need.when[:2] == (category, attribute))
        for need in mission.needs
    )
