"""The tools: a program that looks at the page, and the extractor that is handed in. Jobs as data, and what is told."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from whet.envs.soup.reply import DEEPEST, decoded, depth
from whet.sandbox.jobs import MIB, Limits, run_python
from whet.types import ToolSpec, Work, WorkResult

GIVEN, RESULTS = "given.json", "results.json"
"""What the program around the policy's finds and what it leaves: see `runner.py`."""

_ENDED = {
    "deadline": "TIMEOUT: stopped after {wall:g} s.",
    "memory": "OUT OF MEMORY: stopped.",
    "output": "TOO MUCH OUTPUT: stopped.",
    "killed": "KILLED by the system.",
    "refused": "NOT RUN: {detail}.",
}


def _tool(name: str, about: str, takes: str, what: str) -> ToolSpec:
    properties = {takes: {"type": "string", "description": what}}
    return ToolSpec(
        name,
        about,
        {"type": "object", "properties": properties, "required": [takes], "additionalProperties": False},
    )


LOOK = _tool("run_python", "Run a program beside the page; returns what it prints.", "code", "the program")
SUBMIT = _tool("submit", "Hand in the extractor. This ends the task.", "program", "the program")
ARGUMENT = {"run_python": "code", "submit": "program"}


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page as programs get it, with the pages that its links lead to."""

    html: str
    links: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PageOutput:
    """What an extractor made of one page: a value, or why there is none."""

    value: Any = None
    error: str = ""


def limits_of(seconds: float, output: int) -> Limits:
    return Limits(wall=seconds, cpu=seconds, memory=1024 * MIB, output=output)


def look(code: str, page: WebPage, query: str, schema: Any, limits: Limits) -> Work:
    """The job that runs a program on the page that is shown."""
    return _job(code, [page], query, schema, limits, 0)


def submission(code: str, pages: Sequence[WebPage], query: str, schema: Any, limits: Limits) -> Work:
    """The job that runs an extractor on every page, each in a process of its own."""
    return _job(code, pages, query, schema, limits, len(pages))


def _job(code: str, pages: Sequence[WebPage], query: str, schema: Any, limits: Limits, processes: int) -> Work:
    given = {
        "code": code,
        "pages": [{"html": page.html, "links": dict(page.links)} for page in pages],
        "query": query,
        "schema": schema,
        "seconds": max(1.0, 0.9 * limits.wall / len(pages)),
    }
    try:
        text = orjson.dumps(given).decode()
    except (TypeError, ValueError):
        text = "\ud800"  # the code is not valid Unicode; the sandbox refuses it by name
    files = {GIVEN: text}
    return run_python(_runner(), files=files, stdin=f"{processes}\n", limits=limits, collect=[RESULTS])


def told(result: WorkResult, limits: Limits) -> str:
    """What the policy reads of a program that looked."""
    value: Mapping[str, Any] = result.value if isinstance(result.value, Mapping) else {}
    lines = [ended(result, limits)] if result.error else []
    lines += [f"{name.upper()}:\n{value[name].rstrip()}" for name in ("stdout", "stderr") if value.get(name)]
    if value.get("truncated"):
        lines.append(f"(output cut after {limits.output:,} characters)")
    if not result.error and value.get("exit_code"):
        lines.append(f"exit code {value['exit_code']}")
    return "\n".join(lines) or "(no output: print what you want to see)"


def ended(result: WorkResult, limits: Limits) -> str:
    """How a job ended that did not run to its end."""
    return _ENDED.get(result.error, f"NOT RUN: {result.error}.").format(wall=limits.wall, detail=result.detail)


def outputs(result: WorkResult, count: int, limits: Limits) -> list[PageOutput]:
    """What the extractor made of each page; where the job as a whole came to nothing, that is why."""
    value: Mapping[str, Any] = result.value if isinstance(result.value, Mapping) else {}
    try:
        found = orjson.loads((value.get("files") or {}).get(RESULTS, ""))
    except orjson.JSONDecodeError:
        found = None
    if not isinstance(found, list) or len(found) != count:
        why = ended(result, limits) if result.error else "the program ended without results"
        return [PageOutput(error=why)] * count
    return [_output(said) for said in found]


def _output(said: Any) -> PageOutput:
    if not isinstance(said, dict) or not isinstance(said.get("value"), str):
        return PageOutput(error=str(said.get("error", "no result"))[:300] if isinstance(said, dict) else "no result")
    try:
        value = decoded(said["value"])
    except ValueError as problem:
        return PageOutput(error=f"not JSON: {problem}"[:300])
    return PageOutput(error="nested too deep") if depth(value) > DEEPEST else PageOutput(value)


@functools.cache
def _runner() -> str:
    return Path(__file__).with_name("runner.py").read_text("utf-8")
