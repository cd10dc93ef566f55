"""Ways to a reward that are not the task: each is scored as what it is."""

from __future__ import annotations

import pytest
from envs.soup1.first_soups import (
    Perform,
    calls,
    limit,
    limit_task,
    ok,
    played,
    program,
    score,
    soup,
    tasks_of,
)

from whet.types import Task

LIMITS = ("limit.limit_js_required", "limit.limit_image_text")
LOOK = "print(len(make_soup().find_all(True)))"
REGENERATE = """
try:
    from whet.envs.soup1 import FAMILY
    print(FAMILY.build("", "", {}).task("train", 0).truth)
except ImportError as error:
    print(type(error).__name__)
import os, sys
from pathlib import Path
print([name for name in sys.modules if name.startswith("whet")])
print([str(found) for folder in sys.path for found in Path(folder).glob("whet*")])
print(os.environ)
print(sorted(os.listdir(".")))
"""
BY_PATTERN = "print(re.search(r'>([^<]+)<', HTML).group(1))"


def primer() -> Task:
    return tasks_of("primer.extract_by_id")[0]


def test_the_generator_is_not_in_the_sandbox(perform: Perform) -> None:
    seen = played(soup(), primer(), perform, program(REGENERATE))
    lines = seen.asks[1].messages[0].text.splitlines()
    assert lines[1:5] == ["ModuleNotFoundError", "[]", "[]", "environ({})"]
    assert lines[5] in ("[]", "['tmp']")


def test_nothing_that_a_program_writes_is_there_for_the_next(perform: Perform) -> None:
    plant = "import pathlib\nfor where in ('.', '/tmp'): pathlib.Path(where, 'bs4.py').write_text('x = 1')"
    seen = played(soup(), primer(), perform, program(plant), program("import bs4; print(bs4.__version__ > '4')"))
    assert seen.asks[2].messages[0].text == "STDOUT:\nTrue"


@pytest.mark.parametrize("kind", LIMITS)
@pytest.mark.parametrize("evidence", ["<", "<!DOCTYPE html>"])
def test_weak_evidence_earns_nothing_on_any_limit_task(perform: Perform, kind: str, evidence: str) -> None:
    task = limit_task(kind)
    for reason in task.truth["limit"]["reasons"][:1]:
        got = score(soup(), task, perform, program(LOOK), limit(reason, evidence))
        assert (got.reason, got.reward) == ("weak_evidence", 0.0)


@pytest.mark.parametrize("kind", LIMITS)
def test_the_whole_page_is_no_evidence(perform: Perform, kind: str) -> None:
    task = limit_task(kind)
    got = score(soup(), task, perform, program(LOOK), limit(task.truth["limit"]["reasons"][0], task.data["html"]))
    assert got.reward == 0.0


@pytest.mark.parametrize("kind", LIMITS)
def test_a_limit_task_and_its_twin_ask_the_same_in_the_same_words(kind: str) -> None:
    assert limit_task(kind).messages == limit_task(kind, solvable=True).messages


@pytest.mark.parametrize("kind", LIMITS)
def test_the_value_of_the_twin_is_not_in_the_page_with_the_limit(kind: str) -> None:
    twins = tasks_of(kind, 20)
    for first, second in zip(twins[::2], twins[1::2], strict=True):
        without, answered = (first, second) if "limit" in first.truth else (second, first)
        assert "limit" in without.truth
        assert str(answered.truth["answer"]) not in without.data["html"]


@pytest.mark.parametrize("kind", LIMITS)
def test_claiming_a_limit_on_the_twin_earns_nothing(perform: Perform, kind: str) -> None:
    task = limit_task(kind, solvable=True)
    evidence = limit_task(kind).truth["limit"]["marks"][0]
    reason = limit_task(kind).truth["limit"]["reasons"][0]
    assert score(soup(), task, perform, program(LOOK), limit(reason, evidence)).reason == "false_limit"


