"""Questions about the rollouts of a run, asked as SQL: counts, pages and filters read columns, never transcripts.

A ledger is only ever added to, so what was counted once stays counted: `RolloutCounts` reads the rows that are new.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

from whet import wire
from whet.evals.estimate import LEVEL, Estimate, mean_estimate
from whet.rollout.votes import VOTE
from whet.types import Rollout

BESIDE = ("floor/", "reference/", VOTE)
"""Purposes of policies without skill and of rules, and of the draws of a vote: they stand beside a run's own."""

_OWN = " AND ".join(f"purpose NOT LIKE '{purpose}%'" for purpose in BESIDE)

_TASK = "task * 4 + CASE split WHEN 'train' THEN 0 WHEN 'select' THEN 1 ELSE 2 END"
"""A task as one number, by which rows are sorted and found sooner than by two columns."""

_CELL = "purpose, split, kind, difficulty, reason"

# Grouped by what differs most first: rows are sorted with fewer comparisons.
_COUNTED = f"""SELECT {_CELL}, count(*), sum(calls), sum(prompt_tokens), sum(completion_tokens),
    coalesce(sum(usd), 0.0), sum(usd IS NULL), sum(seconds), max(seq)
    FROM rollouts WHERE seq > ? GROUP BY reason, kind, difficulty, purpose, split"""


class RolloutCell(NamedTuple):
    """What rollouts of one cell have in common."""

    purpose: str
    split: str
    kind: str
    difficulty: str
    reason: str


@dataclass(slots=True)
class CellSum:
    """What the rollouts of a cell add up to."""

    rollouts: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float = 0.0
    unpriced: int = 0
    seconds: float = 0.0

    def add(self, other: CellSum) -> None:
        for name in self.__dataclass_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass(slots=True)
class RolloutCounts:
    """The rollouts of a run by cell: what lists, tables and the choices of a filter are made of."""

    cells: dict[RolloutCell, CellSum] = field(default_factory=dict)
    last: int = 0
    origin: bytes = b""
    """The head of the first link, by which a ledger is known from another that took its place."""

    def update(self, db: sqlite3.Connection) -> RolloutCounts:
        """Count what was added since the last time; another ledger is counted anew."""
        first = db.execute("SELECT head FROM chain WHERE link = 1").fetchone()
        origin = bytes(first[0]) if first else b""
        if origin != self.origin:
            self.cells, self.last, self.origin = {}, 0, origin
        for row in db.execute(_COUNTED, (self.last,)).fetchall():
            self.cells.setdefault(RolloutCell(*row[:5]), CellSum()).add(CellSum(*row[5:12]))
            self.last = max(self.last, row[12])
        return self

    @property
    def rollouts(self) -> int:
        return sum(cell.rollouts for cell in self.cells.values())

    def by(self, *names: str, own: bool = True) -> dict[tuple[Any, ...], CellSum]:
        """Sums by some of the columns; `own` leaves out policies without skill and rules."""
        found: dict[tuple[Any, ...], CellSum] = {}
        for cell, held in self.cells.items():
            if not (own and cell.purpose.startswith(BESIDE)):
                found.setdefault(tuple(getattr(cell, name) for name in names), CellSum()).add(held)
        return found

    def choices(self, name: str) -> dict[str, int]:
        """The values of a column with how many rollouts have each, the most frequent first."""
        counts: Counter[str] = Counter()
        for (value,), held in self.by(name, own=False).items():
            counts[str(value)] += held.rollouts
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


# --------------------------------------------------------------------------------------------- filters and pages


@dataclass(frozen=True, slots=True)
class RolloutFilter:
    """Which rollouts of a run are wanted; an empty field takes all. A purpose stands for those below it too."""

    purpose: str = ""
    split: str = ""
    kind: str = ""
    difficulty: str = ""
    solved: str = ""
    """`yes` or `no`."""
    reason: str = ""
    truncated: bool = False
    malformed: bool = False
    flipped: bool = False
    """Only tasks that some rollouts of the run solved and others did not."""
    task: str = ""
    """A task such as `select/3`, or its number alone."""
    policy: str = ""

    @classmethod
    def of(cls, words: Mapping[str, str]) -> RolloutFilter:
        """A filter as an address says it; what it does not know is left aside."""
        named: dict[str, Any] = {}
        for name in cls.__dataclass_fields__:
            said = words.get(name, "").strip()
            flag = name in ("truncated", "malformed", "flipped")
            named[name] = said in ("1", "yes", "on", "true") if flag else said
        return cls(**named)

    def words(self) -> dict[str, str]:
        """The filter as an address says it."""
        values = ((name, getattr(self, name)) for name in self.__dataclass_fields__)
        return {name: "1" if value is True else str(value) for name, value in values if value}

    def clause(self) -> tuple[str, list[Any]]:
        """What stands behind WHERE, and what is bound to it."""
        tests: list[str] = []
        bound: list[Any] = []
        if self.purpose:
            tests.append("(purpose = ? OR (purpose > ? AND purpose < ?))")
            bound += [self.purpose, f"{self.purpose}/", f"{self.purpose}0"]
        for name in ("split", "kind", "difficulty", "reason", "policy"):
            if getattr(self, name):
                tests.append(f"{name} = ?")
                bound.append(getattr(self, name))
        if self.solved in ("yes", "no"):
            tests.append("hard = 1" if self.solved == "yes" else "hard <> 1")
        if self.truncated:
            tests.append("truncated = 1")
        if self.malformed:
            tests.append("malformed <> ''")
        if self.flipped:
            mixed = f"SELECT {_TASK} FROM rollouts WHERE {_OWN} GROUP BY 1 HAVING min(hard) < max(hard)"
            tests.append(f"{_TASK} IN ({mixed}) AND {_OWN}")
        if self.task:
            split, _, number = self.task.rpartition("/")
            tests.append("task = ?" + (" AND split = ?" if split else ""))
            bound += [int(number) if number.isdecimal() and len(number) < 18 else -1, *([split] if split else [])]
        return " AND ".join(tests) or "1", bound


