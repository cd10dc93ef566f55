"""What the viewer knows: the runs under a folder, what was counted of each, and how to tell that one has moved."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from whet.envs.base import Environment
from whet.errors import WhetError
from whet.ledger.store import FILE, glance
from whet.report.fold import RunFacts, fold_run, list_record, run_folders
from whet.report.query import RolloutCounts
from whet.rollout.claim import CONFIG

Signature = tuple[int, ...]
"""What changes whenever anything is committed to a ledger: inodes, sizes and times of its files."""


@dataclass(slots=True)
class ViewerSite:
    """The runs under a folder. What is kept here is a memory of sums; the ledgers are the truth."""

    root: Path
    _counts: dict[Path, RolloutCounts] = field(default_factory=dict)
    _lines: dict[Path, tuple[Signature, RunFacts]] = field(default_factory=dict)
    _records: dict[Path, tuple[Signature, RunFacts]] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def folders(self) -> dict[str, Path]:
        """Runs by the name that addresses know them by: their place under the folder."""
        return {self.name(folder): folder for folder in run_folders(self.root)}

    def name(self, folder: Path) -> str:
        return folder.name if folder == self.root else folder.relative_to(self.root).as_posix()

    def folder(self, name: str) -> Path:
        """The folder of a run by its name; only what is listed can be asked for."""
        found = self.folders().get(name)
        if found is None:
            raise WhetError(f"{name or 'no name'}: no such run here")
        return found

    def signature(self, folder: Path) -> Signature:
        parts: list[int] = []
        for file in (FILE, f"{FILE}-wal", "ledger.lock"):
            try:
                told = (folder / file).stat()
            except OSError:
                parts.append(0)
            else:
                parts += [told.st_ino, told.st_size, told.st_mtime_ns]
        return tuple(parts)

    def lines(self) -> list[RunFacts]:
        """Every run as a list shows it, newest first."""
        return sorted(map(self._line, self.folders().values()), key=lambda run: -run.changed)

    def _line(self, folder: Path) -> RunFacts:
        with self._lock:
            seen = self.signature(folder)
            known = self._lines.get(folder)
            if known is None or known[0] != seen or known[1].live:
                known = (seen, list_record(folder))
                self._lines[folder] = known
            return known[1]

    def record(self, name: str) -> RunFacts:
        """Everything about one run."""
        folder = self.folder(name)
        with self._lock:
            seen = self.signature(folder)
            known = self._records.get(folder)
            if known is None or known[0] != seen or known[1].live:
                known = (seen, fold_run(folder, self._counts.setdefault(folder, RolloutCounts())))
                self._records[folder] = known
            return known[1]

    def counts(self, name: str) -> RolloutCounts:
        folder = self.folder(name)
        with self._lock, self.open(name) as db:
            held = self._counts.setdefault(folder, RolloutCounts()).update(db)
            return replace(held, cells=dict(held.cells))  # another request may count on while a page is made of it

    @contextmanager
    def open(self, name: str) -> Iterator[sqlite3.Connection]:
        """A connection to look at a run with."""
        db = glance(self.folder(name))
        try:
            yield db
        finally:
            db.close()

    def image(self, name: str, sha256: str) -> bytes | None:
        """The bytes of an image that a message of the run names, from its environment; None where it has none."""
        try:
            return _environment(self.folder(name)).blob(sha256)
        except (WhetError, LookupError, OSError, ValueError, TypeError):
            return None


@lru_cache(maxsize=8)
def _environment(folder: Path) -> Environment:
    from whet.envs.registry import Address
    from whet.run.compose import Given, build_environment
    from whet.run.kinds import load_any_config

    config = load_any_config(folder / CONFIG)
    if Address.parse(config.env.name).path:
        raise WhetError(
            f"{config.env.name}: only installed environments are asked for images; a file of code is not run"
        )
    return build_environment(config, Given(run=folder))
