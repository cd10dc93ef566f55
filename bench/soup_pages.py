"""Soup's pages beside real ones: every statistic of generated pages, of web pages and of documentation installed here.

python bench/soup_pages.py [--quick] [--json FILE] [--pages FOLDER]

Generated pages are of seeds that nothing was fitted on. There are three real columns. `WEB` was measured with this file
(`--pages`) on the 25 pages between 10 kB and 1.2 MB which the source archive of newspaper4k 0.9.6 on PyPI holds for its
tests. `NINETEEN` are published figures of 19 saved pages, where there are such: the bar, where both say something.
Documentation that packages installed on this machine is measured in the same run and carries no bar: it has hardly a
script or an image.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import lxml.html
from rows import Row, report

from whet.envs.soup.real import files
from whet.envs.soup.site import HALVES, Size, site

FACTOR = 3.0
SEED = 93_500_000
Figures = dict[str, float]

HIDDEN = {"script", "style", "noscript", "template"}
_ENTITY = re.compile(r"&(?:#\d+|#x[0-9a-fA-F]+|\w+);")
_ABSOLUTE = re.compile(r"(https?:)?//|data:|javascript:|mailto:")


def figures(html: str) -> Figures:
    """The statistics of one page, as lxml reads it."""
    parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True)
    root = lxml.html.document_fromstring(html.encode("utf-8", "replace"), parser=parser)
    elements = [element for element in root.iter() if isinstance(element.tag, str)]
    count = len(elements)
    tags = Counter(str(element.tag) for element in elements)
    depths = sorted(_depths(root))
    attributes = [name for element in elements for name in element.attrib]
    ids = [element.get("id") for element in elements if element.get("id")]
    classes = [name for element in elements for name in (element.get("class") or "").split()]
    with_class = sum("class" in element.attrib for element in elements)
    urls = [url for element in elements for name in ("href", "src") if (url := element.get(name))]
    text = sum(len((element.text or "").strip()) for element in elements if element.tag not in HIDDEN)
    text += sum(len((element.tail or "").strip()) for element in elements)

    def having(*names: str) -> float:
        return sum(any(name in element.attrib for name in names) for element in elements)

    def inside(tag: str) -> float:
        return sum(len(element.text or "") for element in elements if element.tag == tag) / len(html)

    return {
        "characters": len(html),
        "elements": count,
        "characters an element": len(html) / count,
        "lines": html.count("\n"),
        "depth, deepest": depths[-1],
        "depth, median": depths[len(depths) // 2],
        "distinct classes": len(set(classes)),
        "elements with a class": with_class / count,
        "classes of such an element": len(classes) / max(1, with_class),
        "classes with a digit": sum(any(map(str.isdigit, name)) for name in set(classes)) / max(1, len(set(classes))),
        "elements with an id": len(ids) / count,
        "ids that are duplicates": (len(ids) - len(set(ids))) / max(1, len(ids)),
        "attributes an element": len(attributes) / count,
        "data- attributes": sum(name.startswith("data-") for name in attributes),
        "aria- and role": sum(name.startswith("aria-") or name == "role" for name in attributes),
        "inline styles": having("style"),
        "text share": text / len(html),
        "script share": inside("script"),
        "style share": inside("style"),
        "entities": len(_ENTITY.findall(html)),
        "not ASCII": sum(ord(letter) > 127 for letter in html) / len(html),
        "comments": html.count("<!--"),
        "div share": tags["div"] / count,
        "scripts": tags["script"],
        "JSON scripts": sum("json" in (element.get("type") or "") for element in elements if element.tag == "script"),
        "images": tags["img"],
        "srcset": having("srcset", "data-srcset"),
        "svg": tags["svg"],
        "iframes": tags["iframe"],
        "noscript": tags["noscript"],
        "links": tags["a"],
        "relative URLs": sum(not _ABSOLUTE.match(url) for url in urls) / max(1, len(urls)),
        "paragraphs": tags["p"],
        "list items": tags["li"],
        "tables": tags["table"],
        "colspan, rowspan": having("colspan", "rowspan"),
        "forms": tags["form"],
        "fields": tags["input"] + tags["select"] + tags["textarea"],
        "buttons": tags["button"],
        "itemprop": having("itemprop"),
        "meta": tags["meta"],
        "link": tags["link"],
    }


def _depths(root: lxml.html.HtmlElement) -> Iterator[int]:
    stack = [(root, 1)]
    while stack:
        element, depth = stack.pop()
        if isinstance(element.tag, str):
            yield depth
            stack.extend((child, depth + 1) for child in element)


RARE = {
    *("ids that are duplicates", "style share", "classes with a digit", "JSON scripts", "srcset", "svg", "iframes"),
    *("noscript", "tables", "colspan, rowspan", "forms", "buttons", "itemprop", "aria- and role"),
}
"""What half of real pages or more hardly have: compared by mean instead of median."""

WEB: Figures = {
    "characters": 7.571e04,
    "elements": 749,
    "characters an element": 100.7,
    "lines": 1102,
    "depth, deepest": 18,
    "depth, median": 10,
    "distinct classes": 172,
    "elements with a class": 0.4685,
    "classes of such an element": 1.326,
    "classes with a digit": 0.136,
    "elements with an id": 0.07971,
    "ids that are duplicates": 0.02201,
    "attributes an element": 1.353,
    "data- attributes": 51,
    "aria- and role": 24.2,
    "inline styles": 9,
    "text share": 0.0818,
    "script share": 0.1896,
    "style share": 0.07885,
    "entities": 73,
    "not ASCII": 0.0004324,
    "comments": 33,
    "div share": 0.1881,
    "scripts": 31,
    "JSON scripts": 0.68,
    "images": 18,
    "srcset": 5.44,
    "svg": 2.88,
    "iframes": 1,
    "noscript": 3.68,
    "links": 133,
    "relative URLs": 0.28,
    "paragraphs": 19,
    "list items": 83,
    "tables": 0.52,
    "colspan, rowspan": 0,
    "forms": 2.08,
    "fields": 6,
    "buttons": 5.32,
    "itemprop": 4.88,
    "meta": 28,
    "link": 10,
}
"""Of 25 pages that newspapers had on the web."""

NINETEEN: Figures = {
    "characters": 338_000,
    "distinct classes": 279,
    "images": 32,
    "scripts": 41,
    "entities": 954,
    "elements with an id": 0.03,
    "ids that are duplicates": 0.07,
}
"""Of 19 pages of shops, news and forums: medians, or what there is for an average page."""


def summary(pages: Sequence[Figures]) -> Figures:
    """The median over pages of each statistic, or its mean where it is rare."""
    return {
        name: (statistics.mean if name in RARE else statistics.median)([page[name] for page in pages])
        for name in pages[0]
    }


def ninetieth(pages: Sequence[Figures], name: str) -> float:
    """What nine pages in ten stay below."""
    return sorted(page[name] for page in pages)[int(len(pages) * 0.9)]


def shared_lines(pages: Sequence[str]) -> float:
    """The share of characters on lines that stand in another page too."""
    homes: Counter[str] = Counter()
    for page in pages:
        homes.update(set(page.split("\n")))
    alike = sum(len(line) for page in pages for line in page.split("\n") if homes[line] > 1)
    return alike / sum(map(len, pages))


def generated(count: int, size: Size, sites: int) -> list[str]:
    """Pages of as many sites, in turn of either half, a fifth of them damaged."""
    return [
        site(SEED + number % sites, HALVES[number % sites % 2]).page(
            random.Random(SEED + number), ["<p>part</p>"], size=size, damage=0.2
        )
        for number in range(count)
    ]


def folder(path: Path) -> list[Figures]:
    """The figures of the pages in a folder and beneath it."""
    files = [file for file in sorted(path.rglob("*.html")) if 10_000 <= file.stat().st_size <= 1_200_000]
    return [figures(file.read_bytes().decode("utf-8", "replace")) for file in files]


def speed(size: Size, count: int, sites: int) -> float:
    """Pages a second of CPU time, the sites' own set-up included."""
    site.cache_clear()
    began = time.process_time()
    generated(count, size, sites)
    return count / (time.process_time() - began)