class RolloutLine(NamedTuple):
    """A rollout in a list."""

    seq: int
    purpose: str
    split: str
    task: int
    draw: int
    kind: str
    difficulty: str
    hard: float
    soft: float
    reward: float
    reason: str
    truncated: int
    malformed: str
    turns: int
    tokens: int
    usd: float | None
    seconds: float
    policy: str


_LINE = """seq, purpose, split, task, draw, kind, difficulty, hard, soft, reward, reason, truncated, malformed, turns,
    prompt_tokens + completion_tokens, usd, seconds, policy"""


class RolloutPage(NamedTuple):
    """A page of a list: its lines, and how many there are in all."""

    lines: list[RolloutLine]
    total: int
    start: int


def rollout_page(db: sqlite3.Connection, chosen: RolloutFilter, start: int = 0, size: int = 50) -> RolloutPage:
    """A page of the rollouts that are wanted. They are looked through once: their numbers are few bytes each."""
    where, bound = chosen.clause()
    if chosen == RolloutFilter():
        total = rollout_count(db, chosen)
        first = _first(start, total, size)
        seqs = [seq for (seq,) in db.execute("SELECT seq FROM rollouts ORDER BY seq LIMIT ? OFFSET ?", (size, first))]
    else:
        found = [seq for (seq,) in db.execute(f"SELECT seq FROM rollouts WHERE {where} ORDER BY seq", bound)]
        total, first = len(found), _first(start, len(found), size)
        seqs = found[first : first + size]
    places = ", ".join("?" * len(seqs))
    sql = f"SELECT {_LINE} FROM rollouts WHERE seq IN ({places}) ORDER BY seq"
    return RolloutPage([RolloutLine(*row) for row in db.execute(sql, seqs)], total, first)


