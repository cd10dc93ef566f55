"""Training runs among the runs: their line in the list, their page, continuing and rebuilding them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from whet.config.playbooks import read_playbook
from whet.errors import typed
from whet.evals.estimate import LEVEL
from whet.learn.outcome_files import SUMMARY
from whet.ledger.store import Ledger
from whet.rollout.claim import CONFIG, PLAYBOOK
from whet.rollout.loop import finish
from whet.rollout.progress import Quiet
from whet.rollout.session import DONE, ENDED
from whet.rollout.votes import VOTE
from whet.run.caveats import since_lines
from whet.run.compose import Given
from whet.run.kinds import Continuation, RunEntry
from whet.run.offline import Offline
from whet.run.train import KIND, TrainResult, load_train_config, plan_training, run_training, train_plan
from whet.run.train_page import leak_lines
from whet.run.train_summary import SELECTION

if TYPE_CHECKING:
    from rich.console import RenderableType

ROWS = {"no playbook": "no_playbook_test", "initial": "baseline_test", "best": "test", "final": "final_test"}


class TrainRuns:
    """The kind of run that `whet train` makes."""

    name = KIND

    def entry(self, folder: Path, changed: float) -> RunEntry:
        """Its rollouts of all purposes, and what the best policy solved in the sealed test."""
        config = load_train_config(folder / CONFIG)
        with Ledger.read(folder) as ledger:
            faults = sum(
                bool(outcome.fault) and not outcome.ticket.purpose.startswith(VOTE) for outcome in ledger.outcomes()
            )
            ended = [event.body["why"] for event in ledger.events(ENDED)]
        summary = summary_of(folder)
        if ended[-1:] == [DONE]:
            state = "trained"
        else:
            state = f"step {summary['total_steps']} of {summary['planned_steps']}" if summary else "under way"
        solved = summary.get("test_hard")
        opening = summary.get("test_opening")
        on = "" if solved is None else f"test, opening {opening}" if opening else "test"
        model = config.target.model
        return RunEntry(folder.name, changed, self.name, config.env.name, model, state, solved, faults, on=on)

    def show(self, folder: Path) -> RenderableType:
        return training_page(folder)

    def resume(self, folder: Path, continuation: Continuation) -> TrainResult:
        continuation.refuse_retry()
        config = continuation.config(type(load_train_config(folder / CONFIG)), folder)
        given = replace(continuation.given, playbook=read_playbook(str(folder / PLAYBOOK)))

        def watch(training: Any) -> None:
            for line in training.news():
                continuation.tell(line)

        progress = continuation.progress
        return run_training(config, given, runs=folder.parent, name=folder.name, progress=progress, watch=watch)

    def rebuild(self, folder: Path, given: Given) -> str:
        """The run is replayed as far as its ledger reaches, calling nobody."""
        return f"rebuilt from {replay(folder, given).summary['total_steps']} steps"


def replay(folder: Path, given: Given = Given()) -> TrainResult:
    """A training run worked off again from its ledger alone, with nobody to call."""
    config = load_train_config(folder / CONFIG)
    playbook = read_playbook(str(folder / PLAYBOOK))
    plan = Offline.of(plan_training(config, replace(given, playbook=playbook)))
    return finish(
        lambda: train_plan(plan, progress=Quiet(), watch=lambda _: None, runs=folder.parent, name=folder.name)
    )


def summary_of(folder: Path) -> dict[str, Any]:
    """The summary of a run; empty while none is written."""
    file = folder / SUMMARY
    return dict(orjson.loads(file.read_bytes())) if file.is_file() else {}


def training_page(folder: Path) -> RenderableType:
    from rich.box import SIMPLE_HEAD
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    summary = summary_of(folder)
    if not summary:
        return Text(f"{folder}: no step is complete yet; continue with: whet resume {typed(folder)}")
    lines = [
        f"steps: {summary['total_steps']} of {summary['planned_steps']}; accepted {len(summary['accepted'])} of "
        f"{summary['total_decisions']} candidates",
        f"best playbook: {folder}/best_skill.md, from {summary['best_origin']}",
    ]
    for accepted in summary["accepted"]:
        lines += [f"  {change[:160]}" for change in accepted["changes"]]
        lines.append(f"    {accepted['says']}")
    if summary["accepted"]:
        lines.append(f"  ({SELECTION})")
    lines += leak_lines(summary.get("leaks", ()))
    if summary["stopped"]:
        lines.append(f"stopped: {summary['stopped']}; continue with: whet resume {typed(folder)}")
    told = Text("\n".join(lines))
    if summary["test_hard"] is None:
        return told
    table = Table(title="sealed test", title_justify="left", box=SIMPLE_HEAD, collapse_padding=True)
    level = f"[{100 * (summary.get('test_level') or LEVEL):.4g} %]"
    headings = {"hard": f"pass rate {level}"}
    if summary.get("metric", "hard") != "hard":
        headings = {"metric": f"{summary['metric']} {level}", **headings}
    for heading in ("", *headings.values()):
        table.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    for name, key in ROWS.items():
        table.add_row(name, *(_ranged(summary, f"{key}_{column}") for column in headings))
    for beside in ("floor", "reference"):
        if summary.get(f"{beside}_policy"):
            values = (summary[f"{beside}_test_{column}"] for column in headings)
            cells = ("" if value is None else f"{value:.3f}" for value in values)
            table.add_row(f"{beside}: {summary[f'{beside}_policy']}", *cells, style="dim")
    notes = [f"note: {line}" for line in summary.get("test_notes", ())]
    claim = [str(summary["test_delta_says"]), *summary.get("test_delta_missing", ())]
    since = since_lines(folder, summary.get("test_opening") or 0)
    return Group(table, Text("\n".join((*notes, *claim, *since))), told)


def _ranged(summary: dict[str, Any], key: str) -> str:
    if summary[key] is None:
        return "-"
    low, high = summary[f"{key}_interval"]
    return f"{summary[key]:.3f} [{low:.3f}, {high:.3f}]"


RUNS_KIND = TrainRuns()
