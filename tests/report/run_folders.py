"""Runs to look at: a training in a small world, an evaluation, hostile texts, and folders in a bad state."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from builders import Doubles, FromFunction, doubled
from reflact_world import trained

from whet.ledger.writer import LedgerWriter
from whet.models.base import Request
from whet.run.api import evaluate
from whet.types import (
    Label,
    Message,
    Policy,
    Reply,
    Rollout,
    Score,
    Ticket,
    ToolCall,
    Turn,
    Usage,
    solved,
    tool_result,
    user,
)

HOSTILE = (
    "</pre></td><script>window.owned=1</script><img src=x onerror='window.owned=2'>"
    "<svg onload=window.owned=3><a href='javascript:window.owned=4'>here</a>\"' onmouseover=window.owned=5 x='"
)
ACTING = "red \x1b[31m, turned \u202eback\u202c, hidden \u200b, null \x00"
RIGHT_TO_LEFT = "שלום עולם, مرحبا"


def training(runs: Path) -> Path:
    """A training of a playbook with accepted, rejected and undecided candidates."""
    return trained(runs / "kinds").folder


def evaluation(runs: Path, name: str = "doubles", *, wrong: int = 3, repeats: int = 1) -> Path:
    """An evaluation in which every `wrong`-th task is answered wrongly."""

    def answers(request: Request) -> str:
        said = doubled(request)
        return said if int(said) // 2 % wrong else "no idea"

    model = FromFunction(answers)
    model.fingerprint = f"{name}-{wrong}"
    place = evaluate(Doubles(), model, n=24, repeats=repeats, runs=runs / f".{name}").folder
    place.rename(runs / name)
    return runs / name


def rollout(index: int, text: str, *, question: str = "what?", hard: int = 0, reason: str = "wrong") -> Rollout:
    call = ToolCall(f"c{index}", "run_python", {"code": f"print({index})\n# {text[:60]}"}, "{}")
    turns = (
        Turn("target", (user(question),), Reply("", (call,), finish="tool_calls", usage=Usage(1, 20, 9, 0, 0.0))),
        Turn("target", (tool_result(call, f"{index}"),), Reply(text, usage=Usage(1, 30, 12, 0, 0.0))),
    )
    score = Score(hard, float(hard), float(hard), {"format": 1.0, "<b>part</b>": 0.5}, reason, f"detail {text[:80]}")
    return Rollout(
        Ticket("eval", "select", index),
        Label("<i>kind</i>", "easy"),
        f"{index:032x}",
        "r",
        "",
        turns,
        score,
        Usage(2, 50, 21, 0, 0.0),
        0.5,
    )


def hostile(runs: Path, texts: tuple[str, ...] = (HOSTILE, ACTING, RIGHT_TO_LEFT)) -> Path:
    """A run whose model writes what would act in a page or a terminal."""
    folder = runs / "hostile"
    with writer(folder) as ledger:
        rollouts = [rollout(index, text, question=text) for index, text in enumerate(texts)]
        ledger.add_rollouts([*rollouts, rollout(len(texts), "fine", hard=1, reason="<u>correct</u>")])
    return folder


def writer(folder: Path) -> LedgerWriter:
    """A ledger of an evaluation that has begun."""
    ledger = LedgerWriter.create(folder)
    named = '{"env":{"name":"<b>env</b>"},"target":{"model":"<script>m</script>"},"eval":{"split":"select"}}'
    ledger.set_meta(kind="eval", depends_on=named, identity="i")
    ledger.add_policy(Policy("m"))
    ledger.add_event("session", planned=8)
    (folder / "config.toml").write_text('[env]\nname = "<b>env</b>"\n')
    return ledger


def newer(runs: Path) -> Path:
    """A run that a later Whet wrote."""
    folder = runs / "newer"
    writer(folder).close()
    db = sqlite3.connect(folder / "ledger.sqlite")
    db.execute("PRAGMA user_version = 99")
    db.close()
    return folder


def without_ledger(runs: Path) -> Path:
    folder = runs / "bare"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('[env]\nname = "doubles"\n')
    return folder


def half_written(runs: Path) -> Path:
    """A run that a kill cut off: no end, a summary that is cut, no kind."""
    folder = runs / "half"
    ledger = LedgerWriter.create(folder)
    ledger.add_rollouts([rollout(0, "first", hard=1)])
    ledger.close()
    (folder / "summary.json").write_text('{"accepted": [')
    (folder / "history.json").write_text("[{")
    return folder


def damaged(runs: Path) -> Path:
    folder = runs / "damaged"
    folder.mkdir(parents=True)
    (folder / "ledger.sqlite").write_bytes(b"SQLite format 3\x00" + b"\xff" * 4000)
    return folder


def rollout_of(message: Message) -> Rollout:
    turn = Turn("target", (message,), Reply("seen"))
    return Rollout(Ticket("eval", "select", 0), Label("k"), "k", "r", "p", (turn,), solved())
