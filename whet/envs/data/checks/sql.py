"""The check for SQL: a query is right when it gives the rows that the right query gives, whatever its words.

Both run in the sandbox, apart from each other. They are compared over the tables as they are and over copies with rows
taken away, so that an answer which is spelled out (`SELECT 42`) does not pass for a query.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import orjson

from whet.envs.arguments import Argument
from whet.envs.base import work
from whet.envs.data.checks.base import AnswerCheck, Grading
from whet.envs.data.checks.programs import program
from whet.envs.data.reply import read_answer
from whet.envs.data.template import cell
from whet.errors import FaultError, WhetError
from whet.keys import digest
from whet.sandbox.jobs import MIB, Limits, run_python
from whet.types import Fault, Feedback, Rollout, Score, Task, failed, solved

Order = Literal["auto", "yes", "no"]
Rows = list[list[Any]]

COPIES = 2
"""Copies of the tables with rows taken away."""
MOST_ROWS = 5000
LONGEST_TABLES = 3_000_000
TOLD_ROWS = 5

_ORDERS = re.compile(r"\border\s+by\b(?![^()]*\))", re.IGNORECASE)
_ENDINGS = (".sqlite", ".sqlite3", ".db")


class SqlCheck(AnswerCheck):
    """`database` is a SQLite file, a file of SQL, or the column with the tables of a row as SQL."""

    takes = (
        Argument("database", str, "", "SQLite file, file of SQL statements, or column with a row's own tables as SQL"),
        Argument(
            "ordered", Order, "auto", "whether the order of rows counts; auto: where the right query says ORDER BY"
        ),
        Argument("seconds", float, 10.0, "how long a query may take"),
    )

    def __init__(self, answer: str | None, columns: Sequence[str], own: Mapping[str, Any]) -> None:
        super().__init__(answer, columns, own)
        given = str(self.own["database"])
        if not given:
            raise WhetError("database: name a SQLite file, a file of SQL, or the column with a row's own tables")
        self.column = given if given in columns else ""
        self.tables = "" if self.column else tables_in(given, columns)
        seconds = float(self.own["seconds"])
        self.limits = Limits(wall=seconds, cpu=seconds, output=4_000_000, memory=512 * MIB)

    @property
    def made_of(self) -> Any:
        return digest(self.tables, self.column, program("query"))

    def instruction(self) -> str:
        return "Reply with one SQLite query that only reads, and nothing else."

    def truth(self, row: Mapping[str, Any], place: str) -> Any:
        assert self.answer is not None
        query = cell(row.get(self.answer)).strip()
        tables = cell(row.get(self.column)) if self.column else None
        if not query or (self.column and not str(tables).strip()):
            empty = self.answer if not query else self.column
            raise WhetError(f"{place}, column {empty!r}: there is nothing")
        return {"query": query, "tables": tables, "place": place}

    def oracle(self, truth: Any) -> str | None:
        return str(truth["query"])

    def expected(self, truth: Any) -> str:
        return f"the rows of: {truth['query']}"

    def grade(self, task: Task, said: str) -> Grading:
        query = read_answer(said, "code").strip().rstrip(";")
        if not query:
            return failed("no_answer", "nothing to read in the reply")
        truth = task.truth
        right = yield from self._run(truth, truth["query"])
        if isinstance(right, Score) or any("rows" not in table for table in right):
            told = right.detail if isinstance(right, Score) else next(_problem(table) for table in right)
            raise WhetError(f"{truth['place']}: the right query cannot be run: {told[:200]}")
        if not any(table["rows"] for table in right):
            raise WhetError(
                f"{truth['place']}: the right query gives no row, as any query can; add rows to the tables, or leave "
                "this one out"
            )
        given = yield from self._run(truth, query)
        return given if isinstance(given, Score) else self._compared(truth["query"], right, given)

    def _run(self, truth: Any, query: str) -> Grading | Any:
        """The rows of a query for each state of the tables; a score where a limit ended it."""
        tables = self.tables if truth["tables"] is None else truth["tables"]
        asked = {"tables": tables, "query": query, "copies": COPIES, "most": MOST_ROWS}
        job = run_python(program("query"), stdin=orjson.dumps(asked).decode(), limits=self.limits)
        result = yield from work(job)
        if result.error == "no_performer":
            raise FaultError(Fault("no_performer", "sql", result.detail or "no sandbox performs the query"))
        if result.error:
            return failed(result.error, result.detail)
        try:
            return orjson.loads(result.value["stdout"])
        except ValueError:
            return failed("sql_error", f"the query ended its process: {str(result.value['stderr'])[-300:]}")

    def _compared(self, query: str, right: Sequence[Any], given: Sequence[Any]) -> Score:
        problem = next(filter(None, map(_problem, given)), "")
        if problem:
            return failed("sql_error", problem)
        ordered = self.own["ordered"] == "yes" or (self.own["ordered"] == "auto" and bool(_ORDERS.search(query)))
        same = [_same(one["rows"], other["rows"], ordered) for one, other in zip(right, given, strict=True)]
        if all(same):
            return solved(rows=float(len(right[0]["rows"])))
        if same[0]:
            return failed("wrong", "the same rows here, but other ones when rows of the tables are taken away")
        wanted, got = right[0]["rows"], given[0]["rows"]
        sorted_alike = ordered and _same(wanted, got, ordered=False)
        order = "; the rows are right, their order is not" if sorted_alike else ""
        return failed("wrong", f"expected {_shown(wanted)}, got {_shown(got)}{order}")

    def feedback(self, task: Task, rollout: Rollout, said: str) -> Feedback:
        told = super().feedback(task, rollout, said)
        return replace(told, got=read_answer(said, "code").strip())


def tables_in(given: str, columns: Sequence[str]) -> str:
    """The tables of a file as SQL statements."""
    path = Path(given)
    if not path.is_file():
        raise WhetError(f"database: {given!r} is neither a file nor a column; the columns are {', '.join(columns)}")
    try:
        if path.suffix.lower() in _ENDINGS:
            with sqlite3.connect(f"file:{path.resolve()}?mode=ro", uri=True) as base:
                tables = "\n".join(base.iterdump())
        else:
            tables = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, sqlite3.Error) as error:
        raise WhetError(f"database: {given} cannot be read: {error}") from None
    if len(tables) > LONGEST_TABLES:
        raise WhetError(f"database: {given} is {len(tables):,} characters of SQL, more than {LONGEST_TABLES:,}")
    return tables


def _problem(table: Mapping[str, Any]) -> str:
    if "tables" in table:
        return f"the tables cannot be made: {table['tables']}"
    return str(table.get("error", ""))


def _same(right: Rows, given: Rows, ordered: bool) -> bool:
    wanted, got = ([tuple(map(_value, row)) for row in rows] for rows in (right, given))
    return wanted == got if ordered else Counter(wanted) == Counter(got)


def _value(value: Any) -> str:
    """A cell such that 2 and 2.0, and sums of floats in another order, are the same."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"number {value:.9g}"
    return f"{type(value).__name__} {value}"


def _shown(rows: Rows) -> str:
    shown = orjson.dumps(rows[:TOLD_ROWS]).decode()[:300]
    return f"{len(rows)} rows: {shown}{' …' if len(rows) > TOLD_ROWS else ''}"
