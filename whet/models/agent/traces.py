"""What coding agents print: JSON lines of their own, from which answer, usage and trace are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import orjson

from whet.types import Usage

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class AgentReport:
    """What an agent made known. `answer` is None where it gave none; `problem` is what it says went wrong.

    `limit` names a limit of its own that it ran into, such as its turns.
    """

    answer: str | None = None
    usage: Usage = Usage(calls=1, usd=None)
    trace: tuple[Mapping[str, Any], ...] = ()
    problem: str = ""
    limit: str = ""
    version: str = ""


class OutputFormat(Protocol):
    """Reads standard output, and the answer file where the command wrote one."""

    def read(self, stdout: str, answer_file: str | None) -> AgentReport: ...


class PlainOutput:
    """Any command: what it printed is the answer. With a file for the answer, that file is, and the print a trace."""

    def read(self, stdout: str, answer_file: str | None) -> AgentReport:
        if answer_file is None:
            return AgentReport(stdout.strip() or None)
        return AgentReport(answer_file.strip() or None, trace=tuple(events(stdout)))


class CodexEvents:
    """`codex exec --json`: the last message of the agent is the answer; usage adds up over turns."""

    def read(self, stdout: str, answer_file: str | None) -> AgentReport:
        trace = tuple(events(stdout))
        answer, problem = None, ""
        usage = Usage(calls=1, usd=None)
        for event in trace:
            item = _object(event, "item")
            kind = item.get("type") or item.get("item_type")
            if event.get("type") == "item.completed" and kind in ("agent_message", "assistant_message"):
                answer = str(item.get("text", ""))
            elif event.get("type") == "turn.completed":
                usage += _usage(_object(event, "usage"), "cached_input_tokens", apart=False)
            elif event.get("type") in ("turn.failed", "error"):
                problem = str(_object(event, "error").get("message") or event.get("message") or event)
        return AgentReport(answer, usage, trace, problem)


class ClaudeEvents:
    """`claude -p --output-format stream-json`: its last event is the result, with what it cost."""

    def read(self, stdout: str, answer_file: str | None) -> AgentReport:
        trace = tuple(events(stdout))
        opened = next(
            (event for event in trace if event.get("type") == "system" and event.get("subtype") == "init"), {}
        )
        version = str(opened.get("model", ""))
        result = next((event for event in reversed(trace) if event.get("type") == "result"), None)
        if result is None:
            return AgentReport(trace=trace, version=version)
        counted = _usage(_object(result, "usage"), "cache_read_input_tokens", apart=True)
        cost = result.get("total_cost_usd")
        usd = float(cost) if isinstance(cost, int | float) else None
        usage = Usage(1, counted.prompt_tokens, counted.completion_tokens, counted.cached_tokens, usd)
        answer = result.get("result") if isinstance(result.get("result"), str) else None
        if result.get("subtype") == "error_max_turns":
            return AgentReport(None, usage, trace, limit="turn_limit", version=version)
        if result.get("is_error") or result.get("subtype", "success") != "success":
            return AgentReport(None, usage, trace, answer or str(result.get("subtype")), version=version)
        return AgentReport(answer, usage, trace, version=version)


def events(stdout: str) -> list[Json]:
    """The lines of an output as events; a line that is no JSON object is kept as text."""
    return [_event(line) for line in stdout.splitlines() if line.strip()]


def _event(line: str) -> Json:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        value = None
    return value if isinstance(value, dict) else {"type": "text", "text": line}


def _object(event: Mapping[str, Any], name: str) -> Json:
    value = event.get(name)
    return value if isinstance(value, dict) else {}


def _usage(told: Json, cached_name: str, *, apart: bool) -> Usage:
    """Tokens as an agent counts them; `apart`: cached ones are not part of the prompt's count."""
    names: Sequence[str] = ("input_tokens", cached_name, "cache_creation_input_tokens", "output_tokens")
    fresh, cached, written, completion = (told[name] if isinstance(told.get(name), int) else 0 for name in names)
    return Usage(0, fresh + (cached + written if apart else 0), completion, cached, None)
