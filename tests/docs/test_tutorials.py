"""The tutorials are true: every command and snippet of theirs is run, in order, and prints what they say."""

from __future__ import annotations

from pathlib import Path

import pytest
from docs.pages import ROOT, Block, blocks, run_page

STAND_IN = f"scripted:{Path(__file__).parent / 'stand_in.py'}:answer"
MODEL = f"sed -i 's#embedded:smollm2#{STAND_IN}#' config.toml train.toml"
"""Every page is run with the embedded model once, by hand, for its figures; here a function answers in its place."""

STANDS = {
    "tutorial-csv.md": {"cd orders\n": f"cd orders\n{MODEL}\n"},
    "tutorial-environment.md": {},
}


@pytest.mark.parametrize("name", STANDS)
def test_a_tutorial_runs_as_it_stands(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "reader"
    folder.mkdir()
    assert run_page(ROOT / "docs" / name, folder, STANDS[name]) == []


def test_the_environment_of_the_tutorial_takes_forty_lines() -> None:
    (code,) = [block for block in blocks(ROOT / "docs" / "tutorial-environment.md") if block.file == "stock.py"]
    assert len(code.text.splitlines()) <= 40


def test_a_page_that_is_wrong_is_found_out(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```bash\necho one\n```\n\n```text\ntwo\n```\n\n```bash\nwhet evil\n```\n")
    folder = tmp_path / "reader"
    folder.mkdir()
    wrong = run_page(page, folder, {"three": "four"})
    assert wrong[0] == "'two' was not printed"
    assert "whet evil\n  ended with 2" in wrong[1]
    assert wrong[2] == "'three' stands nowhere on the page any more"
    assert blocks(page)[0] == Block("bash", "echo one\n")
