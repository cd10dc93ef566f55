"""What is dealt: modes, difficulties, weights, exact sizes, and prefixes that are samples."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from envs.soup1.first_soups import soup
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.envs.soup1.archetypes import FAMILIES, archetypes
from whet.envs.soup1.deck import ArchetypeChoice
from whet.errors import WhetError

CATALOGUE = {
    "primer": "extract_by_id extract_by_class extract_by_tag extract_attribute count_elements",
    "core": "extract_text_by_id extract_text_by_class extract_attribute extract_links extract_images",
    "traversal": "direct_children descendants_filter remove_scripts_styles",
    "tables": "table_list_of_lists table_list_of_dicts table_column_by_header table_rowspan",
    "gotchas": "string_returns_none none_attribute_error class_reserved_word multivalue_class navigablestring_parent "
    "whitespace_sibling",
    "forms": "form_field_enumeration select_options form_action_method label_input_mapping credential_detection "
    "honeypot_detection",
    "jsonld": "json_ld_extraction json_ld_array",
    "advanced": "deep_nesting_extraction semantic_ambiguity attribute_selector css_combinator partial_data_extraction "
    "list_extraction sibling_navigation parser_differences",
    "hard": "relational_query multi_hop_filter aggregation_min_max structured_output count_elements "
    "semantic_decoy_extreme extract_svg_geometry",
    "multipage": "search_then_detail pagination_aggregate link_chain compare_products",
    "i18n": "extract_multilingual extract_rtl extract_emoji_content",
    "limit": "limit_js_required limit_image_text limit_canvas_text limit_pdf_embed",
}


def test_all_57_archetypes_are_there() -> None:
    assert tuple(CATALOGUE) == FAMILIES
    assert set(archetypes()) == {f"{family}.{name}" for family, names in CATALOGUE.items() for name in names.split()}
    assert Counter(one.difficulty for one in archetypes().values()) == {
        "primer": 5,
        "easy": 10,
        "medium": 24,
        "hard": 18,
    }
    assert Counter(one.phase for one in archetypes().values()) == {1: 33, 2: 24}


@pytest.mark.parametrize(
    ("mode", "count"), [("all", 57), ("mvp", 33), ("phase2", 24), ("hard_only", 18), ("bootstrap", 15), ("tiered", 57)]
)
def test_a_mode_has_its_archetypes(mode: Any, count: int) -> None:
    assert len(ArchetypeChoice(mode).members(archetypes())) == count


def kinds(count: int, **args: Any) -> list[str]:
    env = soup(**args)
    return [env.label("train", index).kind for index in range(count)]


def test_uniform_modes_deal_every_archetype_equally_often() -> None:
    assert set(Counter(kinds(57 * 4)).values()) == {4}


def test_tiered_deals_exactly_by_its_weights_and_no_primer() -> None:
    env = soup(mode="tiered")
    dealt = Counter(env.label("train", index).difficulty for index in range(env.epoch))
    assert dealt == {"easy": 2400, "medium": 4800, "hard": 4800}


def test_weights_of_ones_own_are_kept() -> None:
    env = soup(weights={"easy": 3, "hard": 1})
    dealt = Counter(env.label("train", index).difficulty for index in range(400))
    assert dealt == {"easy": 300, "hard": 100}


@pytest.mark.parametrize("level", ["primer", "easy", "medium", "hard"])
def test_a_difficulty_deals_nothing_else(level: Any) -> None:
    env = soup(difficulty=level)
    assert {env.label("train", index).difficulty for index in range(100)} == {level}


def test_sizes_are_exact() -> None:
    env = soup()
    assert (env.size("train"), env.size("select"), env.size("test"), env.epoch) == (None, 500, 1040, 12_000)
    smaller = soup(eval=10, train=680, mode="tiered")
    assert (smaller.size("train"), smaller.size("select")) == (680, 10)
    assert soup(mode="mvp").size("test") == 28 * 20


@pytest.mark.parametrize("count", [52, 104, 208, 520])
def test_any_prefix_of_the_bench_is_balanced(count: int) -> None:
    env = soup()
    dealt = Counter(env.label("test", index).kind for index in range(count))
    assert set(dealt.values()) == {count // 52}


@pytest.mark.parametrize("count", [10, 26, 50])
def test_even_a_short_prefix_mixes_difficulties_in_proportion(count: int) -> None:
    env = soup()
    dealt = Counter(env.label("test", index).difficulty for index in range(count))
    for level, share in {"easy": 10 / 52, "medium": 24 / 52, "hard": 18 / 52}.items():
        assert abs(dealt[level] - count * share) <= 1.0


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ({"mode": "mpv"}, "mode"),
        ({"difficulty": "harder"}, "difficulty"),
        ({"archetypes": ["core.extract_link"]}, "core.extract_links"),
        ({"mode": "hard_only", "difficulty": "easy"}, "no archetype"),
        ({"weights": {"heavy": 1.0}}, "heavy"),
        ({"weights": {"easy": -1.0}}, "from 0 to 1000"),
        ({"weights": {"easy": 0.0}}, "no archetype to deal"),
        ({"turns": 0}, "more than 0"),
        ({"timeout": -1.0}, "more than 0"),
        ({"eval": "many"}, "eval"),
        ({"train": 0}, "more than 0"),
        ({"splits": 3}, "splits"),
        ({"rewards": {"corect": 1.0}}, "correct"),
        ({"rewards": {"limit": 0.0}}, "must be more than 0"),
        ({"rewards": {"limit": "much"}}, "limit"),
        ({"schedule": "boot"}, "bootstrap"),
        ({"schedule": "bootstrap", "stage": 5}, "1 to 4"),
        ({"schedule": "bootstrap", "mode": "all"}, "sets 'mode'"),
        ({"stage": 2}, "schedule"),
    ],
)
def test_a_wrong_argument_is_refused_in_one_line_that_says_what_is_wrong(args: dict[str, Any], problem: str) -> None:
    with pytest.raises(WhetError, match=problem) as refused:
        soup(**args)
    assert "\n" not in str(refused.value)


def test_an_index_outside_a_split_is_refused() -> None:
    with pytest.raises(WhetError, match="test/1040"):
        soup().task("test", 1040)
    with pytest.raises(WhetError, match="train/-1"):
        soup().task("train", -1)


@settings(max_examples=40)
@given(st.integers(0, 100_000), st.sampled_from(["all", "tiered", "mvp", "bootstrap", "phase2"]))
def test_every_ordinal_of_an_archetype_is_dealt_once(start: int, mode: Any) -> None:
    deck = ArchetypeChoice(mode).deck(archetypes())
    dealt = [deck.at(index) for index in range(start, start + 200)]
    assert len({(one.name, ordinal) for one, ordinal in dealt}) == 200
