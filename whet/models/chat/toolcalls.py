"""Reading tool calls: a call is sound, or it is malformed in a named way. Nothing is ever repaired.

A call that was mended by guesswork would run something that the model did not write, and its habit would go unseen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from whet.models.base import Request
from whet.types import MalformedCall, MalformedKind, Reply, ToolCall, ToolSpec


@dataclass(frozen=True, slots=True)
class ReplyCalls:
    """The tool calls in one reply, sound and malformed ones, each in the order in which the model wrote them."""

    calls: tuple[ToolCall, ...] = ()
    malformed: tuple[MalformedCall, ...] = ()


class CallProblem(Exception):
    """Why a call cannot be run; `problem` is a sentence for the model."""

    def __init__(self, kind: MalformedKind, problem: str) -> None:
        super().__init__(problem)
        self.kind: MalformedKind = kind
        self.problem = problem


@dataclass(frozen=True, slots=True)
class CallReader:
    """Reads the calls of one reply. `cut`: the reply ended at the limit of `limit` tokens."""

    specs: Mapping[str, ToolSpec]
    cut: bool
    limit: int
    prefix: str
    """Begins the ids of calls that came without one."""

    @classmethod
    def of(cls, request: Request, cut: bool) -> CallReader:
        specs = {spec.name: spec for spec in request.tools}
        return cls(specs, cut, request.sampling.max_tokens, f"call_{len(request.messages)}")

    def native(self, wired: Sequence[Any]) -> ReplyCalls:
        """The calls in a server's `tool_calls`."""
        calls: list[ToolCall] = []
        malformed: list[MalformedCall] = []
        taken: set[str] = set()
        for position, call in enumerate(wired):
            fields = call if isinstance(call, dict) else {}
            function = fields.get("function")
            function = function if isinstance(function, dict) else {}
            name, written = function.get("name"), function.get("arguments")
            name = name if isinstance(name, str) else ""
            raw = written if isinstance(written, str) else "" if written is None else orjson.dumps(written).decode()
            call_id = fields.get("id")
            if not isinstance(call_id, str) or not call_id or call_id in taken:
                call_id = f"{self.prefix}_{position}"
            taken.add(call_id)
            try:
                calls.append(ToolCall(call_id, name, self._arguments(name, raw), raw))
            except CallProblem as broken:
                malformed.append(MalformedCall(call_id, name, raw, broken.kind, broken.problem))
        return ReplyCalls(tuple(calls), tuple(malformed))

    def _arguments(self, name: str, raw: str) -> Mapping[str, Any]:
        if self.cut and incomplete(raw):
            raise CallProblem("cut_off", self.cut_problem(f"the arguments of {name!r} were complete"))
        spec = self.spec(name)
        # A server may send nothing for a call without arguments; where some are required, the check below says so.
        arguments = parsed(raw, f"the arguments of {name!r}") if raw.strip() else {}
        return checked(arguments, spec)

    def spec(self, name: str) -> ToolSpec:
        if name not in self.specs:
            known = ", ".join(self.specs) or "none"
            raise CallProblem("unknown_tool", f"There is no tool named {name!r}. The tools are: {known}.")
        return self.specs[name]

    def cut_problem(self, before: str) -> str:
        return (
            f"Your reply was cut off by the limit of {self.limit} tokens before {before}, so nothing was run. "
            "Send the call again and keep it short: less text before it, shorter code, no comments."
        )


def safe_name(name: str) -> str:
    """The name of a malformed call as every server takes it in a conversation."""
    return _ODD.sub("_", name)[:64] or "unknown"


_ODD = re.compile(r"[^A-Za-z0-9_-]")


def incomplete(text: str) -> bool:
    """Whether `text` begins like JSON and stops before it is closed."""
    depth, quoted, escaped = 0, False, False
    for character in text:
        if escaped:
            escaped = False
        elif quoted:
            escaped = character == "\\"
            quoted = character != '"'
        elif character == '"':
            quoted = True
        elif character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
    blank = not text.strip()
    return blank or (text.lstrip()[0] in '{["' and (quoted or depth > 0))


