"""Kinds of run: what listing, showing, continuing and rebuilding mean for each. Found by the entry point `whet.runs`.

The kind of a run stands in its ledger, so every command about runs works on all of them, an app's kinds included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from whet.config.load import load_config, read_toml
from whet.config.schema import EvalConfig, PolicyConfig
from whet.errors import WhetError
from whet.plugins import PluginGroup
from whet.rollout.claim import CONFIG
from whet.rollout.progress import Progress, Quiet
from whet.rollout.session import SESSION
from whet.run.compose import Given
from whet.run.workspace import RUNS, Run, find_run, records_of, run_kind

if TYPE_CHECKING:
    from rich.console import RenderableType

KINDS = PluginGroup("whet.runs", "kind of run")


STOPPED = 3
"""Exit code of a run that a budget stopped: the same command goes on, with more of it."""


@dataclass(frozen=True, slots=True)
class RunPage:
    """What a person is shown at the end of a run: texts and tables in their order, and the exit code."""

    parts: Sequence[str | RenderableType]
    exit_code: int = 0


class RunResult(Protocol):
    """What a session of a run came to."""

    @property
    def folder(self) -> Path: ...

    def page(self) -> RunPage: ...


@dataclass(frozen=True, slots=True)
class RunEntry:
    """A run in a list; `trouble` says why it cannot be read."""

    name: str
    changed: float
    kind: str = ""
    env: str = ""
    model: str = ""
    state: str = ""
    solved: float | None = None
    faults: int = 0
    trouble: str = ""
    on: str = ""
    """On which split `solved` was measured, and what to know about it."""


@dataclass(frozen=True, slots=True)
class Continuation:
    """How a run is to be continued: keys of `control` that change, and who looks on."""

    overrides: Sequence[str] = ()
    retry_faults: bool = False
    progress: Progress = Quiet()
    tell: Callable[[str], None] = lambda _: None
    """Hears what happens on the way, a line or two at a time."""
    given: Given = Given()
    """Objects that the run was made with and that no address names."""

    def config(self, kind: type[Any], folder: Path) -> Any:
        """The stored config of a run with what changes in it."""
        foreign = [override for override in self.overrides if not override.startswith("control.")]
        if foreign:
            raise WhetError(f"--set {foreign[0]}: a resumed run keeps its identity; only keys of control may change")
        return load_config(kind, folder / CONFIG, None, self.overrides)

    def refuse_retry(self) -> None:
        """For runs that redo faults by themselves: what has been decided without an answer stays without it."""
        if self.retry_faults:
            raise WhetError(
                "--retry-faults is for evaluations: this run redoes the faults of a plan by itself until the plan is "
                "settled, and what was decided without them stays as it is; leave the option out"
            )


class RunKind(Protocol):
    """What the commands about runs need to know of one kind."""

    name: str

    def entry(self, folder: Path, changed: float) -> RunEntry:
        """The run's line in the list."""
        ...

    def show(self, folder: Path) -> RenderableType:
        """The run for a person: its figures, how it stands, where things lie."""
        ...

    def resume(self, folder: Path, continuation: Continuation) -> RunResult:
        """Continue the run where it stopped."""
        ...

    def rebuild(self, folder: Path, given: Given) -> str:
        """Write the readable files again from the ledger; says from how much."""
        ...


def kind_of(folder: Path) -> RunKind:
    """The kind of the run in a folder."""
    return cast(RunKind, KINDS.load(run_kind(folder)))


def resume_run(run: str | Path, continuation: Continuation = Continuation(), runs: Path = RUNS) -> RunResult:
    """Continue a run of any kind."""
    folder = find_run(run, runs)
    given = replace(continuation.given, run=folder)
    return kind_of(folder).resume(folder, replace(continuation, given=given))


def rebuild_run(run: str | Path, runs: Path = RUNS, given: Given = Given()) -> str:
    """Write the readable files of a run of any kind again."""
    folder = find_run(run, runs)
    with records_of(folder):
        return kind_of(folder).rebuild(folder, replace(given, run=folder))


def entry_of(run: Run, kind: str, changed: float, state: str, solved: float | None, faults: int) -> RunEntry:
    """The line of a run whose config is an evaluation's."""
    config = run.config
    return RunEntry(run.name, changed, kind, config.env.name, config.target.model, state, solved, faults)


def planned_rollouts(run: Run) -> int:
    """How many rollouts the sessions of a run were to work off."""
    with run.ledger() as ledger:
        return max((event.body["planned"] for event in ledger.events(SESSION)), default=0)


def load_any_config(file: Path | None, overrides: Sequence[str] = ()) -> PolicyConfig:
    """An evaluation's config, or a training's where it has keys that no evaluation has."""
    from whet.run.train import load_train_config  # numpy comes with it

    if file is None or read_toml(file).keys() <= EvalConfig.model_fields.keys():
        return load_config(EvalConfig, file, None, overrides)
    return load_train_config(file, None, overrides)
