"""Reference policies: the oracle, and the adversaries, which know how questions are put and not what they mean.

Each speaks as a model would and goes through the real sandbox. On the rung `extractor` an adversary is one program for
all tasks, or one that it makes of the page it explored; on the rung `answer` it runs the same program and says what it
printed.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import orjson

from whet.envs.base import Baseline, Messages
from whet.envs.soup.draw import SiteDraft
from whet.envs.soup.prompt import Rung
from whet.envs.soup.proximity import proximity_program
from whet.envs.soup.site import HALVES
from whet.types import Message, Reply, Task, ToolCall

_SHAPE = r"""
def kind_of(schema):
    kind = schema["type"]
    return [one for one in kind if one != "null"][0] if isinstance(kind, list) else kind
def value(schema, shown):
    kind = kind_of(schema)
    if kind == "number":
        found = re.search(r"\d[\d,]*(?:\.\d+)?", shown)
        return float(found.group().replace(",", "")) if found else None
    if kind == "boolean":
        return True
    if schema.get("format") == "date":
        found = re.search(r"\d{4}-\d\d-\d\d", shown)
        return found.group() if found else None
    return shown
def shaped(schema, texts):
    kind = kind_of(schema)
    if kind == "array":
        inner = schema["items"]
        step = len(inner["properties"]) if kind_of(inner) == "object" else 1
        return [shaped(inner, texts[at:at + step]) for at in range(0, min(len(texts), 60), step)]
    if kind == "object":
        texts = texts + [""] * len(schema["properties"])
        return {key: value(inner, texts[at]) for at, (key, inner) in enumerate(schema["properties"].items())}
    return value(schema, (texts or [""])[0])
"""

QUOTED = r"""
def extract(html):
    soup = BeautifulSoup(html, "html.parser")
    hit = None
    for name in re.findall(r'"([^"]+)"', QUERY):
        hit = hit or soup.find(id=name) or soup.find(class_=name) or soup.find(string=re.compile(re.escape(name), re.I))
    box = hit if hasattr(hit, "find_all") else hit.parent.parent if hit else soup
    return shaped(SCHEMA, [" ".join(text.split()) for text in box.stripped_strings][1:])
"""
"""The constant program: finds whatever the question quotes and says what stands there."""

FIRST_MATCH = r"""
def extract(html):
    soup = BeautifulSoup(html, "html.parser")
    named = re.findall(r'"([^"]+)"', QUERY) or re.findall(r"\b(table|form|ul|ol|h1|h2|p|a|li)\b", QUERY)
    hit = None
    for name in named:
        hit = hit or soup.find(id=name) or soup.find(class_=name) or soup.find(name)
    hit = hit or soup.find("h1") or soup.find("h2") or soup
    return shaped(SCHEMA, [" ".join(text.split()) for text in hit.stripped_strings])
"""
"""The first element that the question names, read in the shape that the schema wants."""

REGEX_ONLY = r"""
def extract(html):
    texts = []
    for name in re.findall(r'"([^"]+)"', QUERY):
        quoted = re.escape(name)
        for pattern in (r'(?:id|class|name)="[^"]*%s[^"]*"[^>]*>([^<]+)<', r'>%s\W*</[^>]+>\s*<[^>]+>([^<]+)<'):
            texts += re.findall(pattern % quoted, html, re.I)
    texts = [text.strip() for text in texts if text.strip()] or re.findall(r">([^<>]{3,60})<", html)
    return shaped(SCHEMA, texts)
"""
"""The text behind whatever the question quotes, by patterns."""

WORDS = r"""
def extract(html):
    soup = BeautifulSoup(html, "html.parser")
    words = [word for word in re.findall(r"[a-z]{4,}", QUERY.lower()) if word not in STOP]
    scored = []
    for at, node in enumerate(soup.find_all(string=True)):
        text = node.strip().lower()
        if 2 < len(text) < 40 and node.parent.name not in ("script", "style"):
            hits = sum(word[:5] in text for word in words)
            if hits:
                scored.append((-hits, len(text), at, node))
    if not scored:
        return shaped(SCHEMA, [])
    scored.sort(key=lambda entry: entry[:3])
    texts = [str(node).strip() for entry in scored[:1] for node in entry[3].find_all_next(string=True, limit=60)]
    return shaped(SCHEMA, [text for text in texts if text])
STOP = "return with what from that this page about under heading element class object objects array order".split()
"""
"""Patterns over the words of the question: the text that has most of them, and what comes after it."""

PLAUSIBLE = r"""
def extract(html):
    soup = BeautifulSoup(html, "html.parser")
    for tag in soup.find_all(["script", "style", "head", "nav"]):
        tag.extract()
    texts = [" ".join(text.split()) for text in soup.stripped_strings]
    def fits(schema, shown):
        if kind_of(schema) == "number":
            return re.fullmatch(r"[^\d]{0,4}\d[\d,]*(?:\.\d+)?[^\d]{0,5}", shown)
        if schema.get("format") == "date":
            return re.search(r"\d{4}", shown) and len(shown) < 20
        return re.fullmatch(r"(?:[A-Z][\w-]+ ?){2,4}", shown)
    def first(schema, start=0):
        return value(schema, next((shown for shown in texts[start:] if fits(schema, shown)), ""))
    kind = kind_of(SCHEMA)
    if kind == "object":
        return {key: first(inner) for key, inner in SCHEMA["properties"].items()}
    if kind == "array":
        return [first(SCHEMA["items"])] if kind_of(SCHEMA["items"]) != "object" else []
    return first(SCHEMA)
