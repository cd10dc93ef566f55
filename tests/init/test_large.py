"""A large file is sampled, row by row; what is taken is whole rows, spread over it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from whet.errors import WhetError
from whet.run import sample
from whet.run.init import initialise


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "LARGE", 20_000)
    monkeypatch.setattr(sample, "MOST_ROWS", 100)


def rows(count: int) -> list[dict[str, str]]:
    told = ("apples", "pears", "plums")
    return [
        {"text": f'{told[n % 3]} no. {n},\nsaid "{n * 37 % 1009}" of\n{n * 91 % 2003}', "label": "abc"[n % 3]}
        for n in range(count)
    ]


def test_whole_rows_of_a_large_table_are_taken_from_all_of_it(tmp_path: Path) -> None:
    path = tmp_path / "big.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["text", "label"])
        writer.writeheader()
        writer.writerows(rows(1_000))
    made = initialise(tmp_path / "project", source=path)
    with (tmp_path / "project" / "big.csv").open(newline="") as file:
        taken = list(csv.DictReader(file))
    known = {row["text"]: row["label"] for row in rows(1_000)}
    assert all(known[row["text"]] == row["label"] for row in taken)
    assert 30 <= len(taken) <= 120
    assert max(int(row["text"].split("no. ")[1].split(",")[0]) for row in taken) > 900
    assert made.assumed[0] == f"big.csv is large: {len(taken)} of its rows, spread over it, are taken"


def test_lines_of_a_large_file_of_objects_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "big.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows(1_000)))
    initialise(tmp_path / "project", source=path)
    assert 90 <= len((tmp_path / "project" / "big.jsonl").read_text().splitlines()) <= 110


def test_a_quote_that_is_never_closed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "LONGEST", 5_000)
    path = tmp_path / "big.csv"
    path.write_text('text,label\n"a,b\n' + "x,y\n" * 10_000)
    with pytest.raises(WhetError, match="is a quote left open"):
        initialise(tmp_path / "project", source=path)