def parsed(raw: str, what: str) -> Any:
    """`raw` as JSON, or `CallProblem` with what is wrong with it."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        raise diagnosis(raw, what) from None


_CODE = re.compile(
    r"^\s*(```|#!|import [\w., ]+$|from [\w.]+ import |(async )?def \w+\(|class \w+[(:]|for \w[\w, ]* in .*:|"
    r"(if|while|with|elif|except)\b.*:\s*$|(try|else):|return\b|[\w.]+(\[[^\]]*\])? ?[-+*/]?= ?[^=\s]|[\w.]+\(|@\w+|"
    r"(const|let|var) \w+ ?=|function \w*\(|#include\b|SELECT\b.*\bFROM\b)",
    re.MULTILINE,
)


def diagnosis(raw: str, what: str) -> CallProblem:
    """The kind of JSON trouble in `raw`, with a remedy that fits it."""
    if raw.strip()[:1] not in ("{", "[", '"') and _CODE.search(raw):
        return CallProblem(
            "raw_code",
            f"You wrote code where JSON was expected: {what} must be one JSON object. Give the code as a string value "
            r"in it, with \n for a line break.",
        )
    complaint, place = json_complaint(raw)
    if "escape" in complaint or "control character" in complaint:
        return CallProblem(
            "bad_escape",
            f"In {what} a string is escaped wrongly ({complaint} at character {place}). Inside a JSON string write "
            r"a line break as \n, a quote as \" and a backslash as \\.",
        )
    complaint = "it ends before it is closed" if incomplete(raw) else complaint
    return CallProblem(
        "bad_json",
        f"{what[:1].upper()}{what[1:]} are not valid JSON: {complaint} (character {place}). Send the call again as one "
        "JSON object with names and strings in double quotes.",
    )


def json_complaint(raw: str) -> tuple[str, int]:
    """What is wrong with `raw` and where, in the standard library's words: they stay the same between versions."""
    try:
        json.loads(raw)
    except json.JSONDecodeError as error:
        return error.msg.removesuffix(" at"), error.pos
    except RecursionError:
        return "it is nested too deeply", 0
    if half := re.search(r"\\u[dD][89a-fA-F]", raw):
        return "half of a surrogate pair as \\u escape", half.start()
    return "a number is out of range", 0


_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def checked(arguments: Any, spec: ToolSpec) -> dict[str, Any]:
    """`arguments` where they are an object with the required members and of the declared types, else `CallProblem`."""
    if not isinstance(arguments, dict):
        raise CallProblem(
            "bad_arguments",
            f"The arguments of {spec.name!r} must be a JSON object, not {_json_type(arguments)}.",
        )
    members = spec.parameters.get("properties", {})
    missing = [name for name in spec.parameters.get("required", ()) if name not in arguments]
    if missing:
        raise CallProblem("bad_arguments", f"The call of {spec.name!r} lacks {', '.join(map(repr, missing))}.")
    if spec.parameters.get("additionalProperties") is False:
        unknown = [name for name in arguments if name not in members]
        if unknown:
            known = ", ".join(map(repr, members)) or "no arguments"
            raise CallProblem(
                "bad_arguments", f"{spec.name!r} does not take {', '.join(map(repr, unknown))}; it takes {known}."
            )
    for name, value in arguments.items():
        schema = members.get(name)
        wanted = schema.get("type") if isinstance(schema, Mapping) else None
        allowed = [wanted] if isinstance(wanted, str) else wanted or []
        if allowed and not any(_is(value, kind) for kind in allowed):
            raise CallProblem(
                "bad_arguments",
                f"{name!r} of {spec.name!r} must be of type {' or '.join(allowed)}, not {_json_type(value)}.",
            )
    return arguments


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean" or kind not in _TYPES
    return kind not in _TYPES or isinstance(value, _TYPES[kind])


def _json_type(value: Any) -> str:
    return next(name for name in ("boolean", *_TYPES) if _is(value, name))


def demanded(reply: Reply, request: Request) -> Reply:
    """`reply`, with a complaint where a call was demanded and none was even tried."""
    if not (request.must_call and request.tools) or reply.calls or reply.malformed or reply.finish == "filter":
        return reply
    names = ", ".join(spec.name for spec in request.tools)
    if reply.truncated:
        problem = CallReader.of(request, cut=True).cut_problem("a tool was called")
        return replace(reply, malformed=(MalformedCall("", "", "", "cut_off", problem),))
    problem = f"Your reply calls no tool, so nothing was run. Answer by calling one of: {names}."
    return replace(reply, malformed=(MalformedCall("", "", "", "prose", problem),))
