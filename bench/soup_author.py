"""Worked attempts at `soup` that know nothing but what an attempt sees: the question, and what its own look printed.

The environment's oracle knows the classes of its site, those too that the explored page never shows, so its programs
cannot be learnt on easy tasks. The author looks at the region whose class the question names, reads the markup that
came back, and writes a short program of what stands there. What it brings along is language: which labels mean what is
asked, in the words of the half that is trained on. An attempt that does not earn full credit is not written down.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import orjson
from bs4 import BeautifulSoup, NavigableString, Tag

from whet.envs.base import Messages
from whet.envs.registry import load_environment
from whet.envs.soup.topics import DEVICE, JOB, ORDER, PRODUCT
from whet.files import write_atomically
from whet.rollout.chat import chat_record
from whet.rollout.drive import drive
from whet.rollout.workbench import Workbench
from whet.rollout.works import Works
from whet.sandbox.isolation import open_sandbox
from whet.types import Playbook, Reply, ToolCall

PART = 20
"""Attempts that a process makes before it tells of them."""
PRIMER = {
    r'text of the element with id "([^"]+)"': "return ' '.join(soup.find(id='{}').get_text().split())",
    r'text of the element with class "([^"]+)"': "return ' '.join(soup.find(class_='{}').get_text().split())",
    r'href of the link with class "([^"]+)"': "return soup.find('a', class_='{}')['href']",
    r"texts of the li elements": "return [' '.join(item.get_text().split()) for item in soup.find_all('li')]",
    r"How many li elements": "return len(soup.find_all('li'))",
}
"""What a question asks for outright, and the one line that it takes."""
WORDS: Mapping[str, tuple[str, ...]] = {
    asked: trait.labels["train"]
    for topic in (ORDER, PRODUCT, DEVICE, JOB)
    for trait in topic.traits
    for asked in trait.asks["train"]
}
"""The labels that mean what is asked, by the wording of the question."""
NUMBER = ("return float(re.sub('[^0-9.]', '', shown))",)
DAY = (
    "for form in ('%Y-%m-%d', '%d %B %Y', '%B %d, %Y', '%d %b %Y'):",
    "    try:",
    "        return datetime.strptime(shown.strip(), form).strftime('%Y-%m-%d')",
    "    except ValueError:",
    "        pass",
)


def author(said: Messages) -> Reply | None:
    """The next reply of an attempt of which this has been said; None where the author is at a loss."""
    question = next(message.text for message in said if message.author == "user")
    for pattern, line in PRIMER.items():
        if found := re.search(pattern, question):
            return _call("submit", program=_program(line.format(*found.groups())))
    own = re.search(r'class "([^"]+)"', question)
    if own is None:
        return None
    if said[-1].author != "tool":
        return _call("run_python", code=f"print(make_soup().find(class_='{own[1]}'))")
    written = from_markup(question, own[1], said[-1].text.removeprefix("STDOUT:\n"))
    return None if written is None else _call("submit", program=written)


def from_markup(question: str, own: str, markup: str) -> str | None:
    """A program for what is asked, of the markup that was seen."""
    box = BeautifulSoup(markup, "html.parser").find(class_=own)
    labels = next((labels for asked, labels in _longest_first() if asked in question), None)
    if not isinstance(box, Tag) or labels is None:
        return None
    day = '"format":"date"' in question
    meant = [label.casefold() for label in labels]
    found = _marked(box, meant) or _labelled(box, meant)
    if found is None:
        return None
    reading = DAY if day else NUMBER
    lines = [f"box = soup.find(class_='{own}')", *found(meant, reading)]
    return _program(*lines, before="from datetime import datetime\n" if day else "")


@functools.cache
def _longest_first() -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(sorted(WORDS.items(), key=lambda pair: -len(pair[0])))


def _program(*lines: str, before: str = "") -> str:
    inner = "".join(f"    {line}\n" for line in ("soup = BeautifulSoup(html, 'html.parser')", *lines))
    return f"{before}def extract(html):\n{inner}"


def _call(tool: str, **arguments: str) -> Reply:
    call = ToolCall(f"call-{tool}", tool, arguments, orjson.dumps(arguments).decode())
    return Reply("", (call,), finish="tool_calls")


# ---------------------------------------------------------------------------------------------- what was seen


def _bare(text: str) -> str:
    return " ".join(text.split()).rstrip(": ").casefold()


def _marked(box: Tag, meant: Sequence[str]) -> Any:
    """Labels that stand in an attribute of their values."""
    for value in box.find_all(True):
        for name, held in value.attrs.items():
            if isinstance(held, str) and name != "class" and _bare(held) in meant and (key := _own_class(box, value)):
                return lambda meant, reading: (
                    f"for value in box.find_all(class_='{key}'):",
                    f"    if value['{name}'].strip(': ').lower() in {list(meant)}:",
                    "        shown = value.get_text()",
                    *(f"        {line}" for line in reading),
                )
    return None


def _labelled(box: Tag, meant: Sequence[str]) -> Any:
    """Labels with an element of their own: within the value's, or beside it."""
    label = next((tag for tag in box.find_all(True) if not tag.find(True) and _bare(tag.get_text()) in meant), None)
    if label is None or label.parent is None:
        return None
    holder = label.parent
    if any(isinstance(part, NavigableString) and part.strip() for part in holder.children):
        return _within(box, holder, label)
    key = _own_class(box, label)
    group = _alike(box, label)
    others = [
        tag for tag in box.find_all(True) if tag.get("class") and _alike(box, tag) != group and not tag.find(True)
    ]
    value = next((tag for tag in others if len(_alike(box, tag)) == len(group) > 1), None)
    if value is None or not key or not (beside := _own_class(box, value)):
        return None
    return lambda meant, reading: (
        f"labels, values = box.find_all(class_='{key}'), box.find_all(class_='{beside}')",
        "for label, value in zip(labels, values):",
        f"    if label.get_text().strip(': ').lower() in {list(meant)}:",
        "        shown = value.get_text()",
        *(f"        {line}" for line in reading),
    )


