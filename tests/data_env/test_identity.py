"""A column `id` that nobody named names the rows, unless it is the same on many of them."""

from pathlib import Path

from data_env.rows import as_lines

from whet.envs.registry import load_environment


def test_an_id_that_many_rows_share_is_of_something_else(tmp_path: Path) -> None:
    rows = [{"id": n // 4, "question": f"Which is {n * 37 % 101} of {n}?", "answer": f"N {n}"} for n in range(24)]
    path = as_lines(tmp_path / "rows.jsonl", rows)
    assert load_environment(f"data:{path}", {"answer": "answer"}).size("train") == 12
