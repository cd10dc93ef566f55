"""Pages of sites: parts survive every parser, filler keeps its word, and bytes are the same everywhere."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from hashlib import sha256

import bs4
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from whet.envs.soup.site import HALVES, RESERVED, Half, Size, site

PARSERS = ("html.parser", "lxml", "html5lib")
PARTS = (
    '<section class="{0}" id="{1}"><h1>T &amp; u</h1><p>one <b>two</b></p><p>three</p></section>',
    '<div class="{2}"><table><tbody><tr><td colspan="2">a</td></tr><tr><td>b</td><td>c</td></tr></tbody></table></div>',
    '<form class="{3}"><label>L</label><input name="n" value="v"><ul><li>x</li><li>y</li></ul></form>',
)


def page(seed: int, half: Half, size: Size, damage: float, **options: object) -> tuple[str, list[str]]:
    home = site(seed, half)
    names = home.look.key("first"), home.look.ident("first"), home.look.key("second"), home.look.key("third")
    parts = [part.format(*names) for part in PARTS]
    html = home.page(random.Random(seed), parts, size=size, damage=damage, **options)  # type: ignore[arg-type]
    return html, parts


@settings(max_examples=24, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 10**9),
    half=st.sampled_from(HALVES),
    size=st.sampled_from(("small", "small", "small", "small", "large")),
    damage=st.sampled_from((0.0, 1.0)),
)
def test_every_parser_sees_the_parts_alike_once_and_outside_of_all_that_could_change_them(
    seed: int, half: Half, size: Size, damage: float
) -> None:
    html, parts = page(seed, half, size, damage)
    for parser in PARSERS:
        soup = bs4.BeautifulSoup(html, parser)
        found = [*soup.find_all("section", id=site(seed, half).look.ident("first"))]
        found += soup.find_all("div", class_=site(seed, half).look.key("second"))
        found += soup.find_all("form", class_=site(seed, half).look.key("third"))
        assert [len(soup.find_all("h1")), len(found)] == [1, 3], parser
        for tag, part in zip(found, parts, strict=True):
            alone = bs4.BeautifulSoup(part, parser).find(tag.name)
            assert alone is not None
            assert tag.decode() == alone.decode(), parser
            above = {parent.name for parent in tag.parents}
            assert above <= {"[document]", "html", "body", "div", "main"}, parser


def test_large_and_damaged_pages_hold_their_parts_in_order_under_every_parser() -> None:
    for seed in range(4):
        html, _ = page(seed, HALVES[seed % 2], "large", 1.0)
        for parser in PARSERS:
            soup = bs4.BeautifulSoup(html, parser)
            look = site(seed, HALVES[seed % 2]).look
            keys = {look.key(role): role for role in ("first", "second", "third")}
            met = [
                keys[name]
                for tag in soup.find_all(["section", "div", "form"])
                for name in tag.get_attribute_list("class")
                if name in keys
            ]
            assert met == ["first", "second", "third"]


@pytest.mark.parametrize("half", HALVES)
def test_filler_has_no_class_or_id_of_a_role_and_none_of_the_words_that_tasks_ask_by(half: Half) -> None:
    roles = [f"role-{number}" for number in range(40)]
    for seed in range(40, 46):
        home = site(seed, half)
        html = home.page(random.Random(seed), [], size="large", damage=1.0)
        soup = bs4.BeautifulSoup(html, "lxml")
        classes = {name for tag in soup.find_all(class_=True) for name in tag.get_attribute_list("class")}
        idents = {tag["id"] for tag in soup.find_all(id=True)}
        assert not classes & {home.look.key(role) for role in roles}
        assert not idents & {home.look.ident(role) for role in roles}
        words = set(re.findall(r"[^\W_]+", html.lower()))
        assert not words & RESERVED


@pytest.mark.parametrize("half", HALVES)
def test_filler_names_nobody_and_nothing_that_a_task_may_be_about(half: Half) -> None:
    for seed in range(4):
        home = site(seed, half)
        text = bs4.BeautifulSoup(home.page(random.Random(seed), [], size="large"), "lxml").get_text(" ")
        assert not set(re.findall(r"\w+", text)) & set(home.words.last_names)
        kinds = "|".join(map(re.escape, home.words.products))
        triples = re.findall(rf"(?=\b([A-Z]\w+) ([A-Z]\w+) (?:{kinds})\b)", text)
        things = {word.capitalize() for word in home.words.nouns}
        assert [(first, second) for first, second in triples if second in things and first not in things] == []
        firms = "|".join(home.words.firms)
        assert not {word for word in re.findall(rf"\b([A-Z]\w+) (?:{firms})\b", text) if word in things}


def test_a_state_is_read_back_whole_and_nothing_in_it_ends_its_script() -> None:
    state = {"a": "</script><!--", "b": [1, {"c": "ü & <b>"}]}
    for size in ("small", "large"):
        home = site(5, "bench")
        html = home.page(random.Random(1), ["<p>x</p>"], size=size, state=state)  # type: ignore[arg-type]
        for parser in PARSERS:
            script = bs4.BeautifulSoup(html, parser).find("script", id=home.look.ident("state"))
            assert script is not None
            assert json.loads(script.string or "")[home.state_key] == state


def test_title_head_tail_and_parts_stand_as_they_were_given_percent_signs_too() -> None:
    given = {"title": "100 % %s", "head": '<meta name="x" content="%d">', "tail": "<!-- 5%% -->"}
    html = site(3, "train").page(random.Random(3), ["<p>%s «noun» ‹role›</p>"], size="small", **given)  # type: ignore[arg-type]
    assert all(text in html for text in given.values())
    assert "<p>%s «noun» ‹role›</p>" in html


def test_parts_that_are_not_visible_stand_in_a_box_that_is_hidden() -> None:
    html = site(3, "train").page(random.Random(3), ["<p id='x'>a</p>"], size="small", visible=False)
    part = bs4.BeautifulSoup(html, "html.parser").find(id="x")
    assert part is not None
    assert part.parent is not None
    assert part.parent.has_attr("hidden")


def test_a_bare_page_is_its_parts() -> None:
    assert site(1, "train").page(random.Random(1), ["<p>a</p>", "<p>b</p>"], size="bare") == "<p>a</p>\n<p>b</p>"


def test_sizes_are_what_they_say() -> None:
    def lengths(size: Size) -> list[int]:
        return sorted(len(page(seed, HALVES[seed % 2], size, 0.0)[0]) for seed in range(25))

    small, large, huge = lengths("small"), lengths("large"), lengths("huge")
    assert small[0] > 700
    assert small[-1] < 16_000
    assert 80_000 < large[0] < large[12] < large[-1] < 540_000
    assert 150_000 < large[12] < 340_000
    assert 330_000 < huge[0] < huge[-1] < 560_000


DIGEST = """
import random, sys
from hashlib import sha256
from whet.envs.soup.site import HALVES, site
order = range(6) if sys.argv[1] == "up" else range(5, -1, -1)
pages = {}
for seed in order:
    for size in ("small", "large"):
        pages[seed, size] = site(seed, HALVES[seed % 2]).page(random.Random(seed), ["<p>x</p>"], size=size, damage=0.5)
