"""The two tools: a program run beside the page, and a step to another page. Both take effect at once."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from whet.envs.soup1.prompt import constraints
from whet.keys import seed_for
from whet.sandbox.jobs import MIB, Limits, run_python
from whet.types import Task, ToolSpec, Work, WorkResult

GIVEN, SEEN = "given.json", "seen.json"
"""What the program around the policy's finds and what it leaves: see `runner.py`."""

_ENDED = {
    "deadline": "TIMEOUT: the program was stopped after {wall:g} s.",
    "memory": "OUT OF MEMORY: the program was stopped.",
    "output": "TOO MUCH OUTPUT: the program was stopped.",
    "killed": "KILLED: the program was stopped by the system.",
    "refused": "NOT RUN: {detail}.",
}


def _takes(name: str, about: str) -> dict[str, Any]:
    properties = {name: {"type": "string", "description": about}}
    return {"type": "object", "properties": properties, "required": [name], "additionalProperties": False}


TOOLS = (
    ToolSpec(
        "run_python",
        "Run a Python program with HTML, QUERY, CONSTRAINTS and make_soup in scope; returns what it prints.",
        _takes("code", "the program"),
    ),
    ToolSpec(
        "navigate",
        "Open another page of the site; HTML is that page from then on.",
        _takes("href", "the href of a link"),
    ),
)


@dataclass(slots=True)
class FirstSoupAttempt:
    """Where an attempt stands: the page it is on, the calls it made, and what was seen of BeautifulSoup."""

    task: Task
    html: str = ""
    ran: int = 0
    moved: int = 0
    other: int = 0
    """Calls that are neither: unknown tools, arguments of the wrong type."""
    made: bool = False
    found: bool = False
    read: bool = False
    visited: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.html = self.task.data["html"]

    @property
    def calls(self) -> int:
        return self.ran + self.moved + self.other

    @property
    def used_soup(self) -> bool:
        """A soup was made of the page, and something came out of it."""
        return self.made and (self.found or self.read)


def program(attempt: FirstSoupAttempt, code: str, limits: Limits) -> Work:
    """The job that runs a policy's program on the page that is open now."""
    data = attempt.task.data
    given = {
        "html": attempt.html,
        "query": data["query"],
        "constraints": constraints(attempt.task.label.kind),
        "code": code,
        "seal": _seal(attempt),
    }
    try:
        text = orjson.dumps(given).decode()
    except (TypeError, ValueError):
        text = "\ud800"  # the code is not valid Unicode; the sandbox refuses it by name
    return run_python(_runner(), files={GIVEN: text}, limits=limits, collect=[SEEN])


def sandbox_limits(seconds: float, output: int) -> Limits:
    return Limits(wall=seconds, cpu=seconds, memory=768 * MIB, output=output)


def told(attempt: FirstSoupAttempt, result: WorkResult, limits: Limits) -> str:
    """What the policy reads of a run; what was seen goes into the attempt."""
    value: Mapping[str, Any] = result.value if isinstance(result.value, Mapping) else {}
    _note(attempt, value.get("files") or {})
    lines = []
    if result.error:
        ended = _ENDED.get(result.error, f"NOT RUN: {result.error}.")
        lines.append(ended.format(wall=limits.wall, detail=result.detail))
    for name in ("stdout", "stderr"):
        if value.get(name):
            lines.append(f"{name.upper()}:\n{value[name].rstrip()}")
    if value.get("truncated"):
        lines.append(f"(output cut after {limits.output:,} characters)")
    if not result.error and value.get("exit_code"):
        lines.append(f"exit code {value['exit_code']}")
    return "\n".join(lines) or "(no output: print what you want to see)"


def navigate(attempt: FirstSoupAttempt, href: str) -> str:
    """Moves the attempt to the page that `href` names and says so."""
    pages: Mapping[str, str] = attempt.task.data["pages"]
    if not pages:
        return "Error: this site has only the page that is open."
    for name in _spellings(href.strip()):
        if name in pages:
            attempt.html = pages[name]
            attempt.visited.append(name)
            return f"Opened {name}. HTML is now that page."
    return f"Error: there is no page {href.strip()[:200]!r}. The page that was open still is."


def _spellings(href: str) -> list[str]:
    """The href as it stands, with or without a slash before it, then without query, then without fragment."""
    bare = href.partition("#")[0]
    forms = []
    for text in (href, bare, bare.partition("?")[0]):
        forms += [text, text.removeprefix("/"), f"/{text}", text.removesuffix("/")]
    return [form for form in forms if form]


def _note(attempt: FirstSoupAttempt, files: Mapping[str, str]) -> None:
    try:
        seen = orjson.loads(files.get(SEEN, ""))
    except orjson.JSONDecodeError:
        return
    if isinstance(seen, dict) and seen.get("seal") == _seal(attempt):
        attempt.made |= seen.get("made") is True
        attempt.found |= seen.get("found") is True
        attempt.read |= seen.get("read") is True


def _seal(attempt: FirstSoupAttempt) -> str:
    """A word that a program which writes the file of what was seen itself would have to know."""
    return f"{seed_for('soup seal', attempt.task.id, attempt.task.data['query'], attempt.calls):x}"


@functools.cache
def _runner() -> str:
    return Path(__file__).with_name("runner.py").read_text("utf-8")