def statistics_rows(pages: Sequence[Figures], documents: Sequence[Figures]) -> Iterator[Row]:
    ours, docs = summary(pages), summary(documents) if documents else {}
    for name, value in ours.items():
        real = NINETEEN.get(name, WEB[name])
        ratio = value / real if real else None
        holds = 1 / FACTOR <= ratio <= FACTOR if ratio is not None else None
        also = f", documentation {docs[name]:.4g}" if docs else ""
        middle = "mean" if name in RARE else "median"
        where = f"{middle}; 90th percentile {ninetieth(pages, name):.4g}; web {WEB[name]:.4g}{also}"
        source = "nineteen pages" if name in NINETEEN else "web"
        row = f"soup_pages_{re.sub('[^a-z]+', '_', name.lower()).strip('_')}"
        if ratio is None:
            yield Row(row, value, "", condition=where)
        else:
            yield Row(row, value, "", FACTOR, holds, source, real, ratio, where)


def rows(quick: bool) -> Iterator[Row]:
    count = 40 if quick else 150
    texts = generated(count, "large", count)
    share = shared_lines(texts)
    yield Row("soup_pages_shared_lines", share, "share", 0.4, share < 0.4, condition=f"{count} pages of {count} sites")
    share = shared_lines(generated(count, "large", count // 5))
    yield Row("soup_pages_shared_lines_in_sites", share, "share", 0.4, share < 0.4, condition="five pages a site")
    classes = {name for text in texts for value in re.findall(r'class="([^"]*)"', text) for name in value.split()}
    bar = 4000 * count / 150
    yield Row("soup_pages_classes", len(classes), "classes", bar, len(classes) > bar, condition=f"in {count} pages")
    yield from statistics_rows([figures(text) for text in texts], documents(20 if quick else 120))
    for size, bar, many in (("small", 1000, 400), ("large", 100, 40)):
        for sites, word in ((many // 5, "five pages a site"), (many, "a site for every page")):
            rate = max(speed(size, many, sites) for _ in range(3))
            yield Row(
                f"soup_pages_{size}_{'shared' if sites < many else 'alone'}",
                rate,
                "pages/s",
                bar,
                rate >= bar,
                condition=f"CPU time, best of 3, {word}; without the drawing of tasks",
            )


def documents(most: int) -> list[Figures]:
    """The figures of documentation that is installed here."""
    pages = [file for file in files() if 10_000 <= file.stat().st_size <= 1_200_000]
    return [figures(file.read_bytes().decode("utf-8", "replace")) for file in pages[:: len(pages) // most + 1]]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="under a minute: the same rows, wider intervals")
    parser.add_argument("--json", type=Path, help="also write the rows here")
    parser.add_argument("--pages", type=Path, help="only print the figures of the pages in this folder")
    options = parser.parse_args()
    if options.pages:
        for name, value in summary(folder(options.pages)).items():
            print(f'    "{name}": {value:.4g},')
    else:
        report(rows(options.quick), options.json)