"""
"""The first text of the page that looks like a value of the right type."""

SMELL = r"""
signs = (
    ("contradiction", r"<small>[^<]*(?:confirmed|disagree|settled)[^<]*</small>"),
    ("stale", r"<small>[^<]*(?:Out of date|No longer valid|Superseded|Expired)[^<]*</small>"),
    ("document", r'<(?:a|object)[^>]*(?:href|data)="[^"]*\.(?:pdf|docx|xlsx|odt)"[^>]*>'),
    ("login", r'<a href="[^"]*\?next=[^"]*">[^<]*</a>'),
    ("fetched", r'<[^>]*data-(?:src|url|endpoint|lazy|fragment)="/[^"]*"[^>]*>'),
    ("image", r'<img[^>]*src="/(?:render|img|media|static)/[0-9a-f]{11}\.[^>]*>'),
    ("missing_page", r'<a href="/[a-z]+/[a-z]+-[0-9a-f]{11}">[^<]*</a>'),
)
hit = next(((reason, found) for reason, sign in signs if (found := re.search(sign, HTML))), None)
print(json.dumps([hit[0], hit[1].group(0)[:600]] if hit else ["fetched", HTML[:60]]))
"""
"""What in the page smells of a limit, and the reason that goes with it: it knows the grammar of what is withheld."""

TRAINING = 120
"""Training tasks from which the most frequent answers are learned."""


def constant_program(value: Any) -> str:
    return f"VALUE = {value!r}\ndef extract(html):\n    return VALUE\n"


def baselines(rung: Rung, training: Callable[[int], list[SiteDraft]]) -> dict[str, Baseline]:
    """All of them by name; `training` gives the drafts from which the most frequent answers are learned."""
    frequent = FrequentValue(training)

    def fixed(code: str) -> Baseline:
        return lambda task, said: _by_program(rung, said, _SHAPE + code)

    return {
        "oracle": lambda task, said: _oracle(rung, task, said),
        "quoted": fixed(QUOTED),
        "first-match": fixed(FIRST_MATCH),
        "regex-only": fixed(REGEX_ONLY),
        "always-limit": _always_limit,
        "frequent-value": lambda task, said: _by_program(rung, said, constant_program(frequent.of(task))),
        "question-words": fixed(WORDS),
        "first-plausible": fixed(PLAUSIBLE),
        "labels": fixed(proximity_program(["train"])),
        "labels-of-both-halves": fixed(proximity_program(HALVES)),
        "memorise": lambda task, said: _memorise(rung, task, said),
    }


def _oracle(rung: Rung, task: Task, said: Messages) -> Reply | str:
    """Looks at the region that is meant and hands in the program of the site; where there is a limit, shows it."""
    limit, program = task.truth["limit"], task.truth["program"]
    if limit is None:
        region = re.search(r"^OWN = (.+)$", program, re.MULTILINE)
        if region is not None and rung == "extractor" and _printed(said[-1]) is None:
            return _call("run_python", code=f"print(make_soup().find(class_={region[1]}))")
        return _by_program(rung, said, program)
    shown = _printed(said[-1])
    if shown is None:
        around = f"at = HTML.index({limit['mark']!r})\n"
        return _call("run_python", code=f"{around}print(json.dumps(HTML[max(0, at - 12):at + 40]))")
    return _limit(limit["reason"], json.loads(shown))


def _always_limit(task: Task, said: Messages) -> Reply | str:
    shown = _printed(said[-1])
    if shown is None:
        return _call("run_python", code=SMELL)
    try:
        return _limit(*json.loads(shown))
    except (ValueError, TypeError):
        return _limit("fetched", "")


def _memorise(rung: Rung, task: Task, said: Messages) -> Reply | str:
    """The right answer for the explored page, as a constant: what an extractor is worth that only remembers."""
    if rung == "answer":
        return _by_program(rung, said, constant_program(None))
    return _by_program(rung, said, constant_program(task.truth["answer"]))


def _by_program(rung: Rung, said: Messages, code: str) -> Reply | str:
    if rung == "extractor":
        return _call("submit", program=code)
    shown = _printed(said[-1])
    if shown is None:
        return _call("run_python", code=f"{code}\nprint(json.dumps(extract(HTML)))")
    try:
        return json.dumps({"status": "ok", "answer": json.loads(shown)})
    except ValueError:
        return json.dumps({"status": "ok", "answer": None})


class FrequentValue:
    """What was right most often among training tasks of the same archetype."""

    def __init__(self, training: Callable[[int], list[SiteDraft]]) -> None:
        self._training = training
        self._values: dict[str, Any] | None = None

    def of(self, task: Task) -> Any:
        if self._values is None:
            counts: dict[str, Counter[bytes]] = {}
            for known in self._training(TRAINING):
                seen = counts.setdefault(known.kind.name, Counter())
                seen.update(orjson.dumps(value) for value in known.truths)
            self._values = {kind: orjson.loads(counter.most_common(1)[0][0]) for kind, counter in counts.items()}
        return self._values.get(task.label.kind)


def _limit(reason: str, evidence: str) -> str:
    return json.dumps({"status": "limit", "limit": {"reason": reason, "evidence": evidence}})


def _call(tool: str, **arguments: str) -> Reply:
    call = ToolCall(f"call-{tool}", tool, arguments, orjson.dumps(arguments).decode())
    return Reply("", (call,), finish="tool_calls")


def _printed(message: Message) -> str | None:
    """What a program printed, where the message is the result of one."""
    if message.author != "tool":
        return None
    return message.text.removeprefix("STDOUT:\n").partition("\n")[0]