print(sha256("".join(pages[key] for key in sorted(pages)).encode()).hexdigest())
"""


@pytest.mark.parametrize("order", ["up", "down"])
def test_bytes_are_the_same_in_another_process_in_another_order(order: str) -> None:
    pages = [
        site(seed, HALVES[seed % 2]).page(random.Random(seed), ["<p>x</p>"], size=size, damage=0.5)  # type: ignore[arg-type]
        for seed in range(6)
        for size in ("large", "small")
    ]
    ran = subprocess.run([sys.executable, "-c", DIGEST, order], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == sha256("".join(pages).encode()).hexdigest()


def test_pages_of_one_site_share_their_chrome_and_nothing_else() -> None:
    home = site(8, "train")
    first, second = (home.page(random.Random(seed), [], size="large").split("\n") for seed in (1, 2))
    header = next(line for line in first if "<header" in line)
    assert header in second
    alike = sum(len(line) for line in first if line in set(second))
    assert 0.005 < alike / sum(map(len, first)) < 0.3


def test_pages_of_many_sites_share_few_lines_and_have_many_classes() -> None:
    pages = [page(seed, HALVES[seed % 2], "large", 0.2)[0] for seed in range(700, 730)]
    lines = [set(html.split("\n")) for html in pages]
    alike = sum(
        len(line)
        for number, html in enumerate(pages)
        for line in html.split("\n")
        if any(line in other for place, other in enumerate(lines) if place != number)
    )
    assert alike / sum(map(len, pages)) < 0.4
    classes = {name for html in pages for value in re.findall(r'class="([^"]*)"', html) for name in value.split()}
    assert len(classes) > 4000 * 30 / 150