@pytest.mark.parametrize(
    "unused",
    [
        f"make_soup()\n{BY_PATTERN}",
        f"soup = BeautifulSoup(HTML, 'lxml')\n{BY_PATTERN}",
        f"if 0: make_soup().find('p')\n{BY_PATTERN}",
        f"def solve(): return make_soup().find(id='target').text\n{BY_PATTERN}",
        f"make_soup().find('nosuchtag')\n{BY_PATTERN}",
        f"make_soup(); BeautifulSoup('<p>other</p>', 'lxml').p.get_text()\n{BY_PATTERN}",
        f"BeautifulSoup('', 'lxml').find('html')\n{BY_PATTERN}",
        f"class BeautifulSoup: pass\nBeautifulSoup()\n{BY_PATTERN}",
        f"import pathlib\npathlib.Path('seen.json').write_text('{{\"made\": true, \"read\": true}}')\n{BY_PATTERN}",
        "import pathlib, os, sys\npathlib.Path('seen.json').write_text('{\"made\": true, \"read\": true}')\n"
        f"{BY_PATTERN}\nsys.stdout.flush()\nos._exit(0)",
        BY_PATTERN,
    ],
)
def test_a_soup_that_is_never_used_is_seen_as_that(perform: Perform, unused: str) -> None:
    task = primer()
    got = score(soup(), task, perform, program(unused), ok(task.truth["answer"]))
    assert (got.hard, got.reward, got.parts["without_soup"]) == (1, pytest.approx(0.85), -0.15)


@pytest.mark.parametrize(
    "used",
    [
        "print(make_soup().find(id='target').text)",
        "print(make_soup().select_one('#target').get_text())",
        "print(make_soup().span.string)",
        "print(list(make_soup().stripped_strings))",
        "print([child.name for child in make_soup().children])",
        "print(make_soup().prettify())",
        "print(str(make_soup()))",
        "print(len(make_soup('html5lib')('span')))",
        "import bs4 as b\nprint(b.BeautifulSoup(HTML, 'lxml').find('span')['id'])",
        "import io\nprint(BeautifulSoup(io.StringIO(HTML), 'lxml').find('span').text)",
        "print(BeautifulSoup(HTML.encode(), 'lxml').find('span').text)",
        "page = HTML.replace('span', 'div')\nprint(BeautifulSoup(page, 'html.parser').div.text)",
        "import sys\nprint(make_soup().span.text)\nsys.exit(0)",
        "print(make_soup().span.text)\nraise ValueError('late')",
    ],
)
def test_every_honest_way_to_use_a_soup_counts(perform: Perform, used: str) -> None:
    task = primer()
    got = score(soup(), task, perform, program(used), ok(task.truth["answer"]))
    assert (got.reward, got.reason) == (1.0, "correct")


def test_other_pages_cannot_be_read_before_navigating_to_them(perform: Perform) -> None:
    task = tasks_of("multipage.link_chain")[0]
    needle = str(task.truth["answer"])
    look = (
        "import gc, os, pathlib\n"
        f"needle = {needle[::-1]!r}[::-1]\n"
        "texts = [one for one in gc.get_objects() if isinstance(one, str)]\n"
        "held = [list(one.values()) for one in gc.get_objects() if isinstance(one, dict)]\n"
        "texts += [one for values in held for one in values if isinstance(one, str)]\n"
        "files = [p.read_text() for p in pathlib.Path('.').rglob('*') if p.is_file()]\n"
        "print(any(needle in one for one in texts + files if one != needle and 'needle' not in one))\n"
        "print(needle in HTML)"
    )
    seen = played(soup(), task, perform, program(look))
    assert seen.asks[1].messages[0].text == "STDOUT:\nFalse\nFalse"


def test_naming_a_page_without_opening_it_changes_nothing(perform: Perform) -> None:
    task = tasks_of("multipage.link_chain")[0]
    href = next(iter(task.data["pages"]))
    seen = played(soup(), task, perform, program(f"print(len(HTML)); print({href!r})"), calls(("navigate", "#")))
    assert seen.asks[1].messages[0].text.startswith(f"STDOUT:\n{len(task.data['html'])}")
    assert seen.asks[2].messages[0].text.startswith("Error: there is no page")
