"""Results of verifiers, read and written: `results.jsonl` with `metadata.json` (v0), `traces.jsonl` (v1).

What is read becomes chat records as `whet export chat` writes them, so that both kinds of run are looked at alike. A
row that was not scored has an `error` and no reward: the v0 line writes 0.0 there.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import orjson

from whet.errors import WhetError
from whet.files import atomic_file, own_folder, write_atomically
from whet.ledger.store import Ledger
from whet.rollout.chat import ChatRecord
from whet.run.export import ChatFilter, chat_records
from whet.run.workspace import RUNS, find_run, records_of

V0_FILE, V0_ABOUT, V1_FILE = "results.jsonl", "metadata.json", "traces.jsonl"

Line = Literal["v0", "v1"]
Json = dict[str, Any]


def read_results(folder: Path) -> Iterator[ChatRecord]:
    """The rollouts of a folder that verifiers wrote, of either line."""
    for name, read in ((V1_FILE, _from_v1), (V0_FILE, _from_v0)):
        file = folder / name
        if file.is_file():
            return (read(row) for row in _rows(file))
    raise WhetError(f"{folder} holds neither {V1_FILE} nor {V0_FILE}: name the folder of a run of verifiers")


def convert_results(folder: Path, out: Path) -> str:
    """Writes what `read_results` reads as JSON lines; a line on how much that was."""
    scored = unscored = 0
    records = read_results(folder)
    with atomic_file(out) as file:
        for record in records:
            file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
            scored, unscored = scored + (record["reward"] is not None), unscored + (record["reward"] is None)
    return f"{out}: {scored + unscored:,} rollouts, {unscored:,} of them not scored"


def _rows(file: Path) -> Iterator[Json]:
    """The objects of a file of JSON lines. A last line without its end was being written when the run ended."""
    lines = file.read_bytes().split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError:
            if number == len(lines):
                return
            raise WhetError(f"{file}, line {number}: not JSON") from None
        if not isinstance(row, dict):
            raise WhetError(f"{file}, line {number}: not an object")
        yield row


def _from_v0(row: Json) -> ChatRecord:
    said = [*(row.get("prompt") or ()), *(row.get("completion") or ())]
    error = row.get("error")
    told = error.get("error_chain_repr") if isinstance(error, dict) else error
    return {
        "messages": [_plain(message) for message in said],
        "task": str(row.get("example_id", "")),
        "reward": None if error else row.get("reward"),
        "parts": dict(row.get("metrics") or {}),
        "truncated": bool(row.get("is_truncated")),
        "error": str(told or ""),
    }


def _from_v1(row: Json) -> ChatRecord:
    """The first trace of an episode, along the path that its last message ends."""
    traces = row.get("traces") or ()
    trace: Json = traces[0] if traces else {}
    nodes, path = trace.get("nodes") or [], []
    at = len(nodes) - 1 if nodes else None
    while at is not None:
        path.append(nodes[at]["message"])
        at = nodes[at].get("parent")
    rewards = {name: reward for name, reward in (trace.get("rewards") or {}).items() if reward}
    errors = [*(row.get("errors") or ()), *(trace.get("errors") or ())]
    ok = bool(row.get("ok"))
    task = row.get("task") or {}
    return {
        "messages": [_plain(message) for message in reversed(path)],
        "task": str(task.get("key") or (task.get("data") or {}).get("id") or (task.get("data") or {}).get("idx", "")),
        "reward": sum(r["score"] * r.get("weight", 1.0) for r in rewards.values()) if ok else None,
        "parts": {**{name: r["score"] for name, r in rewards.items()}, **_known(trace.get("metrics") or {})},
        "truncated": any(call.get("finish_reason") == "length" for call in trace.get("calls") or ()),
        "error": "" if ok else _error(errors),
    }


def _known(metrics: Mapping[str, float | None]) -> dict[str, float]:
    return {name: value for name, value in metrics.items() if value is not None}


def _error(errors: list[Json]) -> str:
    return f"{errors[-1].get('type')}: {errors[-1].get('message')}" if errors else "not scored"


def _plain(message: Json) -> Json:
    kept = {name: message[name] for name in ("role", "content", "tool_calls", "tool_call_id") if message.get(name)}
    return {"content": "", **kept}


# --------------------------------------------------------------------------------------------- what we write


def export_results(run: str | Path, out: Path, line: str = "v1", runs: Path = RUNS) -> int:
    """The graded rollouts of a run, but for reference policies, as a folder of that line. How many there are."""
    if line not in ("v0", "v1"):
        raise WhetError(f"line takes v0 or v1, not {line!r}")
    folder = find_run(run, runs)
    with records_of(folder), Ledger.read(folder) as ledger:
        purposes = ChatFilter().purposes(ledger.purposes())
        records = [record for record in chat_records(ledger, purposes) if record["messages"]]
    own_folder(out)
    return write_results(records, out, "v0" if line == "v0" else "v1", folder.name)


def write_results(records: Iterable[ChatRecord], out: Path, line: Line, name: str) -> int:
    kept = list(records)
    make = _to_v0 if line == "v0" else _to_v1
    with atomic_file(out / (V0_FILE if line == "v0" else V1_FILE)) as file:
        for number, record in enumerate(kept):
            file.write(orjson.dumps(make(number, record), option=orjson.OPT_APPEND_NEWLINE))
    if line == "v0":
        write_atomically(out / V0_ABOUT, orjson.dumps(_metadata(name, kept), option=orjson.OPT_INDENT_2))
    return len(kept)


def _split(record: ChatRecord) -> tuple[list[Json], list[Json]]:
    """What was said before the first reply, and from there on."""
    messages = [_wired(message) for message in record["messages"]]
    first = next((at for at, message in enumerate(messages) if message["role"] == "assistant"), len(messages))
    return messages[:first], messages[first:]


def _wired(message: Json) -> Json:
    return {name: value for name, value in message.items() if name != "malformed_calls"}


def _to_v0(number: int, record: ChatRecord) -> Json:
    prompt, completion = _split(record)
    hard = float(record["hard"])
    return {
        "example_id": number,
        "prompt": prompt,
        "completion": completion,
        "info": {"task": record["task"], "draw": record["draw"], "reason": record["reason"]},
        "reward": record["reward"],
        "error": None,
        "timing": {},
        "is_completed": True,
        "is_truncated": False,
        "stop_condition": record["reason"],
        "metrics": {"hard": hard},
        "tool_defs": None,
        "hard": hard,
    }


def _metadata(name: str, records: list[ChatRecord]) -> Json:
    rewards = [float(record["reward"]) for record in records]
    mean = sum(rewards) / len(rewards) if rewards else 0.0
    return {
        "env_id": name,
        "env_args": {},
        "model": records[0]["policy"] if records else "",
        "base_url": "",
        "num_examples": len({record["task"] for record in records}),
        "rollouts_per_example": 1 + max((int(record["draw"]) for record in records), default=0),
        "sampling_args": {},
        "time": time.time(),
        "avg_reward": mean,
        "avg_metrics": {"hard": sum(record["hard"] for record in records) / len(records) if records else 0.0},
        "avg_error": 0.0,
        "state_columns": [],
    }


def _to_v1(number: int, record: ChatRecord) -> Json:
    prompt, completion = _split(record)
    said = [_typed(message) for message in (*prompt, *completion)]
    key = f"{record['task']}#{record['draw']}"
    data = {"idx": number, "id": record["task"], "prompt": [_typed(message) for message in prompt]}
    task = {"type": "WhetTask", "data": data, "key": key}
    nodes = [
        {"parent": at - 1 if at else None, "message": message, "sampled": message["role"] == "assistant"}
        for at, message in enumerate(said)
    ]
    trace = {
        "task": task,
        "agent": {"config": {"model": record["policy"], "runtime": {"type": "subprocess"}}},
        "nodes": nodes,
        "rewards": {"reward": {"score": record["reward"], "weight": 1.0}},
        "metrics": {"hard": float(record["hard"])},
        "info": {"reason": record["reason"], "purpose": record["purpose"]},
        "is_completed": True,
        "ok": True,
        "stop_condition": record["reason"],
    }
    return {"task": task, "ok": True, "traces": [trace]}


def _typed(message: Json) -> Json:
    """The v1 line has the parts of a call side by side."""
    calls = [{"id": call["id"], **call["function"]} for call in message.get("tool_calls") or ()]
    return {**message, "tool_calls": calls} if calls else message
