"""Conditions of a pack file, read from their inline tables."""

from __future__ import annotations

import datetime
from typing import Any

from whet.envs.groupqc.pack.condition import (
    Appearance,
    Condition,
    Conjunction,
    Disjunction,
    LabelFormat,
    Location,
    Negation,
    Period,
)
from whet.envs.groupqc.pack.schema import Labels, ObjectCategory
from whet.envs.groupqc.pack.table import PackTable

FORMS = ("category", "label", "site", "before", "all", "any", "not")
"""A condition has exactly one of these keys."""


class ConditionReader:
    """Reads conditions on the objects of one pack. A mistake is reported, and a condition that never holds returned."""

    def __init__(self, categories: tuple[ObjectCategory, ...], labels: Labels, sites: tuple[str, ...]) -> None:
        self._categories = {category.name: category for category in categories}
        self._labels = labels
        self._sites = sites

    def read(self, place: str, values: Any, mistakes: list[str]) -> Condition:
        table = PackTable("condition", place, values, mistakes)
        forms = [form for form in FORMS if table.given(form)]
        if len(forms) != 1:
            said = " and ".join(forms) or "none"
            table.report(f"a condition has exactly one of {', '.join(FORMS)}; this one has {said}")
            return Disjunction(())
        match forms[0]:
            case "category":
                return self._appearance(table)
            case "label":
                table.among("label", [table.text("label")], (*self._labels.templates, *self._labels.new_templates))
                return LabelFormat(table.text("label"))
            case "site":
                if not self._sites:
                    table.report("'site' needs a table [sites] with their names")
                table.among("site", [table.text("site")], self._sites)
                return Location(table.text("site"))
            case "before":
                return self._period(table)
            case "not":
                return Negation(self.read(f"{place}, not", table.raw("not"), mistakes))
        return self._joined(table, forms[0])

    def _joined(self, table: PackTable, form: str) -> Condition:
        listed = table.raw(form)
        if not isinstance(listed, list) or not listed:
            table.report(f"{form!r} must be a list of one or more conditions, not {listed!r}")
            return Disjunction(())
        parts = tuple(
            self.read(f"{table.place}, {form} {number}", inner, table.mistakes)
            for number, inner in enumerate(listed, start=1)
        )
        return Conjunction(parts) if form == "all" else Disjunction(parts)

    def _period(self, table: PackTable) -> Condition:
        before = table.text("before")
        try:
            datetime.date.fromisoformat(before)
        except ValueError:
            table.report(f"'before' must be a date such as 2026-07-01, not {before!r}")
        return Period(before)

    def _appearance(self, table: PackTable) -> Condition:
        name, attribute, value = table.text("category"), table.text("attribute"), table.text("value")
        category = self._categories.get(name)
        table.among("category", [name], self._categories)
        if value and not attribute:
            table.report("'value' is a value of an 'attribute': name it")
        if category is not None and attribute:
            table.among("attribute", [attribute], [known.name for known in category.attributes])
            known = category.attribute(attribute)
            if known is not None and value:
                table.among("value", [value], known.values)
        return Appearance(
            name, attribute, value, int(table.number("least")), int(table.number("photos")), table.flag("noted")
        )
