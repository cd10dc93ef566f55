"""Records as JSON and back: the form in which the ledger and the readable files hold them. Defaults are left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from whet.types import (
    Example,
    Fault,
    Image,
    Label,
    MalformedCall,
    Message,
    Playbook,
    Reply,
    Rollout,
    Rule,
    Score,
    Ticket,
    ToolCall,
    ToolSpec,
    Turn,
    Usage,
)

Json = dict[str, Any]


def dumps(value: Any, *, pretty: bool = False) -> bytes:
    """JSON bytes with sorted keys; `pretty` is for files that a person opens."""
    options = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS
    if pretty:
        return orjson.dumps(value, option=options | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    return orjson.dumps(value, option=options)


_SAID = ("calls", "malformed", "call_id")
_REPLIED = ("calls", "malformed", "version", "reasoning", "prompt_ids", "completion_ids", "logprobs", "files", "trace")
_LEARNT = ("hindsight", "reminders", "nearest", "rules")


def _keep(data: Json, record: Any, names: tuple[str, ...]) -> None:
    """Adds the fields that say something: empty texts, tuples and mappings are the defaults of our records."""
    for name in names:
        value = getattr(record, name)
        if value:
            data[name] = dict(value) if name == "files" else value


def message_out(message: Message) -> Json:
    content: Any = message.content
    if not isinstance(content, str):
        content = [
            part if isinstance(part, str) else {"sha256": part.sha256, "type": part.media_type} for part in content
        ]
    data = {"author": message.author, "content": content}
    _keep(data, message, _SAID)
    return data


def message_in(data: Mapping[str, Any]) -> Message:
    content = data["content"]
    if not isinstance(content, str):
        content = tuple(part if isinstance(part, str) else Image(part["sha256"], part["type"]) for part in content)
    return Message(
        data["author"],
        content,
        tuple(ToolCall(**call) for call in data.get("calls", ())),
        tuple(MalformedCall(**bad) for bad in data.get("malformed", ())),
        data.get("call_id", ""),
    )


def usage_in(data: Mapping[str, Any]) -> Usage:
    return Usage(**data)


def reply_out(reply: Reply) -> Json:
    data = {"text": reply.text, "finish": reply.finish, "usage": reply.usage}
    _keep(data, reply, _REPLIED)
    return data


def reply_in(data: Mapping[str, Any]) -> Reply:
    return Reply(
        data["text"],
        tuple(ToolCall(**call) for call in data.get("calls", ())),
        tuple(MalformedCall(**bad) for bad in data.get("malformed", ())),
        data["finish"],
        usage_in(data["usage"]),
        data.get("version", ""),
        data.get("reasoning", ""),
        tuple(data.get("prompt_ids", ())),
        tuple(data.get("completion_ids", ())),
        tuple(data.get("logprobs", ())),
        data.get("files", {}),
        tuple(data.get("trace", ())),
    )


def example_out(example: Example) -> Json:
    data: Json = {"question": example.question, "answer": example.answer}
    if example.steps:
        data["steps"] = [message_out(step) for step in example.steps]
    _keep(data, example, ("kin",))
    return data


def example_in(data: Mapping[str, Any]) -> Example:
    steps = tuple(message_in(step) for step in data.get("steps", ()))
    return Example(data["question"], data["answer"], steps, tuple(data.get("kin", ())))


def playbook_out(playbook: Playbook) -> Json:
    examples = [example_out(example) for example in playbook.examples]
    data = {"body": playbook.body, "examples": examples, "files": dict(playbook.files)}
    _keep(data, playbook, _LEARNT)
    if playbook.bank:
        data["bank"] = [example_out(example) for example in playbook.bank]
    return data


def playbook_in(data: Mapping[str, Any]) -> Playbook:
    return Playbook(
        data.get("body", ""),
        tuple(example_in(example) for example in data.get("examples", ())),
        dict(data.get("files", {})),
        data.get("hindsight", ""),
        tuple(data.get("reminders", ())),
        tuple(example_in(example) for example in data.get("bank", ())),
        data.get("nearest", 0),
        tuple(rule_in(rule) for rule in data.get("rules", ())),
    )


def rule_in(data: Mapping[str, Any]) -> Rule:
    return Rule(**{**data, "evidence": tuple(data.get("evidence", ()))})


def outcome_out(outcome: Score | Fault) -> Json:
    return {"fault": outcome} if isinstance(outcome, Fault) else {"score": outcome}


def outcome_in(data: Mapping[str, Any]) -> Score | Fault:
    return Fault(**data["fault"]) if "fault" in data else Score(**data["score"])


def turn_out(turn: Turn) -> Json:
    data: Json = {
        "role": turn.role,
        "messages": [message_out(message) for message in turn.messages],
        "reply": reply_out(turn.reply),
    }
    if turn.tools is not None:
        data["tools"] = turn.tools
    if turn.prompt_ids or turn.kept:
        data["prompt_ids"], data["kept"] = turn.prompt_ids, turn.kept
    return data


def turn_in(data: Mapping[str, Any]) -> Turn:
    return Turn(
        data["role"],
        tuple(message_in(message) for message in data["messages"]),
        reply_in(data["reply"]),
        tuple(ToolSpec(**tool) for tool in data["tools"]) if "tools" in data else None,
        tuple(data.get("prompt_ids", ())),
        data.get("kept", 0),
    )


def rollout_out(rollout: Rollout) -> Json:
    return {
        "ticket": rollout.ticket,
        "label": rollout.label,
        "key": rollout.key,
        "request": rollout.request,
        "policy": rollout.policy,
        "turns": [turn_out(turn) for turn in rollout.turns],
        **outcome_out(rollout.outcome),
        "usage": rollout.usage,
        "seconds": rollout.seconds,
    }


def rollout_in(data: Mapping[str, Any]) -> Rollout:
    return Rollout(
        Ticket(**data["ticket"]),
        Label(**data["label"]),
        data["key"],
        data["request"],
        data["policy"],
        tuple(turn_in(turn) for turn in data["turns"]),
        outcome_in(data),
        usage_in(data["usage"]),
        data["seconds"],
    )
