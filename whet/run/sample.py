"""A part of a large file of examples, spread over it and read row by row: no prompt needs half a million rows."""

from __future__ import annotations

import codecs
import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path

from whet.errors import WhetError
from whet.files import atomic_file

LARGE = 64 * 1024 * 1024
"""Bytes from which a file is sampled."""

MOST_ROWS = 20_000
"""About how many rows are taken; their splits are made in a minute."""

MEASURED = 1_000
"""Lines by which it is estimated how many there are."""

LEADING = 10
"""Records that are taken in any case: the header, and what stands above it."""

LONGEST = 16 * 1024 * 1024
"""Signs of a record, beyond which a quote was left open."""

LINES, TABLES = (".jsonl", ".ndjson"), (".csv", ".tsv")


def sample_of(path: Path, into: Path, encoding: str) -> Path | None:
    """Every n-th row of a large file, under its name in `into`; None where it is small, or of another kind."""
    kind = path.suffix.lower()
    if not path.is_file() or kind not in (*LINES, *TABLES) or path.stat().st_size <= LARGE:
        return None
    step = max(1, -(-_count(path) // MOST_ROWS))
    taken = into / path.name
    with (
        path.open(encoding=encoding, errors="surrogateescape", newline="") as whole,
        atomic_file(taken) as part,
    ):
        write = codecs.getincrementalencoder(encoding)("surrogateescape").encode
        rows = whole if kind in LINES else _records(path, whole)
        part.writelines(
            write(row) for at, row in enumerate(rows) if at % step == 0 or (kind in TABLES and at < LEADING)
        )
    return taken


def _count(path: Path) -> int:
    """About how many rows there are, by the length of the first."""
    with path.open("rb") as file:
        seen = [len(line) for line in itertools.islice(file, MEASURED)]
    return int(path.stat().st_size * len(seen) / max(1, sum(seen)))


def _records(path: Path, lines: Iterable[str]) -> Iterator[str]:
    """Lines, put together where a quote that began in one ends in a later one."""
    held: list[str] = []
    open_quote, length = False, 0
    for number, line in enumerate(lines, 1):
        held.append(line)
        length += len(line)
        open_quote ^= line.count('"') % 2 == 1
        if length > LONGEST:
            raise WhetError(f"{path.name}: line {number}: a record of more than {LONGEST} signs; is a quote left open?")
        if not open_quote:
            yield "".join(held)
            held, length = [], 0
    yield "".join(held)
