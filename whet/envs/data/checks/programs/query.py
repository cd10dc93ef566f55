"""In the sandbox: the rows that a query gives, over tables as they are and over thinned-out copies of them.

A query may read and nothing else: no table is changed, no file attached, no extension loaded. An answer that is spelled
out instead of asked for stays the same when rows are taken away, and is found out by that.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys

READS = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}
LONGEST = 1_000_000


def main() -> None:
    asked = json.load(sys.stdin)
    told = [rows_of(asked, thinned) for thinned in range(asked["copies"] + 1)]
    sys.stdout.flush()
    os.write(1, json.dumps(told).encode())


def rows_of(asked: dict[str, object], thinned: int) -> dict[str, object]:
    """The rows, or what is wrong with the query; `thinned` is 0 for the tables as they are."""
    base = sqlite3.connect(":memory:", isolation_level=None)
    try:
        base.executescript(str(asked["tables"]))
    except sqlite3.Error as error:
        return {"tables": str(error)}
    if thinned:
        thin(base, thinned)
    base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
    base.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    base.set_authorizer(lambda action, name, other, *_: allowed(action, name, other))
    most = int(str(asked["most"]))
    try:
        cursor = base.execute(str(asked["query"]))
        rows = cursor.fetchmany(most + 1)
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, MemoryError) as error:
        return {"error": f"{error}" or type(error).__name__}
    if len(rows) > most:
        return {"error": f"more than {most} rows"}
    return {"columns": len(cursor.description or ()), "rows": [[plain(value) for value in row] for row in rows]}


def allowed(action: int, name: object, other: object) -> int:
    loads = action == sqlite3.SQLITE_FUNCTION and "load_extension" in (name, other)
    return sqlite3.SQLITE_OK if action in READS and not loads else sqlite3.SQLITE_DENY


def thin(base: sqlite3.Connection, copy: int) -> None:
    """Takes every third row of each table away, beginning elsewhere in each copy."""
    base.execute("PRAGMA foreign_keys = OFF")
    names = [row[0] for row in base.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    for name in names:
        quoted = '"' + name.replace('"', '""') + '"'
        try:
            rows = [row[0] for row in base.execute(f"SELECT rowid FROM {quoted} ORDER BY rowid")]
            gone = [(row,) for place, row in enumerate(rows) if (place + copy) % 3 == 0]
            base.executemany(f"DELETE FROM {quoted} WHERE rowid = ?", gone)
        except sqlite3.Error:
            continue  # a table without row numbers, or a trigger that forbids it: it stays whole


def plain(value: object) -> object:
    return {"blob": value.hex()} if isinstance(value, bytes) else value


if __name__ == "__main__":
    main()
