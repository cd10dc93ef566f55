"""What was run here: every run with how it stands, one run with its table, one task with its transcript."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whet.config.kinds import TRAIN
from whet.config.load import load_config
from whet.config.train import TrainConfig
from whet.errors import WhetError
from whet.evals.table import summary_table
from whet.ledger.store import FILE, Ledger
from whet.rollout.placing import place
from whet.run.project import report
from whet.run.train_catalog import show_training, summary_of
from whet.run.workspace import CONFIG, EVAL, Run, find_run, open_run, run_kind
from whet.types import Message, Rollout

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True, slots=True)
class Listed:
    """A run in the list; `trouble` says why it cannot be read."""

    name: str
    changed: float
    env: str = ""
    model: str = ""
    rollouts: int = 0
    planned: int = 0
    solved: float | None = None
    faults: int = 0
    trouble: str = ""
    stands: str = ""
    """How a training run stands; '' for an evaluation, whose rollouts say it."""

    @property
    def state(self) -> str:
        if self.trouble or self.stands:
            return self.trouble or self.stands
        return "complete" if self.rollouts + self.faults >= self.planned else f"{self.rollouts} of {self.planned}"


def list_runs(runs: Path) -> list[Listed]:
    """Runs under a folder, newest first. A damaged one is listed with what is wrong."""
    folders = [folder for folder in runs.glob("*") if (folder / FILE).is_file()] if runs.is_dir() else []
    return sorted((_listed(folder) for folder in folders), key=lambda one: -one.changed)


def _listed(folder: Path) -> Listed:
    changed = max(file.stat().st_mtime for file in folder.glob("ledger.sqlite*"))
    try:
        if run_kind(find_run(folder)) == TRAIN:
            return _listed_training(folder, changed)
        run = open_run(folder)
        outcomes = run.outcomes()
    except WhetError as error:
        return Listed(folder.name, changed, trouble=str(error).split(": ", 1)[-1])
    scored = [one.hard for one in outcomes if not one.fault]
    with run.ledger() as ledger:
        planned = max((event.body["planned"] for event in ledger.events("session")), default=0)
    return Listed(
        folder.name,
        changed,
        run.config.env.name,
        run.config.target.model,
        len(scored),
        planned,
        sum(scored) / len(scored) if scored else None,
        len(outcomes) - len(scored),
    )


def _listed_training(folder: Path, changed: float) -> Listed:
    """A training run: its rollouts of all purposes, and what the best playbook solved in the sealed test."""
    config = load_config(TrainConfig, folder / CONFIG)
    with Ledger.read(folder) as ledger:
        outcomes = list(ledger.outcomes())
        ended = [event.body["why"] for event in ledger.events("ended")]
    summary = summary_of(folder)
    scored = sum(not one.fault for one in outcomes)
    if ended[-1:] == ["done"]:
        state = "trained"
    else:
        state = f"step {summary['total_steps']} of {summary['planned_steps']}" if summary else "under way"
    return Listed(
        folder.name,
        changed,
        config.env.name,
        config.target.model,
        scored,
        solved=summary.get("test_hard"),
        faults=len(outcomes) - scored,
        stands=state,
    )


def runs_table(found: list[Listed]) -> RenderableType:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("run", "environment", "model", "state", "solved", "faults", "changed"):
        table.add_column(column, overflow="fold")
    for one in found:
        solved = "" if one.solved is None else f"{one.solved:.3f}"
        changed = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.changed))
        table.add_row(one.name, one.env, one.model, one.state, solved, str(one.faults or ""), changed)
    return table


def show_run(name: str, runs: Path) -> RenderableType:
    """The table of a run, what it spent, and its sessions."""
    from rich.console import Group

    folder = find_run(name, runs)
    if run_kind(folder) == TRAIN:
        return show_training(folder)
    run = open_run(folder)
    with Ledger.read(run.folder) as ledger:
        made = report(run.config, ledger)
        ended = ledger.events("ended")
        began = ledger.events("session")
    seconds = sum(event.body["seconds"] for event in ended)
    ends = ", ".join(event.body["why"] for event in ended) or "none ended cleanly"
    return Group(
        summary_table(
            made.summary,
            title=f"{run.config.target.model} on {run.config.env.name}",
            floor=made.floor,
            wall_seconds=seconds,
        ),
        f"sessions: {len(began)} ({ends}); config: {run.folder / CONFIG}",
    )


def show_transcripts(name: str, task: str, runs: Path) -> RenderableType:
    """Everything that was said on one task, draw by draw."""
    run = open_run(name, runs)
    split, _, index = task.partition("/")
    found = [one for one in run.rollouts(EVAL) if (one.ticket.split, str(one.ticket.index)) == (split, index)]
    if not found:
        known = next((f"{one.ticket.split}/{one.ticket.index}" for one in run.rollouts(EVAL)), "none")
        raise WhetError(f"{run.name}: no rollout of task {task!r}; tasks are named like {known}")
    from rich.text import Text

    return Text("\n\n".join(_transcript(run, one) for one in found))


def _transcript(run: Run, rollout: Rollout) -> str:
    said: list[str] = []
    for place_, turn in enumerate(rollout.turns):
        opening = place_ == 0 and turn.role == "target"
        messages = place(run.playbook, turn.messages) if opening else turn.messages
        said.extend(_line(message) for message in (*messages, turn.reply.as_message()))
    score = rollout.score
    assert score is not None
    verdict = f"{'solved' if score.hard else 'not solved'}: {score.reason} {score.detail}".strip()
    head = (
        f"{rollout.ticket.split}/{rollout.ticket.index} draw {rollout.ticket.draw}, reward {score.reward:g}, {verdict}"
    )
    return "\n".join([head, *said])


def _line(message: Message) -> str:
    calls = "".join(f"\n  calls {call.name} {dict(call.arguments)}" for call in message.calls)
    return f"[{message.author}] {message.text}{calls}"
