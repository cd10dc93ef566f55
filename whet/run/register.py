"""The register of a runs folder: which tests were opened, and which playbooks were chosen on select, across its runs.

It lies beside the runs as `register.jsonl`, a line for each fact, and is only ever appended to, under a lock. A test is
known by what its tasks ask, so that the same rows under another name, seed or config are the same test.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any

import orjson

from whet.envs.base import Environment
from whet.errors import WhetError
from whet.evals.estimate import LEVEL
from whet.keys import digest
from whet.outside import KEYS
from whet.types import Split

FILE = "register.jsonl"

OPENED, CHOSEN = "opened", "chosen"

KEPT = 4096
"""Of each test, so many digests of tasks are kept, the smallest: of two large tests they show whether they overlap."""

SAME = 0.1
"""Two tests are the same where they share this part of the smaller one."""


@dataclass(frozen=True, slots=True)
class OpeningRecord:
    """Which opening of a test a run is: the first, or one after `before` by other runs."""

    number: int
    before: tuple[str, ...] = ()

    @property
    def level(self) -> float:
        return level_of(self.number)


def level_of(opening: int) -> float:
    """The level of a claim by the number of its opening.

    The first is claimed at 95 %, the k-th at 1 - 0.05 / (k (k - 1)): whatever their number, all later claims together
    are wrong no more often than the first one.
    """
    return LEVEL if opening <= 1 else 1.0 - (1.0 - LEVEL) / (opening * (opening - 1))


def contents_of(env: Environment, split: Split, tasks: Sequence[int]) -> list[str]:
    """What the tasks ask, as digests, the smallest of them."""
    return sorted({digest(env.content(split, index))[:12] for index in tasks})[:KEPT]


@dataclass(frozen=True, slots=True)
class Register:
    """The register beside the runs of a folder."""

    runs: Path

    @property
    def path(self) -> Path:
        return self.runs / FILE

    def open_test(self, run: str, name: str, contents: Sequence[str]) -> OpeningRecord:
        """Record that a run opens a test, before it asks anything of it. The same run opens it once."""
        with self._held() as file:
            lines = [line for line in self._lines(file) if line["what"] == OPENED and _same(line["tasks"], contents)]
            known = next((line for line in lines if line["run"] == run), None)
            if known is not None:
                return OpeningRecord(known["number"], tuple(known["before"]))
            before = tuple(line["name"] for line in lines)
            opening = OpeningRecord(1 + len(before), before)
            line = {"what": OPENED, "run": run, "name": name, "number": opening.number, "before": before}
            self._append(file, {**line, "tasks": list(contents)})
            return opening

    def openings(self, contents: Sequence[str]) -> int:
        """How often a test has been opened by now."""
        return sum(line["what"] == OPENED and _same(line["tasks"], contents) for line in self._read())

    def openings_by(self, run: str, number: int) -> int:
        """How often the test that a run opened has been opened by now; 0 where it opened none.

        A folder that was renamed since is known by the identity before the last slash, and by which opening it was.
        """
        lines = [line for line in self._read() if line["what"] == OPENED]
        identity = run.rpartition("/")[0]
        exact = (line for line in lines if line["run"] == run)
        moved = (line for line in lines if (line["run"].rpartition("/")[0], line["number"]) == (identity, number))
        own = next(chain(exact, moved), None)
        return 0 if own is None else sum(_same(line["tasks"], own["tasks"]) for line in lines)

    def choose(self, playbook: str, env: str, name: str) -> None:
        """Record that a playbook, by its digest, was chosen on the select tasks of an environment."""
        fact = {"what": CHOSEN, "playbook": playbook, "env": env, "name": name}
        with self._held() as file:
            if fact not in self._lines(file):
                self._append(file, fact)

    def chosen_by(self, playbook: str, env: str) -> str:
        """The run that chose a playbook on the select tasks of an environment; '' where none did."""
        wanted = {"what": CHOSEN, "playbook": playbook, "env": env}
        return next((line["name"] for line in self._read() if wanted.items() <= line.items()), "")

    def _read(self) -> list[dict[str, Any]]:
        """Every fact, also where nothing may be written; none where there is no register."""
        try:
            with self.path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH)
                return self._lines(file)
        except FileNotFoundError:
            return []
        except OSError as problem:
            raise WhetError(f"{self.path}: cannot be read ({problem.strerror}); mend its permissions") from None

    @contextmanager
    def _held(self) -> Iterator[IO[bytes]]:
        try:
            self.runs.mkdir(parents=True, exist_ok=True)
            with os.fdopen(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                yield file
        except OSError as problem:
            raise WhetError(
                f"{self.path}: cannot be written ({problem.strerror}); name another place with --runs"
            ) from None

    def _lines(self, file: IO[bytes]) -> list[dict[str, Any]]:
        """Every whole line. What a kill left of the last one is no fact: it is appended again."""
        file.seek(0)
        *whole, _ = file.read().split(b"\n")
        try:
            return [dict(orjson.loads(line)) for line in whole if line]
        except (orjson.JSONDecodeError, TypeError, ValueError) as error:
            raise WhetError(
                f"{self.path}: the register of openings is damaged ({error}); restore it from a copy"
            ) from None

    def _append(self, file: IO[bytes], fact: dict[str, Any]) -> None:
        """On the disk before it returns; a part of a line that a kill left is cut off."""
        file.seek(0)
        end = file.read().rfind(b"\n") + 1
        file.truncate(end)
        file.seek(end)
        file.write(KEYS.hide_bytes(orjson.dumps(fact)) + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _same(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two tests share enough, as far down as the digests of both are kept."""
    reach = min(max(test) if len(test) >= KEPT else "g" for test in (one, other))
    mine, theirs = ({task for task in test if task <= reach} for test in (one, other))
    return len(mine & theirs) >= max(1.0, SAME * min(len(mine), len(theirs)))
