"""A run on disk: its config, its playbook, its ledger, and the readable files made from them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from whet import wire
from whet.config.kinds import TRAIN, config_kind, playbook_kept_at
from whet.config.load import load_config, read_toml, write_config
from whet.config.playbooks import read_playbook, write_playbook
from whet.config.schema import EvalConfig, PolicyConfig
from whet.errors import WhetError
from whet.keys import digest
from whet.ledger.projection import write_atomically
from whet.ledger.store import FILE, Ledger
from whet.types import Outcome, Playbook, Rollout

CONFIG = "config.toml"
PLAYBOOK = "playbook.json"
RUNS = Path("runs")

EVAL = "eval"
"""The purpose of an evaluation's rollouts."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What a run's result depends on. Two runs of one identity are one run."""

    config: dict[str, Any]
    environment: str
    model: str
    playbook: str

    @property
    def digest(self) -> str:
        return digest(self)


@dataclass(frozen=True, slots=True)
class Run:
    """A run that exists. Reads of its ledger open it anew, so a run may be under way meanwhile."""

    folder: Path
    config: EvalConfig
    playbook: Playbook

    @property
    def name(self) -> str:
        return self.folder.name

    def outcomes(self, purpose: str = EVAL) -> list[Outcome]:
        with Ledger.read(self.folder) as ledger:
            return list(ledger.outcomes(purpose))

    def rollouts(self, purpose: str = EVAL) -> Iterator[Rollout]:
        """Answered rollouts with their transcripts, by task and draw."""
        with Ledger.read(self.folder) as ledger:
            yield from ledger.rollouts(purpose)

    def tasks(self) -> list[int]:
        """The tasks that the run was meant to attempt, in the order of its plan."""
        with Ledger.read(self.folder) as ledger:
            return list(orjson.loads(ledger.meta()["tasks"]))

    def ledger(self) -> Ledger:
        """The ledger, for reading; close it."""
        return Ledger.read(self.folder)


def open_run(path: str | Path, runs: Path = RUNS) -> Run:
    """The evaluation in a folder, or of that name under `runs`."""
    folder = find_run(path, runs)
    if run_kind(folder) == TRAIN:
        raise WhetError(f"{folder}: is a training run, not an evaluation; see it with: whet runs show {folder.name}")
    config = load_config(EvalConfig, folder / CONFIG)
    return Run(folder, config, read_playbook(str(folder / PLAYBOOK)))


def find_run(path: str | Path, runs: Path = RUNS) -> Path:
    """The folder of a run of any kind, whose ledger can be read."""
    folder = Path(path)
    if not (folder / FILE).is_file() and (runs / path / FILE).is_file():
        folder = runs / path
    with Ledger.read(folder):
        pass  # says what is wrong with it, if anything is
    return folder


def run_kind(folder: Path) -> str:
    """'eval' or 'train', by the config that the run was made from."""
    return config_kind(read_toml(folder / CONFIG))


def claim_run(
    folder: Path, config: PolicyConfig, playbook: Playbook, identity: Identity, tasks: Sequence[int]
) -> Ledger:
    """The run's ledger, opened for writing; made when there is none, refused when the folder holds another run."""
    meta = {"identity": identity.digest, "playbook": identity.playbook, "tasks": wire.dumps(tasks).decode()}
    new = not (folder / FILE).exists()
    if new:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / PLAYBOOK, write_playbook(playbook))
        _write_config(folder, config)
    ledger = Ledger.create(folder) if new else Ledger.open(folder)
    try:
        if ledger.meta().get("identity", identity.digest) != identity.digest:
            raise WhetError(
                f"{folder}: holds another run ({_difference(folder, config)}); give this one another name with --run"
            )
        ledger.set_meta(**meta)
        _write_config(folder, config)
    except BaseException:
        ledger.close()
        raise
    return ledger


def run_name(config: PolicyConfig, identity: Identity) -> str:
    """Environment, model and identity: the same evaluation finds its run again."""
    parts = (config.env.name.split("/")[-1], config.target.model.split("/")[-1], identity.digest[:8])
    return "-".join(re.sub(r"[^A-Za-z0-9.]+", "-", part).strip("-.")[:32] for part in parts)


def _write_config(folder: Path, config: PolicyConfig) -> None:
    """The resolved config; the playbook is the copy that the run keeps."""
    data = write_config(playbook_kept_at(config, str(folder / PLAYBOOK)))
    path = folder / CONFIG
    if not path.exists() or path.read_bytes() != data:
        write_atomically(path, data)


def _difference(folder: Path, config: PolicyConfig) -> str:
    """The first key that differs from the stored config, for the message."""
    if run_kind(folder) != config_kind(config.model_dump()):
        return f"it is of another kind: {run_kind(folder)}"
    stored = load_config(type(config), folder / CONFIG).identity()
    return next(_differing("", stored, config.identity()), "its environment, model or playbook has changed")


def _differing(path: str, old: Any, new: Any) -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from _differing(f"{path}.{key}".strip("."), old.get(key), new.get(key))
    elif old != new and path not in ("eval.playbook", "train.playbook"):
        yield f"{path} = {old!r} there, {new!r} here"