def _within(box: Tag, holder: Tag, label: Tag) -> Any:
    key, cue = _own_class(box, holder), _own_class(box, label)
    if not key or not cue:
        return None
    return lambda meant, reading: (
        f"value = box.find(class_='{key}')",
        "if value is None:",
        "    return None",
        f"value.find(class_='{cue}').extract()",
        "shown = value.get_text()",
        *reading,
    )


def _alike(box: Tag, tag: Tag) -> list[int]:
    """The elements with the same classes, by identity."""
    return [id(other) for other in box.find_all(True) if other.get("class") == tag.get("class")]


def _own_class(box: Tag, tag: Tag) -> str:
    """A class that these elements have and no other of the region; of several the longest that is no variant."""
    alike = set(_alike(box, tag))
    known: set[str] = {
        str(name)
        for other in box.find_all(True)
        if id(other) not in alike
        for name in other.get_attribute_list("class")
    }
    names = [str(name) for name in tag.get_attribute_list("class") if name]
    return max((name for name in names if name not in known and ":" not in name), key=len, default="")


# ---------------------------------------------------------------------------------------------- into a file


@dataclass(frozen=True, slots=True)
class Worked:
    """How many attempts were written, of how many tasks."""

    count: int
    tasks: int


def write_attempts(out: Path, args: Mapping[str, Any], n: int, processes: int, *, weak: bool = False) -> Worked:
    """Attempts at the first `n` train tasks that earn full credit, as chat records."""
    parts = [range(start, min(n, start + PART)) for start in range(0, n, PART)]
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        lines = [line for part in pool.map(functools.partial(_part, dict(args), weak), parts) for line in part]
    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(out, b"".join(line + b"\n" for line in lines))
    return Worked(len(lines), n)


def _part(args: Mapping[str, Any], weak: bool, indices: Sequence[int]) -> list[bytes]:
    return [orjson.dumps(record) for record in attempts(args, indices, weak)]


def attempts(args: Mapping[str, Any], indices: Sequence[int], weak: bool = False) -> Iterator[dict[str, Any]]:
    """A chat record for each train task that the author solves; `weak`: also where programs cannot be isolated."""
    env = load_environment("soup", args)
    with Workbench(Works(lambda: open_sandbox(allow_weak=weak))) as bench:
        for index in indices:
            played = drive(env.play(env.task("train", index)), lambda said, asked: author(said) or "", bench, 4)
            if played.score.hard:
                yield chat_record(Playbook(), played.turns, task=f"train/{index}")
