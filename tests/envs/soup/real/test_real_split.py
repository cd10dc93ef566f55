"""Real questions: the answer of another source is what a program reads off the page, on whatever is installed here."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import bs4
import pytest

from whet.envs.soup.real import HOW, RealItem, RealSplit, files, gtk, node, npm, real_items

PARSERS = ("html.parser", "lxml", "html5lib")
A_KIND = 2


def read(item: RealItem, parser: str) -> object:
    """What the oracle says, in the form of the answer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs4.XMLParsedAsHTMLWarning)
        scope: dict[str, object] = {"soup": bs4.BeautifulSoup(item.text(), parser)}
    exec(item.oracle, scope)
    answer = scope["answer"]
    if isinstance(answer, str):
        return " ".join(answer.split())
    assert isinstance(answer, list)
    return tuple(sorted(answer)) if item.kind == "set" else tuple(answer)


def some() -> list[RealItem]:
    """A few small pages of each kind of question that this machine has."""
    kinds: dict[str, list[RealItem]] = {}
    for item in real_items():
        small = item.file is None or item.file.stat().st_size < 60_000
        group = kinds.setdefault(item.label[0], [])
        if small and len(group) < A_KIND:
            group.append(item)
    return [item for group in kinds.values() for item in group]


def test_every_machine_has_the_pages_of_python_itself() -> None:
    assert "python" in RealSplit().sources()
    assert RealSplit().size() >= 40
    assert "apt install" in HOW


@pytest.mark.parametrize("parser", PARSERS)
def test_what_a_program_reads_off_the_page_is_what_the_other_source_says(parser: str) -> None:
    wrong = [(item.page, item.query) for item in some() if read(item, parser) != item.answer]
    assert wrong == []


def test_a_query_is_asked_once_of_a_page_and_few_are_of_one_page_and_kind() -> None:
    asked = [(item.source, item.page, item.query) for item in real_items()]
    assert len(asked) == len(set(asked))
    kinds = [(item.source, item.page, item.ask) for item in real_items()]
    assert max(kinds.count(kind) for kind in set(kinds)) <= 3


def test_a_prefix_of_the_split_holds_every_kind_of_question() -> None:
    kinds = {item.label for item in real_items()}
    assert {item.label for item in real_items()[: 6 * len(kinds)]} == kinds


def test_the_split_is_the_same_when_it_is_made_again() -> None:
    before = RealSplit().digest()
    real_items.cache_clear()
    assert RealSplit().digest() == before


def test_no_answer_stands_in_its_own_question_and_pages_are_read_where_they_lie() -> None:
    assert [item.query for item in real_items() if item.kind == "text" and f" {item.answer} " in item.query] == []
    assert all(file.is_file() for file in files())


METHOD = {"textRaw": "`a.b(c, d)`", "type": "method", "name": "b", "meta": {"added": ["v1.2.3"]}}
FIELDS = {"params": [{"textRaw": "`c` {x}", "name": "c"}, {"textRaw": "`d` {y}", "name": "d"}]}


def test_a_reference_of_node_gives_questions_and_one_with_two_alike_headings_gives_none(tmp_path: Path) -> None:
    folder = tmp_path / node.FOLDERS[0]
    folder.mkdir(parents=True)
    (folder / "a.html").write_text("<h2><code>a.b(c, d)</code></h2>")
    (folder / "a.json").write_text(json.dumps({"methods": [{**METHOD, "signatures": [FIELDS]}]}))
    assert [(item.ask, item.answer) for item in node.items(tmp_path)] == [
        ("added", "v1.2.3"),
        ("parameters", ("c", "d")),
    ]
    (folder / "a.json").write_text(json.dumps({"methods": [METHOD, METHOD]}))
    assert list(node.items(tmp_path)) == []


def test_a_man_page_of_npm_gives_its_line_and_its_defaults(tmp_path: Path) -> None:
    pages, manuals = tmp_path / npm.FOLDER / "docs/output/commands", tmp_path / npm.FOLDER / "man/man1"
    pages.mkdir(parents=True)
    manuals.mkdir(parents=True)
    (pages / "npm-x.html").write_text("<html></html>")
    (manuals / "npm-x.1").write_text(
        '.SH "NAME"\n\\fBnpm-x\\fR - Do an \\fBx\\fR\n.SS "Configuration"\n.SS "\\fBdry-run\\fR"\n.RS 0\n.IP \\(bu 4\n'
        'Default: false\n.SS "See Also"\n.SS "\\fBother\\fR"\n.RS 0\n.IP \\(bu 4\nDefault: 7\n'
    )
    assert [(item.ask, item.answer) for item in npm.items(tmp_path)] == [("about", "Do an x"), ("default", "false")]


def test_a_book_gives_the_functions_of_its_pages(tmp_path: Path) -> None:
    book = tmp_path / gtk.BOOKS[0] / "libxslt"
    book.mkdir(parents=True)
    (book / "p.html").write_text("<h3><a name='f'></a>f ()</h3><h3><a name='g'></a>g ()</h3>")
    (book / "libxslt.devhelp2").write_text(
        '<book xmlns="http://www.devhelp.net/book"><functions><keyword type="function" name="f ()" link="p.html#f"/>'
        '<keyword type="function" name="g ()" link="p.html#g"/><keyword type="macro" name="M" link="p.html#M"/>'
        "</functions></book>"
    )
    (item,) = gtk.items(tmp_path)
    assert item.answer == ("f", "g") == read(item, "html.parser")


def test_a_machine_without_packages_has_no_other_pages(tmp_path: Path) -> None:
    assert [item for source in (node, npm, gtk) for item in source.items(tmp_path)] == []
