"""Rules on tickets: what must be shown, and what may be let pass, as sentences of the pack and conditions that run.

A rule *requires* a condition on top of the needs and fails a ticket that has a station without it, or *waives* a need
that is not met where its condition holds. As data:

    {"effect": "require", "condition": {"any": [{"not": {"site": "office"}}, {"category": "corridor", "photos": 2}]}}
    {"effect": "waive", "need": "sign", "status": "absent", "condition": {"category": "fire door"}}
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from whet.envs.groupqc.pack.condition import (
    Appearance,
    Condition,
    Disjunction,
    LabelFormat,
    Location,
    Negation,
    Period,
    as_data,
    sentence,
)
from whet.envs.groupqc.pack.conditions import ConditionReader
from whet.envs.groupqc.pack.schema import Mission, Need, ObjectCategory, Pack
from whet.envs.groupqc.records import NeedStatus
from whet.envs.groupqc.summaries.counts import read_summary
from whet.envs.groupqc.verdict.conventions import Convention, judge_with
from whet.envs.groupqc.verdict.evidence import TicketEvidence, holds
from whet.envs.groupqc.verdict.rules import NeedFinding, asked_categories, need_finding, stations
from whet.envs.language import Feature, Predicate, RulePlace, WrittenRule
from whet.types import Task

SITE, DATE, LACK, SIGHT = "site", "date", "lack", "sight"
"""Sorts of features: where and when a requirement holds, what is lacking; what lets a fault pass."""

DATES = 48
"""Days between which a requirement may have been dropped, at most: spread evenly over those of the tickets."""

_SAID = {
    "zh": {
        "require": "{guard}须满足：{condition}，否则判不通过。",
        "forbid": "{guard}{condition}的，判不通过。",
        "guard": "{guards}的工单",
        "and": "且",
        "waive": "{condition}时，不因“{fault}”判不通过。",
    },
    "en": {
        "require": "{guard}fail unless {condition}.",
        "forbid": "{guard}fail where {condition}.",
        "guard": "If {guards}, ",
        "and": " and ",
        "waive": "Where {condition}, do not fail the ticket because {fault}.",
    },
}


@dataclass(frozen=True, slots=True)
class _TicketView:
    """What a ticket shows, station by station, and how the needs stand there."""

    cases: tuple[tuple[TicketEvidence, tuple[NeedFinding, ...]], ...]

    @property
    def passes(self) -> bool:
        return not any(True for _ in self._wrong())

    def lacks(self, condition: Condition) -> bool:
        """Whether a station is without it."""
        return not all(holds(condition, evidence) for evidence, _ in self.cases)

    def only(self, need: Need, status: NeedStatus) -> bool:
        """Whether the ticket fails for this alone."""
        wrong = {(finding.need.id, finding.status) for finding in self._wrong()}
        return wrong == {(need.id, status)}

    def shows_where_wrong(self, condition: Condition) -> bool:
        """Whether it holds at every station that has a fault."""
        return all(holds(condition, evidence) for evidence, findings in self.cases if any(map(_is_wrong, findings)))

    def _wrong(self) -> Iterator[NeedFinding]:
        return (finding for _, findings in self.cases for finding in findings if _is_wrong(finding))


def _is_wrong(finding: NeedFinding) -> bool:
    return finding.status in ("defect", "absent")


class TicketLanguage:
    """Rules for the tickets of one mission."""

    def __init__(self, pack: Pack, mission: Mission) -> None:
        self.pack = pack
        self.mission = mission
        self._views: dict[tuple[Any, ...], _TicketView] = {}
        self._reader = ConditionReader(pack.categories, pack.labels, pack.sites.names if pack.sites else ())
        self._told: dict[str, Convention] = {}
        self._opened: tuple[tuple[int, ...], tuple[RulePlace, ...]] | None = None
        """The tickets that were looked at last, and what was found: a search asks again and again about the same."""

    # ------------------------------------------------------------------------------------------- running

    def says(self, predicate: Predicate, task: Task) -> str | None:
        rule, view = self.convention(predicate), self._view(task)
        if rule.effect == "require":
            return "fail" if view.lacks(rule.condition) else None
        need = next(known for known in self.mission.needs if known.id == rule.need)
        lets = view.only(need, rule.status) and view.shows_where_wrong(rule.condition)
        return "pass" if lets else None

    def unruled(self, task: Task) -> str | None:
        return "pass" if self._view(task).passes else "fail"

    def convention(self, predicate: Predicate, name: str = "") -> Convention:
        """The habit that a predicate describes."""
        key = repr(predicate)
        known = self._told.get(key)
        if known is None:
            known = self._told[key] = self._read(predicate, name or f"R{len(self._told) + 1}")
        return known

    def judged(self, predicates: Sequence[Predicate], task: Task) -> str:
        """What the needs say of a ticket together with these rules."""
        rules = tuple(dict.fromkeys(self.convention(predicate) for predicate in predicates))
        readings = [read_summary(self.pack, text) for text in task.data["summaries"]]
        told = (task.data.get("site", ""), task.data.get("submitted", ""))
        return judge_with(self.pack, self.mission, rules, readings, *told).verdict

    def _read(self, predicate: Predicate, name: str) -> Convention:
        mistakes: list[str] = []
        condition = self._reader.read("rule", predicate.get("condition"), mistakes)
        effect, need, status = (predicate.get(key, "") for key in ("effect", "need", "status"))
        needs = [known.id for known in self.mission.needs]
        if effect not in ("require", "waive") or (effect == "waive" and (need not in needs or status not in _FAULTS)):
            mistakes.append(f"a rule requires a condition, or waives the status of a need, not {dict(predicate)!r}")
        if mistakes:
            raise ValueError(mistakes[0])
        return Convention(name, "either_or", effect, condition, "", 0.0, need, status or "absent")

    # ------------------------------------------------------------------------------------------- writing

    def write(self, opening: RulePlace, features: Sequence[Feature]) -> WrittenRule:
        words = _SAID[self.pack.language]
        named: list[Condition] = [feature.what for feature in features]
        if opening.kind == "waive":
            need, status = opening.what
            condition = named[0] if len(named) == 1 else Disjunction(tuple(named))
            fault = need.absent if status == "absent" else need.broken
            text = words["waive"].format(condition=sentence(self.pack, condition), fault=fault)
            data = {"effect": "waive", "need": need.id, "status": status, "condition": as_data(condition)}
            return WrittenRule(_capital(text), data)
        guards = [what for feature, what in zip(features, named, strict=True) if feature.sort != LACK]
        wanted = [what for feature, what in zip(features, named, strict=True) if feature.sort == LACK]
        needed = wanted[0] if len(wanted) == 1 else Disjunction(tuple(wanted))
        parts = (*(Negation(guard) for guard in guards), *(wanted if guards else ()))
        condition = Disjunction(parts) if guards else needed
        told = words["and"].join(sentence(self.pack, guard) for guard in guards)
        guard = words["guard"].format(guards=told) if guards else ""
        form, said = ("forbid", needed.part) if isinstance(needed, Negation) else ("require", needed)
        text = words[form].format(guard=guard, condition=sentence(self.pack, said))
        return WrittenRule(_capital(text), {"effect": "require", "condition": as_data(condition)})

    # ------------------------------------------------------------------------------------------- what there is

    def openings(self, tasks: Sequence[Task]) -> tuple[RulePlace, ...]:
        views = tuple(self._view(task) for task in tasks)
        if self._opened is not None and self._opened[0] == tuple(map(id, views)):
            return self._opened[1]
        found = self._found(tasks, views)
        self._opened = (tuple(map(id, views)), found)
        return found

    def _found(self, tasks: Sequence[Task], views: Sequence[_TicketView]) -> tuple[RulePlace, ...]:
        every = (1 << len(tasks)) - 1
        lacks = tuple(
            Feature(LACK, fires, condition)
            for condition in self._wanted
            if 0 < (fires := _bits(view.lacks(condition) for view in views)) < every
        )
        limits = {SITE: 1, DATE: 1, LACK: 2}
        required = RulePlace("require", "fail", every, "all", (*self._guards(tasks), *lacks), limits, LACK)
        return (required, *self._waivers(views))

    def _waivers(self, views: Sequence[_TicketView]) -> Iterator[RulePlace]:
        for need in self.mission.needs:
            for status in _FAULTS:
                applies = _bits(view.only(need, status) for view in views)
                if not applies:
                    continue
                seen = tuple(
                    Feature(SIGHT, fires, condition)
                    for condition in self._reliefs
                    if (fires := applies & _bits(view.shows_where_wrong(condition) for view in views))
                )
                yield RulePlace("waive", "pass", applies, "any", seen, {SIGHT: 2}, SIGHT, (need, status), yields=True)

    def _guards(self, tasks: Sequence[Task]) -> Iterator[Feature]:
        for name in self.pack.sites.names if self.pack.sites else ():
            yield Feature(SITE, _bits(task.data.get("site", "") == name for task in tasks), Location(name))
        days = sorted({task.data["submitted"] for task in tasks if task.data.get("submitted")})
        step = max(1, len(days) // DATES)
        for day in days[step::step]:
            earlier = (bool(date := task.data.get("submitted", "")) and date < day for task in tasks)
            yield Feature(DATE, _bits(earlier), Period(day))

    @functools.cached_property
    def _wanted(self) -> tuple[Condition, ...]:
        """What a requirement may ask for: counts, values, the absence of a value or a note, how a label is written."""
        found: list[Condition] = []
        for category in self._shown:
            found += [Appearance(category.name), Appearance(category.name, photos=2)]
            found += [Appearance(category.name, least=2)] if category.most > 1 else []
            for seen in _values(category):
                found += [seen, Negation(seen)]
            if self.pack.notes:
                found.append(Negation(Appearance(category.name, noted=True)))
        none = Negation(Appearance(self.pack.labels.category, self.pack.labels.text))
        for template in self._templates:
            found += [LabelFormat(template), Disjunction((none, LabelFormat(template)))]
        return tuple(found)

    @functools.cached_property
    def _reliefs(self) -> tuple[Condition, ...]:
        """What may let a fault pass: a kind of site, something else that is seen."""
        sites = self.pack.sites.names if self.pack.sites else ()
        found: list[Condition] = [Location(name) for name in sites]
        for category in self._shown:
            found += [Appearance(category.name), *_values(category)]
        return (*found, *map(LabelFormat, self._templates))

    @property
    def _templates(self) -> tuple[str, ...]:
        return (*self.pack.labels.templates, *self.pack.labels.new_templates)

    @property
    def _shown(self) -> list[ObjectCategory]:
        """The categories that photos of this mission show, labels and stations apart."""
        names = asked_categories(self.mission) | set(self.mission.distractors)
        apart = {self.pack.labels.category, self.pack.stations.category if self.pack.stations else ""}
        return [category for category in self.pack.categories if category.name in names - apart]

    def _view(self, task: Task) -> _TicketView:
        site, date = task.data.get("site", ""), task.data.get("submitted", "")
        key = (*task.data["summaries"], site, date)
        known = self._views.get(key)
        if known is None:
            readings = [read_summary(self.pack, text) for text in task.data["summaries"]]
            cases = []
            for station, photos in stations(self.pack, self.mission, readings).items():
                evidence = TicketEvidence(self.pack, photos, site, date)
                findings = tuple(need_finding(need, station, evidence) for need in self.mission.needs)
                cases.append((evidence, findings))
            known = self._views[key] = _TicketView(tuple(cases))
        return known


_FAULTS: tuple[NeedStatus, ...] = ("absent", "defect")


def _values(category: ObjectCategory) -> list[Appearance]:
    """The category with each of its values."""
    return [
        Appearance(category.name, attribute.name, value)
        for attribute in category.attributes
        if attribute.kind == "state" and len(attribute.values) > 1
        for value in attribute.values
    ]


def _bits(flags: Iterator[bool]) -> int:
    """Bit n is set where flag n is true."""
    return sum(1 << place for place, flag in enumerate(flags) if flag)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
