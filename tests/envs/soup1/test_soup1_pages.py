"""Pages: sizes, styles, damage that changes nothing, and a vocabulary that tasks can rely on."""

from __future__ import annotations

import random

import bs4
import pytest
from envs.soup1.first_trying import PARSERS

from whet.envs.soup1.archetype import Sheet
from whet.envs.soup1.filler import filler
from whet.envs.soup1.page import build
from whet.envs.soup1.styles import STYLES
from whet.envs.soup1.words import ident, klass, lookalikes

MARKED = Sheet(('<div id="here"><p>one</p></div>', '<div id="there"><p>two</p></div>'), title="A title")
NEVER = (
    *(
        "h1",
        "main",
        "table",
        "tr",
        "td",
        "form",
        "input",
        "select",
        "option",
        "label",
        "button",
        "textarea",
        "dl",
        "dt",
    ),
    *("dd", "ol", "img", "figure", "svg", "canvas", "embed", "object", "iframe", "strong", "em", "code", "pre", "time"),
)


def made(seed: int, size: str = "large", malformed: bool = False, sheet: Sheet = MARKED) -> str:
    return build(random.Random(seed), sheet, size, malformed)  # type: ignore[arg-type]


def test_large_pages_have_50_to_110_kilobytes() -> None:
    sizes = [len(made(seed, malformed=seed % 2 == 0)) for seed in range(300)]
    assert 50_000 <= min(sizes) < 60_000
    assert 100_000 < max(sizes) <= 110_000


def test_small_pages_have_1_to_4_kilobytes() -> None:
    assert all(1_000 <= len(made(seed, "small")) <= 4_000 for seed in range(200))


def test_a_bare_page_is_its_parts() -> None:
    assert made(0, "bare") == "\n".join(MARKED.parts)


def test_every_style_is_used() -> None:
    pages = [made(seed, "small") for seed in range(120)]
    for style in STYLES:
        assert any(style.opening in page for page in pages), style.name


def test_filler_is_the_same_whatever_was_built_before() -> None:
    pieces = filler(2)
    filler.cache_clear()
    filler(5)
    assert filler(2) == pieces


@pytest.mark.parametrize("number", range(len(STYLES)))
def test_filler_leaves_the_elements_that_tasks_ask_for_alone(number: int) -> None:
    pieces = filler(number)
    page = bs4.BeautifulSoup("".join((*pieces.large, *pieces.small, *pieces.damaged, *pieces.headers)), "lxml")
    assert [tag.name for tag in page.find_all(NEVER)] == []
    assert page.find_all(id=True) == []


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize("number", range(len(STYLES)))
def test_every_damaged_piece_ends_where_it_began(number: int, parser: str) -> None:
    for piece in filler(number).damaged:
        page = bs4.BeautifulSoup(f'<body><div id="in">{piece}<p id="mark">x</p></div></body>', parser)
        mark = page.find(id="mark")
        assert mark is not None
        assert mark.parent is not None
        assert (mark.parent.get("id"), mark.get_text()) == ("in", "x")


@pytest.mark.parametrize("parser", PARSERS)
def test_the_parts_are_whole_under_every_parser_in_damaged_pages_too(parser: str) -> None:
    for seed in range(4):
        page = bs4.BeautifulSoup(made(seed, malformed=True), parser)
        assert [page.find(id=name).decode() for name in ("here", "there")] == [  # type: ignore[union-attr]
            '<div id="here"><p>one</p></div>',
            '<div id="there"><p>two</p></div>',
        ]


def test_malformed_pages_are_malformed_and_others_are_not() -> None:
    wanted = [made(seed, "small", malformed=True) for seed in range(40)]
    pieces = {piece for number in range(len(STYLES)) for piece in filler(number).damaged}
    assert all(any(piece in page for piece in pieces) for page in wanted)
    assert not any(piece in made(seed, "small") for seed in range(40) for piece in pieces)


def test_names_of_targets_are_in_no_filler_and_look_alikes_are_others() -> None:
    rng = random.Random(0)
    everything = "".join("".join(filler(number).large) for number in range(len(STYLES)))
    for _ in range(300):
        name, label = ident(rng), klass(rng)
        assert name not in everything
        assert label not in everything
        near = lookalikes(rng, name, 5)
        assert len({name, *near}) == 6
