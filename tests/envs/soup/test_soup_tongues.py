"""Languages: what they write for a value, and that every one is read back by the oracle of its archetype."""

from __future__ import annotations

from datetime import date

import pytest
from envs.soup.extractors import extracted, small

from whet.envs.soup.archetypes import kinds
from whet.envs.soup.kinds import agree
from whet.envs.soup.site import HALVES
from whet.envs.soup.tongues import BILLS, FLATS, GOODS, ORDERS, Tongue
from whet.envs.soup.topics import FLAT, INVOICE, ORDER, PRODUCT
from whet.envs.soup.traits import SpellingHabit, Trait

FIRST = SpellingHabit("€", "EUR", 0, 0, 0, 0)
SECOND = SpellingHabit("€", "EUR", 0, 1, 1, 0)
DAY = date(2021, 3, 4)


def of(tongues: dict[str, tuple[Tongue, ...]], code: str) -> Tongue:
    return next(tongue for half in HALVES for tongue in tongues[half] if tongue.code == code)


@pytest.mark.parametrize(
    ("tongue", "trait", "value", "spelled", "shown"),
    [
        (of(ORDERS, "de"), ORDER["total"], 123456, FIRST, "1.234,56&nbsp;€"),
        (of(ORDERS, "fr"), ORDER["total"], 123456, FIRST, "1\u202f234,56&nbsp;€"),
        (of(ORDERS, "es"), ORDER["placed"], DAY, FIRST, "4 de marzo de 2021"),
        (of(GOODS, "cs"), PRODUCT["reviews"], 1089, FIRST, "1\u00a0089"),
        (of(GOODS, "pt"), PRODUCT["rating"], 4.5, FIRST, "4,5"),
        (of(BILLS, "ar"), INVOICE["net"], 123450, FIRST, "١٬٢٣٤٫٥٠\u00a0ج.م"),
        (of(BILLS, "ar"), INVOICE["due"], DAY, FIRST, "٤ مارس ٢٠٢١"),
        (of(BILLS, "fa"), INVOICE["due"], DAY, FIRST, "۴ مارس ۲۰۲۱"),
        (of(BILLS, "he"), INVOICE["net"], 123450, FIRST, "\u200f1,234.50\u00a0₪"),
        (of(FLATS, "ja"), FLAT["rent"], 8_500_000, FIRST, "85,000円"),
        (of(FLATS, "ja"), FLAT["rent"], 8_500_000, SECOND, "８５，０００円"),
        (of(FLATS, "ja"), FLAT["free"], DAY, SECOND, "令和３年３月４日"),
        (of(FLATS, "ja"), FLAT["free"], date(2018, 3, 4), SECOND, "平成３０年３月４日"),
        (of(FLATS, "zh"), FLAT["free"], DAY, FIRST, "2021年3月4日"),
        (of(FLATS, "ko"), FLAT["free"], DAY, FIRST, "2021년 3월 4일"),
    ],
)
def test_a_value_is_written_as_the_language_writes_it(
    tongue: Tongue, trait: Trait, value: object, spelled: SpellingHabit, shown: str
) -> None:
    assert tongue.show(trait, value, spelled) == shown


def test_no_language_belongs_to_both_halves() -> None:
    for tongues in (ORDERS, GOODS, BILLS, FLATS):
        train, bench = ({tongue.code for tongue in tongues[half]} for half in HALVES)
        assert train & bench == set()
        for half in HALVES:
            for tongue in tongues[half]:
                assert len({label.casefold() for label in tongue.labels.values()}) == len(tongue.labels)
                assert len(set(tongue.months)) == len(tongue.months)


@pytest.mark.parametrize("name", ["foreign_order", "right_to_left", "east_asian", "decimal_commas"])
def test_every_language_is_read_back(name: str) -> None:
    spoken = set()
    for split in ("train", "test"):
        for ordinal in range(12):
            drawn = small(kinds()[f"i18n.{name}"], split, ordinal)  # type: ignore[arg-type]
            page, draft = drawn.page(1)
            spoken.update(part.partition('lang="')[2][:2] for part in draft.parts if 'lang="' in part)
            assert agree(drawn.plan.form, extracted(drawn.plan.program, page, "lxml"), drawn.truths[1]), drawn.query
    every = {"foreign_order": ORDERS, "right_to_left": BILLS, "east_asian": FLATS, "decimal_commas": GOODS}[name]
    assert spoken == {tongue.code for half in HALVES for tongue in every[half]}
