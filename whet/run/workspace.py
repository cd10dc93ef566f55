"""A run on disk: its config, its playbook, its ledger, and the readable files made from them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import orjson

from whet.config.load import load_config, read_toml
from whet.config.playbooks import read_playbook
from whet.config.schema import EvalConfig, PolicyConfig
from whet.errors import WhetError, broken_line, typed
from whet.ledger.account import Account
from whet.ledger.store import FILE, Ledger
from whet.rollout.claim import CONFIG, PLAYBOOK, Identity
from whet.rollout.session import ENDED, SESSION
from whet.types import Outcome, Playbook, Rollout

RUNS = Path("runs")

EVAL = "eval"
"""The purpose of an evaluation's rollouts."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run that exists. Reads of its ledger open it anew, so a run may be under way meanwhile."""

    folder: Path
    config: EvalConfig
    playbook: Playbook

    @property
    def name(self) -> str:
        return self.folder.name

    def __repr__(self) -> str:
        about = self.config
        return f"Run({str(self.folder)!r}, {about.target.model!r} on {about.env.name!r}, {about.eval.split})"

    def outcomes(self, purpose: str = EVAL) -> list[Outcome]:
        with records_of(self.folder), Ledger.read(self.folder) as ledger:
            return list(ledger.outcomes(purpose))

    def rollouts(self, purpose: str = EVAL) -> Iterator[Rollout]:
        """Answered rollouts with their transcripts, by task and draw."""
        with Ledger.read(self.folder) as ledger:
            yield from ledger.rollouts(purpose)

    def tasks(self) -> list[int]:
        """The tasks that the run was meant to attempt, in the order of its plan."""
        with records_of(self.folder), Ledger.read(self.folder) as ledger:
            return list(orjson.loads(ledger.meta()["tasks"]))

    def ledger(self) -> Ledger:
        """The ledger, for reading; close it."""
        return Ledger.read(self.folder)


def open_run(path: str | Path, runs: Path = RUNS) -> Run:
    """The evaluation in a folder, or of that name under `runs`."""
    folder = find_run(path, runs)
    if "eval" not in read_toml(folder / CONFIG):
        raise WhetError(
            f"{folder}: is of the kind {run_kind(folder)}, not an evaluation; see it with: whet runs show {folder}"
        )
    config = load_config(EvalConfig, folder / CONFIG)
    return Run(folder, config, read_playbook(str(folder / PLAYBOOK)))


def run_folder(path: str | Path, runs: Path = RUNS) -> Path:
    """The folder of a run of any kind, as it is."""
    folder = Path(path)
    return runs / path if not (folder / FILE).is_file() and (runs / path / FILE).is_file() else folder


def find_run(path: str | Path, runs: Path = RUNS) -> Path:
    """The folder of a run of any kind, whose ledger can be read."""
    folder = run_folder(path, runs)
    with records_of(folder), Ledger.read(folder) as ledger:  # says what is wrong with it, if anything is
        if not all(isinstance(event.body, dict) for event in ledger.events()):
            raise TypeError("an event is no object")
    return folder


RECORDS = (LookupError, ValueError, TypeError, AttributeError)
"""What reading a record raises that is not what it was."""


@contextmanager
def records_of(folder: Path) -> Iterator[None]:
    """Reading what a run remembers; a record that is not what it was is one line that names the run."""
    try:
        yield
    except RECORDS as error:
        told = f"{type(error).__name__}: {error}, at {broken_line(error)}"
        raise WhetError(
            f"{folder}: a record of it cannot be read ({told}); see: whet verify {typed(folder)}"
        ) from error


def run_kind(folder: Path) -> str:
    """The kind of run in a folder, as its ledger says."""
    with Ledger.read(folder) as ledger:
        kind = ledger.meta().get("kind")
    if kind is None:
        raise WhetError(f"{folder}: was ended before it began; start its command again")
    return kind


def account_of(folder: Path) -> Account:
    """What a run has cost so far."""
    with Ledger.read(folder) as ledger:
        return ledger.account()


def doubtful(folder: Path) -> list[str]:
    """The line that says what may have been paid without anybody knowing; none where there is nothing of it."""
    account = account_of(folder)
    return [str(account)] if account.maybe.calls else []


def last_end(ledger: Ledger) -> str:
    """How the last session of a run ended; '' while it is under way, and where it was killed."""
    moments = [event for event in ledger.events() if event.name in (SESSION, ENDED)]
    return str(moments[-1].body["why"]) if moments and moments[-1].name == ENDED else ""


def named_folder(runs: Path, name: str) -> Path:
    """The folder of a run under `runs`; a name that leads out of it is refused."""
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise WhetError(f"--run {name}: leads out of {runs}; give a plain name, and another folder with --runs")
    return runs / name


def run_name(config: PolicyConfig, identity: Identity) -> str:
    """Environment, model and identity: the same evaluation finds its run again."""
    parts = (config.env.name.split("/")[-1], config.target.model.split("/")[-1], identity.digest[:8])
    return "-".join(re.sub(r"[^A-Za-z0-9.]+", "-", part).strip("-.")[:32] for part in parts)
