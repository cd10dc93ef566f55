"""Four dozens of files with their readings: all are read right, or the doubt is said with the option that mends it."""

from pathlib import Path

import pytest
from init.datasets import FIRST, SECOND, DataFile
from init.drawn import FOURTH
from init.published import THIRD

from whet.envs.data.proposal import DataProposal, Wishes, propose
from whet.envs.data.source import read_source
from whet.envs.data.template import Template
from whet.envs.registry import load_environment
from whet.run.init import initialise
from whet.types import SPLITS

MENDED = {
    "dialogues.csv": Wishes(group="call_id"),
}
"""What is not read right, and what would say so; equal utterances tie all calls of `dialogues.csv` to each other."""

RIGHT = [file for file in (*FIRST, *SECOND, *THIRD, *FOURTH) if file.name not in MENDED]


def read(file: DataFile, folder: Path, wishes: Wishes = Wishes()) -> DataProposal:
    if file.name.endswith(".parquet"):
        pytest.importorskip("pyarrow", reason="Parquet is read by pyarrow, the extra 'data'")
    file.write(folder / file.name)
    return propose(read_source(folder / file.name), wishes)


def wrong_of(file: DataFile, proposal: DataProposal, folder: Path) -> list[str]:
    """What of a proposal is not as the reading says."""
    reading, args, path = file.reading, proposal.args, folder / file.name
    shown = {*Template.parse(args["prompt"], read_source(path).columns).columns, *args.get("options", ())}
    env = load_environment(f"data:{path}", args)
    wrong = {
        "answer": args.get("answer", "") not in reading.answer,
        "check": args["check"] not in reading.checks,
        "too little": not set(reading.shows) <= shown,
        "too much": not shown <= {*reading.shows, *reading.may},
        "group": bool(reading.group) and args.get("group") != reading.group,
        "rows": bool(reading.rows) and sum(env.size(split) or 0 for split in SPLITS) != reading.rows,
    }
    return [what for what, is_wrong in wrong.items() if is_wrong]


@pytest.mark.parametrize("file", RIGHT, ids=lambda file: file.name)
def test_a_file_as_people_have_it_is_read_right(file: DataFile, tmp_path: Path) -> None:
    proposal = read(file, tmp_path)
    assert wrong_of(file, proposal, tmp_path) == [], (proposal.args, proposal.unsure)


def test_a_group_that_ties_nearly_all_rows_together_is_given_up_aloud(tmp_path: Path) -> None:
    (file,) = (file for file in SECOND if file.name == "dialogues.csv")
    file.write(tmp_path / file.name)
    made = initialise(tmp_path / "project", source=tmp_path / file.name)
    assert any("'call_id'" in doubt and "--prompt" in doubt for doubt in made.unsure)
    assert not any("call_id" in line for line in made.assumed)
