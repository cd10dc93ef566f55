"""What a run is, and its folder: made when there is none, refused when it holds another run."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from whet import wire
from whet.config.load import write_config
from whet.config.playbooks import write_playbook
from whet.config.schema import PolicyConfig
from whet.envs.base import Environment
from whet.errors import WhetError
from whet.files import own_folder, owner_only, sweep, write_atomically
from whet.keys import digest
from whet.ledger.inheritance import CONTINUED, inherit
from whet.ledger.store import FILE, Ledger
from whet.ledger.writer import LedgerWriter
from whet.models.base import Model
from whet.rollout.sources import Sources, keep
from whet.types import Playbook

CONFIG = "config.toml"
PLAYBOOK = "playbook.json"


class OtherRun(WhetError):
    """The folder holds another run than the one that is to go on."""


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
class RunStart:
    """What a session begins with: which kind of run it is, where it lies, what it depends on, and who plays."""

    kind: str
    folder: Path
    config: PolicyConfig
    identity: Identity
    env: Environment
    model: Model
    playbook: Playbook = Playbook()
    tasks: Sequence[int] = ()
    planned: int = 0
    """Rollouts or steps that the plan holds, for whoever lists runs."""
    optimizer: Model | None = None
    more: Mapping[str, str] = field(default_factory=dict)
    """Further facts to keep with the run, by name."""
    elsewhere: str = "give this one another name with --run"
    """What to do where the folder holds another run."""
    shares: Path | None = None
    """The folder of the run whose purse this one is paid from; None: its own."""
    inherits: Path | None = None
    """The folder of the run that this one continues, whose answers it takes over when it begins."""
    takes_over: bool = False
    """Whether a folder in which nothing has been answered may go over to this run from another of its kind."""


def claim(start: RunStart) -> LedgerWriter:
    """The run's ledger, opened for writing; made when there is none, refused when the folder holds another run."""
    folder, identity = start.folder, start.identity.digest
    new = not (folder / FILE).exists()
    try:
        with owner_only():
            if new:
                own_folder(folder)
                _write_playbook(start)
                _write_config(start)
                keep(folder, start.config, start.env, start.shares)
            ledger = LedgerWriter.create(folder) if new else LedgerWriter.open(folder)
    except (OSError, sqlite3.Error) as problem:
        told = getattr(problem, "strerror", None) or problem
        raise WhetError(f"{folder}: cannot be written ({told}); mend it, or name another place with --runs") from None
    try:
        held = ledger.meta()
        if held.get("identity", identity) != identity:
            if not start.takes_over or held["kind"] != start.kind or ledger.counts()["rollouts"]:
                raise OtherRun(f"{folder}: holds another run ({_difference(start, held)}); {start.elsewhere}")
            _write_playbook(start)
            keep(folder, start.config, start.env, start.shares)
        ledger.set_meta(
            identity=identity,
            depends_on=wire.dumps(start.identity.config).decode(),
            kind=start.kind,
            model=start.identity.model,
            playbook=start.identity.playbook,
            tasks=wire.dumps(start.tasks).decode(),
            **start.more,
        )
        _write_config(start)
        if start.inherits is not None and not ledger.events(CONTINUED):
            with Ledger.read(start.inherits) as other:
                inherit(ledger, other, start.inherits.name)
        sweep(folder)
    except BaseException:
        ledger.close()
        raise
    return ledger


def _write_playbook(start: RunStart) -> None:
    write_atomically(start.folder / PLAYBOOK, write_playbook(start.playbook))


def _write_config(start: RunStart) -> None:
    """The resolved config; the playbook is the copy that the run keeps."""
    data = write_config(start.config.with_playbook_at(str(start.folder / PLAYBOOK)))
    path = start.folder / CONFIG
    if not path.exists() or path.read_bytes() != data:
        write_atomically(path, data)


def _difference(start: RunStart, held: Mapping[str, str]) -> str:
    """The first key that differs from what the stored run depends on, for the message."""
    if held.get("kind", start.kind) != start.kind:
        return f"it is of another kind: {held['kind']}"
    stored, own = (orjson.loads(text) for text in (held["depends_on"], wire.dumps(start.identity.config)))
    other = next(differing("", stored, own), "")
    if other:
        return other
    for what, here in (("model", start.identity.model), ("playbook", start.identity.playbook)):
        if held.get(what, here) != here:
            return f"its {what} has changed"
    sources = Sources.of(start.folder)
    changed = sources.changed() if sources is not None else []
    return f"{changed[0]} has changed since" if changed else "its environment has changed"


def differing(path: str, old: Any, new: Any) -> Iterator[str]:
    """Every key of two configs that differs, with both values."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from differing(f"{path}.{key}".strip("."), old.get(key), new.get(key))
    elif old != new and not path.endswith(".playbook"):
        yield f"{path} = {old!r} there, {new!r} here"