def _first(start: int, total: int, size: int) -> int:
    """Where the page begins that holds a place, or the last page."""
    return max(0, min(start, max(0, total - 1)) // size * size)


def rollout_line(db: sqlite3.Connection, seq: int) -> RolloutLine | None:
    row = db.execute(f"SELECT {_LINE} FROM rollouts WHERE seq = ?", (seq,)).fetchone()
    return RolloutLine(*row) if row else None


def beside(db: sqlite3.Connection, chosen: RolloutFilter, seq: int) -> tuple[int | None, int | None]:
    """The rollouts before and after one among those wanted."""
    where, bound = chosen.clause()
    before = db.execute(f"SELECT max(seq) FROM rollouts WHERE seq < ? AND {where}", (seq, *bound)).fetchone()[0]
    after = db.execute(f"SELECT min(seq) FROM rollouts WHERE seq > ? AND {where}", (seq, *bound)).fetchone()[0]
    return before, after


def siblings(db: sqlite3.Connection, line: RolloutLine, most: int = 40) -> list[RolloutLine]:
    """The other rollouts of the same task."""
    order = f"NOT ({_OWN}), purpose, draw"
    sql = f"SELECT {_LINE} FROM rollouts WHERE split = ? AND task = ? AND seq <> ? ORDER BY {order} LIMIT ?"
    return [RolloutLine(*row) for row in db.execute(sql, (line.split, line.task, line.seq, most))]


def rollout_record(db: sqlite3.Connection, seq: int) -> Rollout | None:
    """A rollout with its transcript."""
    row = db.execute("SELECT body FROM transcripts WHERE seq = ?", (seq,)).fetchone()
    return wire.rollout_in(orjson.loads(row[0])) if row else None


# --------------------------------------------------------------------------------------------- rates


def solve_rate(
    db: sqlite3.Connection, chosen: RolloutFilter, level: float = LEVEL, *, alone: bool = False
) -> Estimate | None:
    """The mean over tasks with its interval. As many tasks have the same mean, SQL counts means, not tasks.

    A task counts once, however many policies drew it. `alone`: the rollouts are known to be of one split, so that a
    task is its number; that is sooner done.
    """
    where, bound = chosen.clause()
    same = "task" if alone else "split, task"
    sql = f"""SELECT mean, count(*) FROM (SELECT avg(hard) AS mean FROM rollouts WHERE {where} GROUP BY {same})
        GROUP BY mean"""
    values = [float(mean) for mean, tasks in db.execute(sql, bound) for _ in range(tasks)]
    return mean_estimate(values, level=level)


class TaskRate(NamedTuple):
    """How often a task was solved."""

    kind: str
    difficulty: str
    mean: float
    draws: int


def task_rates(db: sqlite3.Connection, chosen: RolloutFilter) -> list[TaskRate]:
    """Every task that is wanted: what tables by kind and difficulty are made of."""
    where, bound = chosen.clause()
    sql = f"SELECT kind, difficulty, avg(hard), count(*) FROM rollouts WHERE {where} GROUP BY task, split"
    return [TaskRate(*row) for row in db.execute(sql, bound)]


class RunSum(NamedTuple):
    """What all rollouts of a run add up to; the draws of a vote are in it as that vote."""

    rollouts: int
    calls: int
    tokens: int
    usd: float
    unpriced: int
    seconds: float


def run_sum(db: sqlite3.Connection) -> RunSum:
    sql = """SELECT count(*), coalesce(sum(calls), 0), coalesce(sum(prompt_tokens + completion_tokens), 0),
        coalesce(sum(usd), 0.0), coalesce(sum(usd IS NULL), 0), coalesce(sum(seconds), 0.0) FROM rollouts
        WHERE purpose NOT LIKE ?"""
    return RunSum(*db.execute(sql, (f"{VOTE}%",)).fetchone())


def rates_by(
    db: sqlite3.Connection, chosen: RolloutFilter, *columns: str, level: float = LEVEL
) -> dict[tuple[str, ...], tuple[Estimate, int]]:
    """Solve rates with intervals and numbers of rollouts, by the values of some columns."""
    assert set(columns) <= {"purpose", "split", "kind", "difficulty", "reason", "policy"}
    where, bound = chosen.clause()
    named = ", ".join(columns)
    sql = f"""SELECT {named}, mean, count(*), sum(draws) FROM (SELECT {named}, avg(hard) AS mean, count(*) AS draws
        FROM rollouts WHERE {where} GROUP BY {named}, split, task) GROUP BY {named}, mean"""
    means: dict[tuple[str, ...], list[float]] = {}
    draws: Counter[tuple[str, ...]] = Counter()
    for *group, mean, tasks, rollouts in db.execute(sql, bound):
        means.setdefault(tuple(group), []).extend([float(mean)] * tasks)
        draws[tuple(group)] += rollouts
    found = ((group, mean_estimate(values, level=level), draws[group]) for group, values in means.items())
    return {group: (rate, rollouts) for group, rate, rollouts in found if rate is not None}


def rollout_count(db: sqlite3.Connection, chosen: RolloutFilter) -> int:
    where, bound = chosen.clause()
    return int(db.execute(f"SELECT count(*) FROM rollouts WHERE {where}", bound).fetchone()[0])


def reasons_of(db: sqlite3.Connection, chosen: RolloutFilter) -> dict[str, int]:
    """Why attempts ended as they did, the most frequent first."""
    where, bound = chosen.clause()
    sql = f"SELECT reason, count(*) FROM rollouts WHERE {where} GROUP BY reason ORDER BY 2 DESC, 1"
    return dict(db.execute(sql, bound))


def faults_by_kind(db: sqlite3.Connection) -> dict[str, int]:
    """Open faults, the last of each key, by what they were."""
    sql = """SELECT fault, count(*) FROM faults WHERE seq IN (SELECT max(seq) FROM faults GROUP BY key)
        AND key NOT IN (SELECT key FROM rollouts) GROUP BY fault ORDER BY 2 DESC, 1"""
    return dict(db.execute(sql))


def effects(db: sqlite3.Connection, kind: str) -> Iterator[tuple[str, Any]]:
    """Purpose and body of every effect of a kind, in the order of their commits."""
    for purpose, body in db.execute("SELECT purpose, body FROM effects WHERE kind = ? ORDER BY seq", (kind,)):
        yield purpose, orjson.loads(body)


def hardest(db: sqlite3.Connection, chosen: RolloutFilter, most: int = 12) -> list[RolloutLine]:
    """One failed rollout of each of the hardest tasks, kinds in turn: those that fail most often, the dearest first."""
    where, bound = chosen.clause()
    sql = f"""SELECT min(CASE WHEN hard <> 1 THEN seq END), kind, avg(hard) AS rate, avg(reward) AS reward,
        max(prompt_tokens + completion_tokens) AS size
        FROM rollouts WHERE {where} GROUP BY split, task HAVING rate < 1 ORDER BY rate, reward, size DESC LIMIT 400"""
    by_kind: dict[str, list[int]] = {}
    for seq, kind, *_ in db.execute(sql, bound):
        by_kind.setdefault(kind, []).append(seq)
    turns = max(map(len, by_kind.values()), default=0)
    order = [seqs[turn] for turn in range(turns) for seqs in by_kind.values() if turn < len(seqs)]
    lines = (rollout_line(db, seq) for seq in order[:most])
    return [line for line in lines if line is not None]
