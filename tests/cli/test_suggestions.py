"""Commands that are suggested can be typed as they stand, in folders with spaces in their names too."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from command_line import Whet
from data_env.rows import as_csv, tickets

import whet as package

_BARE = re.compile(
    r"whet (?:resume|report|rebuild|verify|salvage|decide|train|show|rules approve) \{(?!typed\(|CONFIG)"
    r"|cd \{(?!typed\(|_FOLDER)"
)


def test_every_path_in_a_suggested_command_is_quoted() -> None:
    root = Path(package.__file__).parent
    bare = [str(file.relative_to(root)) for file in root.rglob("*.py") if _BARE.search(file.read_text())]
    assert bare == []


def test_the_commands_after_init_can_be_typed_where_a_name_has_a_space(whet: Whet, tmp_path: Path) -> None:
    as_csv(tmp_path / "tickets.csv", tickets())
    said = whet("init", "My Queue", "--from", "tickets.csv", "--try", "none")
    assert said.code == 0, said.err
    (line,) = (line for line in said.out.splitlines() if line.strip().startswith("cd "))
    assert shlex.split(line) == ["cd", "My Queue"]
    assert "cd 'My Queue'" in (tmp_path / "My Queue" / "README.md").read_text()
