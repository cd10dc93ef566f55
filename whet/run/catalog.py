"""What was run here: every run with how it stands, one run with its page, one task with its transcripts."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from whet.config.load import HEADER, read_toml, validate
from whet.config.schema import ConfigHeader
from whet.errors import WhetError
from whet.ledger.store import FILE, Ledger
from whet.rollout.claim import CONFIG
from whet.rollout.placement import place
from whet.run.kinds import RunEntry, kind_of
from whet.run.workspace import RECORDS, account_of, find_run, records_of
from whet.types import Message, Playbook, Rollout

if TYPE_CHECKING:
    from rich.console import RenderableType


def list_runs(runs: Path) -> list[RunEntry]:
    """Runs of every kind under a folder, newest first. A damaged one is listed with what is wrong."""
    found = [folder for depth in ("*", "*/*") for folder in runs.glob(depth)] if runs.is_dir() else []
    folders = [folder for folder in found if (folder / FILE).is_file()]
    entries = (replace(_entry(folder), name=folder.relative_to(runs).as_posix()) for folder in folders)
    return sorted(entries, key=lambda entry: -entry.changed)


def _entry(folder: Path) -> RunEntry:
    changed = max(file.stat().st_mtime for file in folder.glob("ledger.sqlite*"))
    try:
        return kind_of(find_run(folder)).entry(folder, changed)
    except WhetError as error:
        where, _, what = str(error).partition(": ")
        return RunEntry(folder.name, changed, trouble=what if where.startswith(str(folder)) else str(error))
    except (*RECORDS, OSError, sqlite3.Error) as error:  # a file or a record of it is not what it was
        return RunEntry(folder.name, changed, trouble=f"damaged ({type(error).__name__}: {error})")


def runs_table(found: Sequence[RunEntry]) -> RenderableType:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("run", "kind", "environment", "model", "state", "solved", "on", "faults", "changed"):
        table.add_column(column, overflow="fold", no_wrap=column in ("run", "changed"))
    for entry in found:
        solved = "" if entry.solved is None else f"{entry.solved:.3f}"
        changed = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.changed))
        state, faults = entry.trouble or entry.state, str(entry.faults or "")
        table.add_row(entry.name, entry.kind, entry.env, entry.model, state, solved, entry.on, faults, changed)
    return table


def show_run(name: str, runs: Path) -> RenderableType:
    """The page of a run of any kind, with what it has cost."""
    from rich.console import Group
    from rich.text import Text

    folder = find_run(name, runs)
    with records_of(folder):
        lineage = [Text(line) for line in lineage_lines(folder)]
        return Group(kind_of(folder).show(folder), *lineage, Text(str(account_of(folder))))


def lineage_lines(folder: Path) -> list[str]:
    """Which version of which config a run was made from, where its config says so."""
    header = read_toml(folder / CONFIG).get(HEADER)
    return [] if header is None else [f"config: {validate(ConfigHeader, header, str(folder / CONFIG))}"]


def show_transcripts(name: str, task: str, runs: Path) -> RenderableType:
    """Everything that was said on one task, purpose by purpose and draw by draw."""
    from rich.text import Text

    folder = find_run(name, runs)
    with records_of(folder), Ledger.read(folder) as ledger:
        tasks = {f"{outcome.ticket.split}/{outcome.ticket.index}" for outcome in ledger.outcomes() if not outcome.fault}
        if task not in tasks:
            known = min(tasks, default="none")
            raise WhetError(f"{folder.name}: no rollout of task {task!r}; tasks are named like {known}")
        return Text("\n\n".join(_transcripts(ledger, task)))


def _transcripts(ledger: Ledger, task: str) -> Iterator[str]:
    split, _, index = task.partition("/")
    for rollout in ledger.rollouts_on(split, int(index)):
        yield _transcript(ledger.policy(rollout.policy).playbook, rollout)


def _transcript(playbook: Playbook, rollout: Rollout) -> str:
    said: list[str] = []
    for number, turn in enumerate(rollout.turns):
        opening = number == 0 and turn.role == "target"
        messages = place(playbook, turn.messages) if opening else turn.messages
        said.extend(_line(message) for message in (*messages, turn.reply.as_message()))
    score, ticket = rollout.score, rollout.ticket
    assert score is not None
    verdict = f"{'solved' if score.hard else 'not solved'}: {score.reason} {score.detail}".strip()
    purpose = "" if ticket.purpose == "eval" else f" for {ticket.purpose}"
    head = f"{ticket.split}/{ticket.index} draw {ticket.draw}{purpose}, reward {score.reward:g}, {verdict}"
    return "\n".join([head, *said])


def _line(message: Message) -> str:
    calls = "".join(f"\n  calls {call.name} {dict(call.arguments)}" for call in message.calls)
    return f"[{message.author}] {message.text}{calls}"
