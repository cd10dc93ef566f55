"""Reference policies: the oracle, and four that show what little skill earns.

Each is told the task and what was said so far, and speaks as a model would: a call, then a JSON object. What a program
printed is read from the conversation, so these policies go through the real sandbox.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import orjson

from whet.envs.base import Baseline, Messages
from whet.types import Message, Reply, Task, ToolCall

FIRST_MATCH = """
named = re.findall(r'"([^"]+)"', QUERY) or re.findall(r'\\b(table|form|select|ul|ol|h1|h2|p|a|li)\\b', QUERY)
soup = make_soup()
hit = None
for name in named:
    hit = hit or soup.find(id=name) or soup.find(class_=name) or soup.find(name)
hit = hit or soup.find("h1") or soup.find("p") or soup
def shaped(schema, node):
    kind = schema["type"]
    if kind == "array":
        return [shaped(schema["items"], one) for one in node.find_all(True, recursive=False)][:50]
    if kind == "object":
        return {key: shaped(inner, node) for key, inner in schema["properties"].items()}
    if kind == "integer":
        return len(node.find_all(True, recursive=False))
    if kind == "boolean":
        return True
    return node.get_text(" ", strip=True)[:2000]
print(json.dumps(shaped(CONSTRAINTS["output_schema"], hit)))
"""
"""The first element that anything quoted in the query names, read in the shape that the schema wants."""

REGEX_ONLY = """
texts = []
for name in re.findall(r'"([^"]+)"', QUERY):
    quoted = re.escape(name)
    for pattern in (r'(?:id|class|name)="?%s"?[^>]*>([^<]+)<', r'>%s</[^>]+>\\s*<[^>]+>([^<]+)<', r'<%s[^>]*>([^<]+)<'):
        texts += re.findall(pattern % quoted, HTML)
texts = [one.strip() for one in texts if one.strip()] or [one.strip() for one in re.findall(r'>([^<>]{3,})<', HTML)]
def shaped(schema):
    kind = schema["type"]
    if kind == "array":
        return [shaped(schema["items"])]
    if kind == "object":
        return {key: shaped(inner) for key, inner in schema["properties"].items()}
    if kind == "integer":
        return len(texts)
    return True if kind == "boolean" else (texts or [""])[0]
print(json.dumps(shaped(CONSTRAINTS["output_schema"])))
"""
"""The text behind anything quoted in the query, by patterns alone."""

ALWAYS_LIMIT = """
make_soup().find_all("script")
signs = (
    ("pdf_embed", r"<(?:embed|object|iframe)[^>]*>"),
    ("canvas_text", r"<canvas[^>]*>"),
    ("js_required", r"[^\\n]*(?:fetch|getElementById)\\([^\\n]*"),
    ("image_text", r"<img[^>]*>"),
    ("js_required", r"<script[^>]*>"),
)
reason, shown = next(((reason, found) for reason, sign in signs if (found := re.search(sign, HTML))), ("", None))
print(json.dumps([reason, shown.group(0)[:500] if shown else HTML[:60]]))
"""
"""What in the page smells of a limit, and the reason that goes with it."""

LOOK = "print(json.dumps(len(make_soup().find_all(True))))"
"""A program for the sake of having run one."""


def run(code: str) -> Reply:
    return _call("run_python", code=code)


def answer(value: Any) -> str:
    return json.dumps({"status": "ok", "answer": value})


def limit(reason: str, evidence: str) -> str:
    return json.dumps({"status": "limit", "limit": {"reason": reason, "evidence": evidence}})


def baselines(training: Callable[[], list[Task]]) -> dict[str, Baseline]:
    """All of them by name; `training` gives the tasks from which the most frequent answers are learned."""
    return {
        "oracle": oracle,
        "always-limit": always_limit,
        "regex-only": lambda task, said: _printed(said, REGEX_ONLY),
        "first-match": lambda task, said: _printed(said, FIRST_MATCH),
        "frequent": FrequentAnswer(training),
    }


def oracle(task: Task, said: Messages) -> Reply | str:
    """Runs the task's own programs, one on each page it needs, and goes where they say."""
    programs: list[str] = task.truth["code"]
    outputs = [found for found in map(_output, said) if found is not None]
    if outputs and "answer" in outputs[-1]:
        return answer(outputs[-1]["answer"])
    if outputs and "limit" in outputs[-1]:
        return limit(outputs[-1]["limit"]["reason"], outputs[-1]["limit"]["evidence"])
    if outputs and "go" in outputs[-1] and _output(said[-1]) is not None:
        return _call("navigate", href=outputs[-1]["go"])
    if len(outputs) >= len(programs):
        return answer(None)
    kept = [found.get("keep") for found in outputs]
    return run(f"KEPT = {kept!r}\n{programs[len(outputs)]}")


def always_limit(task: Task, said: Messages) -> Reply | str:
    shown = _stdout(said[-1])
    if shown is None:
        return run(ALWAYS_LIMIT)
    signs = _decoded(shown)
    return limit(signs[0], signs[1]) if isinstance(signs, list) else limit("js_required", "")


class FrequentAnswer:
    """Answers what was right most often among training tasks of the same archetype."""

    def __init__(self, training: Callable[[], list[Task]]) -> None:
        self._training = training
        self._answers: dict[str, Any] = {}

    def __call__(self, task: Task, said: Messages) -> Reply | str:
        if _stdout(said[-1]) is None:
            return run(LOOK)
        if not self._answers:
            self._learn()
        return answer(self._answers.get(task.label.kind))

    def _learn(self) -> None:
        counts: dict[str, Counter[bytes]] = {}
        for task in self._training():
            if "answer" in task.truth:
                counts.setdefault(task.label.kind, Counter())[orjson.dumps(task.truth["answer"])] += 1
        self._answers = {kind: orjson.loads(counter.most_common(1)[0][0]) for kind, counter in counts.items()}


def _printed(said: Messages, code: str) -> Reply | str:
    shown = _stdout(said[-1])
    return run(code) if shown is None else answer(_decoded(shown))


def _call(tool: str, **arguments: str) -> Reply:
    call = ToolCall(f"call-{tool}", tool, arguments, orjson.dumps(arguments).decode())
    return Reply("", (call,), finish="tool_calls")


def _stdout(message: Message) -> str | None:
    """What a program printed, where the message is the result of one; '' where it printed nothing."""
    if message.author != "tool" or message.text.startswith("Opened "):
        return None
    return message.text.removeprefix("STDOUT:\n") if message.text.startswith("STDOUT:\n") else ""


def _output(message: Message) -> dict[str, Any] | None:
    """The object that a program of the oracle printed."""
    shown = _stdout(message)
    value = _decoded(shown) if shown else None
    return value if isinstance(value, dict) else None


def _decoded(shown: str) -> Any:
    try:
        return json.loads(shown.partition("\n")[0])
    except ValueError:
        return None
