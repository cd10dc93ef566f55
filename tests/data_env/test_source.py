"""Files of examples: what is read, and how what is wrong is named."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from whet.envs.data.source import read_source
from whet.errors import WhetError


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "question,answer\nWhat?,yes\nWho?,no\n"),
        ("a.csv", "\ufeffquestion;answer\r\nWhat?;yes\r\n\r\nWho?;no"),
        ("a.csv", "question,answer\nWhat?,yes\nWho?,no\n".encode("utf-16")),
        ("a.tsv", "question\tanswer\nWhat?\tyes\nWho?\tno\n"),
        ("a.jsonl", '{"question": "What?", "answer": "yes"}\n\n{"question": "Who?", "answer": "no"}'),
        ("a.json", '[{"question": "What?", "answer": "yes"}, {"question": "Who?", "answer": "no"}]'),
    ],
)
def test_every_format_gives_the_same_rows(tmp_path: Path, name: str, content: str | bytes) -> None:
    source = read_source(written(tmp_path, name, content))
    assert source.columns == ("question", "answer")
    assert [dict(row) for row in source.rows] == [
        {"question": "What?", "answer": "yes"},
        {"question": "Who?", "answer": "no"},
    ]


def test_a_cell_may_hold_lines_delimiters_and_a_whole_document(tmp_path: Path) -> None:
    document = "word, " * 50_000
    source = read_source(written(tmp_path, "a.csv", f'question,answer\n"one\ntwo, three",x\n"{document}",y\n'))
    assert [row["question"] for row in source.rows] == ["one\ntwo, three", document]


def test_a_folder_gives_splits_under_the_names_people_use(tmp_path: Path) -> None:
    written(tmp_path, "train/items.json", json.dumps([{"q": "1"}, {"q": "2"}]))
    written(tmp_path, "val/items.json", json.dumps([{"q": "3"}]))
    written(tmp_path, "test.jsonl", '{"q": "4"}')
    source = read_source(tmp_path)
    assert list(source.sides or ()) == ["train", "train", "select", "test"]
    assert [source.place(index) for index in (1, 2, 3)] == [
        "train/items.json, row 2",
        "val/items.json, row 1",
        "test.jsonl, row 1",
    ]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", "q,a\n1,2\n3\n", "row 2 (line 3) has 1 fields, the header has 2: nothing stands in column 'a'"),
        (
            "a.csv",
            "q,a\n1,2\n3,4,5\n",
            "row 2 (line 3) has 3 fields, the header has 2: '5' stands after the last column 'a'",
        ),
        ("a.csv", 'q,a\n1,"2\n', "a quote left open"),
        ("a.csv", "q,a\n", "holds no rows"),
        ("a.csv", "", "its first line must name the columns"),
        (
            "a.csv",
            "q,a\ncaf\u00e9,1\n".encode() + b"caf\xe9,2\n",
            "row 2, column 'q': byte 0xe9 is not utf-8. The file mixes",
        ),
        ("a.csv", b"q,a\nx,1\ncaf\xe9,2\n", "row 2, column 'q': byte 0xe9 is not utf-8. Give encoding='cp1252'"),
        ("a.csv", b"caf\xe9,a\nx,1\n", "the header is not utf-8"),
        ("a.csv", "q,a\nx,1\n".encode("utf-16-le"), "is it UTF-16?"),
        ("a.jsonl", '{"q": 1}\n{"q": \n', "row 2 (line 2) is not a JSON object"),
        ("a.jsonl", '{"q": 1}\n[2]\n', "row 2 is an array, not an object"),
        ("a.jsonl", '{"q": "ü"}\n'.encode() + b'{"q": ["\xfc"]}\n', "row 2, column 'q': byte 0xfc is not utf-8"),
        ("a.json", '{"q": 1}', "must hold an array of objects, not an object"),
        ("a.txt", "x", "cannot read .txt"),
    ],
)
def test_what_is_wrong_is_named_by_row_and_column(tmp_path: Path, name: str, content: str | bytes, said: str) -> None:
    with pytest.raises(WhetError) as refused:
        read_source(written(tmp_path, name, content))
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_another_encoding_is_read_when_it_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "q,a\ncaf\u00e9,1\n".encode("cp1252"))
    assert read_source(path, "cp1252").rows[0]["q"] == "caf\u00e9"


def test_a_missing_file_and_an_empty_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="no such file"):
        read_source(tmp_path / "a.csv")
    with pytest.raises(WhetError, match="holds no train, val or test"):
        read_source(tmp_path)


def test_parquet_without_pyarrow_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(WhetError, match=r"pip install .*\[data\]"):
        read_source(written(tmp_path, "a.parquet", b"PAR1"))


def test_parquet_rows_come_as_plain_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Table:
        column_names = ("q", "raw", "when")

        def to_pylist(self) -> list[dict[str, Any]]:
            return [{"q": ["x", 1], "raw": b"\x00", "when": Path("then")}]

    arrow: Any = types.ModuleType("pyarrow")
    parquet: Any = types.ModuleType("pyarrow.parquet")
    arrow.ArrowException, parquet.read_table = ValueError, lambda file: Table()
    monkeypatch.setitem(sys.modules, "pyarrow", arrow)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", parquet)
    source = read_source(written(tmp_path, "a.parquet", b"PAR1"))
    assert list(source.rows) == [{"q": ["x", 1], "raw": None, "when": "then"}]
