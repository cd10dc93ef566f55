"""Known data sets and exports, by their columns: read right, or the doubt is said with the option that mends it."""

from pathlib import Path

import pytest
from init.schemas.draw import Schema
from init.schemas.judged import EVERY, read, wrong_of

from whet.envs.data.proposal import Wishes, propose

DOUBTED = {
    "puzzles.jsonl": "bestMove",
    "lab.csv": "concentration",
    "stories.jsonl": "continuation",
    "ultrafeedback.jsonl": "chosen.answer",
}
"""What is not read right, and names the right column among those that it may be."""

RIGHT = [schema for schema in EVERY if schema.name not in DOUBTED]


@pytest.mark.parametrize("schema", RIGHT, ids=lambda schema: schema.name)
def test_columns_that_people_know_are_read_right(schema: Schema, tmp_path: Path) -> None:
    source, proposal = read(schema, tmp_path)
    assert wrong_of(schema.reading, source, proposal) == [], (proposal.args, proposal.unsure)


@pytest.mark.parametrize("name", list(DOUBTED))
def test_what_is_not_read_right_is_mended_with_one_option(name: str, tmp_path: Path) -> None:
    (schema,) = (schema for schema in EVERY if schema.name == name)
    source, proposal = read(schema, tmp_path)
    doubts = " ".join(proposal.unsure)
    assert repr(DOUBTED[name]) in doubts
    assert "--answer" in doubts
    assert wrong_of(schema.reading, source, propose(source, Wishes(answer=DOUBTED[name]))) == []


def test_no_name_stands_twice() -> None:
    assert len({schema.name for schema in EVERY}) == len(EVERY)
